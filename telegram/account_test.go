package telegram_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/telegram"
)

func TestMe(t *testing.T) {
	server := &recorder{status: 200, answer: `{"ok":true,"result":{"id":5,"is_bot":true,"username":"sign_bot","can_read_all_group_messages":true}}`}
	got, err := newClient(t, server).Me(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (telegram.Me{ID: 5, Username: "sign_bot", CanReadAllGroupMessages: true}); got != want {
		t.Errorf("Me = %+v, want %+v", got, want)
	}
	if p := server.params(t); len(p) != 0 {
		t.Errorf("parameters = %v, want none", p)
	}
}

func TestCommands(t *testing.T) {
	server := &recorder{status: 200, answer: `{"ok":true,"result":true}`}
	commands := []telegram.Command{{Name: "pending", Description: "What waits"}}
	if err := newClient(t, server).SetCommands(t.Context(), telegram.ScopeAllGroupChats, commands); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"scope":    map[string]any{"type": "all_group_chats"},
		"commands": []any{map[string]any{"command": "pending", "description": "What waits"}},
	}
	if diff := cmp.Diff(want, server.params(t)); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}

	server.answer = `{"ok":true,"result":[{"command":"pending","description":"What waits"}]}`
	got, err := newClient(t, server).Commands(t.Context(), telegram.ScopeDefault)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(commands, got); diff != "" {
		t.Errorf("Commands (-want +got):\n%s", diff)
	}

	_, err = newClient(t, server).Commands(t.Context(), "everywhere")
	if e := failure(t, err); e.Kind != telegram.BadRequest {
		t.Errorf("an unknown scope: %v, want a bad request", e)
	}
}

func TestChat(t *testing.T) {
	// The library cannot decode a reaction of a kind that it does not know.
	server := &recorder{status: 200, answer: `{"ok":true,"result":{"id":-100123,"type":"supergroup","title":"Ops","is_forum":true,"available_reactions":[{"type":"novel"}]}}`}
	got, err := newClient(t, server).Chat(t.Context(), -100123)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(telegram.ChatInfo{ID: -100123, Type: "supergroup", Title: "Ops", IsForum: true}, got); diff != "" {
		t.Errorf("Chat (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"chat_id": -100123.0}, server.params(t)); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

func TestWebhookSubscription(t *testing.T) {
	server := &recorder{status: 200, answer: `{"ok":true,"result":true}`}
	c := newClient(t, server)
	allowed := []any{"message", "callback_query", "my_chat_member"}
	if err := c.SetWebhook(t.Context(), telegram.WebhookSettings{URL: "https://h/tg", Secret: "s3", MaxConnections: 8}); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"url": "https://h/tg", "secret_token": "s3", "max_connections": 8.0, "allowed_updates": allowed}
	if diff := cmp.Diff(want, server.params(t)); diff != "" {
		t.Errorf("setWebhook (-want +got):\n%s", diff)
	}
	if err := c.DeleteWebhook(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := server.params(t); p["drop_pending_updates"] == true {
		t.Error("deleteWebhook drops what waits")
	}

	server.answer = `{"ok":true,"result":{"url":"https://h/tg","pending_update_count":3,"last_error_date":60,"last_error_message":"refused\nhere","allowed_updates":["message"]}}`
	got, err := c.WebhookInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info := telegram.WebhookInfo{
		URL: "https://h/tg", Pending: 3, LastError: "refused here", LastErrorAt: time.Unix(60, 0).UTC(), AllowedUpdates: []string{"message"},
	}
	if diff := cmp.Diff(info, got); diff != "" {
		t.Errorf("WebhookInfo (-want +got):\n%s", diff)
	}
}

func TestMember(t *testing.T) {
	for answer, in := range map[string]bool{
		`{"status":"creator"}`:                       true,
		`{"status":"administrator"}`:                 true,
		`{"status":"member"}`:                        true,
		`{"status":"restricted","is_member":true}`:   true,
		`{"status":"restricted","is_member":false}`:  false,
		`{"status":"left"}`:                          false,
		`{"status":"kicked"}`:                        false,
		`{"status":"of a kind that is yet to come"}`: false,
	} {
		server := &recorder{status: 200, answer: `{"ok":true,"result":` + answer + `}`}
		m, err := newClient(t, server).Member(t.Context(), -100123, 5)
		if err != nil || m.In() != in {
			t.Errorf("%s: in %v, %v; want %v", answer, m.In(), err, in)
		}
		if diff := cmp.Diff(map[string]any{"chat_id": -100123.0, "user_id": 5.0}, server.params(t)); diff != "" {
			t.Errorf("parameters (-want +got):\n%s", diff)
		}
	}
}
