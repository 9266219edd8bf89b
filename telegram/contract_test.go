package telegram_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"countersign/simulator"
	"countersign/telegram"
)

// The client against a server that was written from the description of the Bot API and refuses what that does not
// allow.

const bell = 1001 // a person's id, and so that of the direct chat

// newServer returns a server that has one person who started the bot, and a client of it.
func newServer(t *testing.T, options simulator.Options) (*simulator.Server, *simulator.Person, *telegram.Client) {
	t.Helper()
	options.Now = func() time.Time { return time.Unix(1_700_000_000, 0) }
	server := simulator.New(options)
	t.Cleanup(func() { _ = server.Close() })
	c, err := telegram.New(telegram.Config{Token: server.Token(), HTTP: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	person := server.AddUser(bell, "Bell")
	person.Start()
	return server, person, c
}

// checkWellMade fails when the server found fault with the form of a call, or changed something in silence.
func checkWellMade(t *testing.T, server *simulator.Server) {
	t.Helper()
	for _, call := range server.Refusals() {
		t.Errorf("a call that is wrong in itself: %+v", call)
	}
	for _, w := range server.Warnings() {
		t.Errorf("a call that the server changed in silence: %+v", w)
	}
}

func TestContractCard(t *testing.T) {
	server, person, c := newServer(t, simulator.Options{})
	ctx := t.Context()
	card := telegram.Outgoing{
		Chat: bell, HTML: `<b>Trash 3 emails</b> until <tg-time unix="1700003600" format="r">later</tg-time>`, Plain: "Trash 3 emails",
		Keyboard: telegram.Keyboard{{{Text: "Trash", Data: "a:1", Style: "danger"}}, {{Text: "Reject", Data: "r:1"}}},
	}
	sent, err := c.Send(ctx, card)
	if err != nil {
		t.Fatal(err)
	}
	shown, ok := server.Message(bell, int64(sent.MessageID))
	if !ok || shown.Text != "Trash 3 emails until later" || shown.Date != sent.Date {
		t.Fatalf("Sent = %+v; the chat shows %+v", sent, shown)
	}

	id := person.Tap(shown, "Trash")
	updates, err := c.Updates(ctx, 0, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	last, err := telegram.Decode(updates[len(updates)-1].Raw)
	if err != nil {
		t.Fatal(err)
	}
	want := &telegram.Callback{
		ID: id, Data: "a:1", From: telegram.User{ID: bell, First: "Bell"},
		Message: &telegram.TappedMessage{ChatID: bell, ChatType: "private", MessageID: sent.MessageID, Accessible: true},
	}
	if diff := cmp.Diff(want, last.Callback); diff != "" {
		t.Errorf("Callback (-want +got):\n%s", diff)
	}
	if err := c.AnswerCallback(ctx, id, "Not allowed", true); err != nil {
		t.Fatal(err)
	}
	if answer, ok := server.Answer(id); !ok || answer.Text != "Not allowed" || !answer.Alert || answer.CacheTime != 0 {
		t.Errorf("the tap was answered %+v", answer)
	}

	done := telegram.Outgoing{HTML: "Approved by Bell"}
	for range 2 { // the second changes nothing, and is success all the same
		if err := c.Edit(ctx, bell, sent.MessageID, done); err != nil {
			t.Fatal(err)
		}
	}
	shown, _ = server.Message(bell, int64(sent.MessageID))
	if shown.Text != "Approved by Bell" || len(shown.Keyboard()) != 0 {
		t.Errorf("after the edit the chat shows %q with %v", shown.Text, shown.Keyboard())
	}

	file, err := c.SendDocument(ctx, telegram.Document{
		Chat: bell, ReplyTo: sent.MessageID, Name: "list.txt", Content: []byte("one\n"), Caption: "Whole list",
	})
	if err != nil {
		t.Fatal(err)
	}
	shown, _ = server.Message(bell, int64(file.MessageID))
	if content, _ := server.Content(shown.Document); string(content) != "one\n" || shown.Caption != "Whole list" {
		t.Errorf("the file is %q with caption %q", content, shown.Caption)
	}
	checkWellMade(t, server)
}

func TestContractAccount(t *testing.T) {
	server, _, c := newServer(t, simulator.Options{ReadsGroups: true})
	ctx := t.Context()
	me, err := c.Me(ctx)
	if want := (telegram.Me{ID: server.Bot().ID, Username: server.Bot().Username, CanReadAllGroupMessages: true}); err != nil || me != want {
		t.Errorf("Me = %+v, %v; want %+v", me, err, want)
	}
	menu := []telegram.Command{{Name: "pending", Description: "What waits"}, {Name: "help", Description: "How this works"}}
	for _, scope := range []string{telegram.ScopeDefault, telegram.ScopeAllPrivateChats, telegram.ScopeAllGroupChats} {
		if err := c.SetCommands(ctx, scope, menu); err != nil {
			t.Fatal(err)
		}
		got, err := c.Commands(ctx, scope)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(menu, got); diff != "" {
			t.Errorf("menu of %s (-want +got):\n%s", scope, diff)
		}
	}
	chat, err := c.Chat(ctx, bell)
	if want := (telegram.ChatInfo{ID: bell, Type: "private", FirstName: "Bell"}); err != nil || chat != want {
		t.Errorf("Chat = %+v, %v; want %+v", chat, err, want)
	}
	checkWellMade(t, server)
}

// From setting a webhook to the update in the sink.
func TestContractWebhook(t *testing.T) {
	delivered := make(chan int64, 10)
	hook, err := telegram.NewWebhook(telegram.WebhookConfig{
		Secret: "s3cret", Log: zerolog.Nop(), Now: func() time.Time { return time.Time{} },
		Sink: sinkFunc(func(_ context.Context, updates []telegram.RawUpdate) error {
			delivered <- updates[0].ID
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	server, _, c := newServer(t, simulator.Options{
		FirstUpdateID: 500,
		WebhookClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			hook.ServeHTTP(w, r)
			return w.Result(), nil
		})},
	})
	ctx := t.Context()
	if err := c.SetWebhook(ctx, telegram.WebhookSettings{URL: "https://bot.example/tg", Secret: "s3cret", MaxConnections: 4}); err != nil {
		t.Fatal(err)
	}
	if id := <-delivered; id != 500 {
		t.Errorf("update %d was delivered, want 500", id)
	}
	info, err := c.WebhookInfo(ctx)
	if err != nil || info.URL != "https://bot.example/tg" || len(info.AllowedUpdates) != 3 {
		t.Errorf("WebhookInfo = %+v, %v", info, err)
	}
	_, err = c.Updates(ctx, 0, 0, 1)
	if e := failure(t, err); e.Kind != telegram.Conflict {
		t.Errorf("polling beside a webhook: %v, want a conflict", e)
	}
	if err := c.DeleteWebhook(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Updates(ctx, 0, 0, 1); err != nil {
		t.Errorf("polling after the webhook is gone: %v", err)
	}
	checkWellMade(t, server)
}

// A reply to a message that is gone is sent without the reply.
func TestContractReplyToNothing(t *testing.T) {
	server, _, c := newServer(t, simulator.Options{})
	if _, err := c.Send(t.Context(), telegram.Outgoing{Chat: bell, ReplyTo: 999, HTML: "Lapsed"}); err != nil {
		t.Fatal(err)
	}
	checkWellMade(t, server)
}

// A message whose answer was cut was sent, and its id is known when the cut lies behind it.
func TestContractCutAnswer(t *testing.T) {
	server, _, c := newServer(t, simulator.Options{})
	server.Fault(simulator.Fault{Kind: simulator.CutJSON, Count: 1})
	sent, err := c.Send(t.Context(), telegram.Outgoing{Chat: bell, HTML: "x"})
	if err != nil {
		t.Fatal(err)
	}
	posted := server.BotMessages(bell)
	if len(posted) != 1 || int64(sent.MessageID) != posted[0].MessageID || sent.Undecoded {
		t.Errorf("Sent = %+v, the chat shows %+v", sent, posted)
	}
}

// Messages arrive as they were written.
func TestContractMessages(t *testing.T) {
	server, person, c := newServer(t, simulator.Options{ReadsGroups: true})
	const forum = -1_000_000_000_079
	room := server.AddForum(forum, "Ops", person)
	thread := int(room.AddTopic("Mail"))
	sent, err := c.Send(t.Context(), telegram.Outgoing{Chat: forum, Thread: thread, HTML: "Card", ForceReply: true})
	if err != nil {
		t.Fatal(err)
	}
	card, _ := server.Message(forum, int64(sent.MessageID))
	person.Reply(card, "approve")
	person.Send(bell, "/approve K7QF2")
	if _, err := person.Post(simulator.Draft{Chat: bell, Text: "yes", Scheduled: true}); err != nil {
		t.Fatal(err)
	}

	updates, err := c.Updates(t.Context(), 0, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []telegram.Message
	for _, raw := range updates {
		u, err := telegram.Decode(raw.Raw)
		if err != nil {
			t.Fatal(err)
		}
		if u.Message != nil && u.Message.Text != "" && u.Message.Text != "/start" {
			u.Message.ID, u.Message.Date = 0, 0
			got = append(got, *u.Message)
		}
	}
	from := &telegram.User{ID: bell, First: "Bell"}
	direct := telegram.Chat{ID: bell, Type: "private"}
	want := []telegram.Message{
		{
			Chat: telegram.Chat{ID: forum, Type: "supergroup", Title: "Ops", IsForum: true}, From: from, Text: "approve",
			Thread: thread, IsTopic: true,
			ReplyTo: &telegram.Reply{MessageID: sent.MessageID, ChatID: forum, FromID: server.Bot().ID},
		},
		{Chat: direct, From: from, Text: "/approve K7QF2", Entities: []telegram.Entity{{Type: "bot_command", Length: 8}}},
		{Chat: direct, From: from, Text: "yes", FromOffline: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	checkWellMade(t, server)
}

// Over a socket, as in production.
func TestContractOverASocket(t *testing.T) {
	server, _, _ := newServer(t, simulator.Options{})
	address, err := server.Start("")
	if err != nil {
		t.Fatal(err)
	}
	c, err := telegram.New(telegram.Config{Token: server.Token(), APIURL: address, HTTP: &http.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), telegram.Outgoing{Chat: bell, HTML: "x"}); err != nil {
		t.Error(err)
	}
	checkWellMade(t, server)
}
