package simulator_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

// Results are compared with the description of the Bot API by every call of a world, so
// that calling each method checks what it returns.
func TestEveryMethodReturnsWhatIsDescribed(t *testing.T) {
	w := newWorld(t)
	w.forum.Promote(w.Bot().ID, simulator.AllRights())
	w.ops.SetStatus(annID, simulator.Creator)
	w.ops.SetStatus(benID, simulator.Restricted)
	w.ops.Promote(w.Bot().ID, simulator.AllRights())
	w.AddChannel(-1001000000003, "News", w.ann)
	m := w.send(opsID, "x", keyboard("a"))
	for _, step := range []struct {
		method string
		params params
	}{
		{"getMe", nil},
		{"getWebhookInfo", nil},
		{"getChat", params{"chat_id": opsID}},
		{"getChat", params{"chat_id": annID}},
		{"getChatAdministrators", params{"chat_id": opsID}},
		{"getChatMember", params{"chat_id": opsID, "user_id": annID}},
		{"getChatMember", params{"chat_id": opsID, "user_id": benID}},
		{"getChatMember", params{"chat_id": opsID, "user_id": w.Bot().ID}},
		{"getChatMember", params{"chat_id": forumID, "user_id": annID}},
		{"sendMessage", params{"chat_id": -1001000000003, "text": "news"}},
		{"sendChatAction", params{"chat_id": opsID, "action": "typing"}},
		{"setMyCommands", params{"commands": []params{{"command": "pending", "description": "Open approvals"}}}},
		{"getMyCommands", nil},
		{"deleteMyCommands", nil},
		{"pinChatMessage", params{"chat_id": opsID, "message_id": m.MessageID}},
		{"getChat", params{"chat_id": opsID}},
		{"unpinChatMessage", params{"chat_id": opsID, "message_id": m.MessageID}},
		{"editMessageReplyMarkup", params{"chat_id": opsID, "message_id": m.MessageID}},
		{"createForumTopic", params{"chat_id": forumID, "name": "Deploys"}},
		{"deleteMessage", params{"chat_id": opsID, "message_id": m.MessageID}},
		{"setWebhook", params{"url": "https://example.com/hook"}},
		{"getWebhookInfo", nil},
		{"deleteWebhook", nil},
		{"close", nil},
		{"logOut", nil},
	} {
		a := w.call(step.method, step.params)
		if !a.OK {
			t.Fatalf("%s: %s", step.method, a.Description)
		}
		if step.method == "createForumTopic" {
			var topic struct {
				ID int64 `json:"message_thread_id"`
			}
			if err := json.Unmarshal(a.Result, &topic); err != nil {
				t.Fatal(err)
			}
			for _, method := range []string{"closeForumTopic", "reopenForumTopic", "deleteForumTopic"} {
				must[bool](w, method, params{"chat_id": forumID, "message_thread_id": topic.ID})
			}
		}
	}
	if len(w.Refusals()) > 0 {
		t.Errorf("refused: %v", w.Refusals())
	}
}

func TestCommandsByScope(t *testing.T) {
	w := newWorld(t)
	chat := params{"type": "chat", "chat_id": annID}
	must[bool](w, "setMyCommands", params{"scope": chat, "commands": []params{{"command": "a", "description": "x"}}})
	want := []simulator.BotCommand{{Command: "a", Description: "x"}}
	if diff := cmp.Diff(want, w.Commands(json.RawMessage(`{"chat_id":1001,"type":"chat"}`))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := w.Commands(nil); len(got) != 0 {
		t.Errorf("default scope has %v", got)
	}
}

// What people do reaches the bot as updates of the right kind and shape.
func TestUpdatesOfPeople(t *testing.T) {
	w := newWorld(t)
	w.updates()
	w.ops.Promote(w.Bot().ID, simulator.AllRights())
	channel := w.AddChannel(-1001000000003, "News", w.ann)
	group := w.AddGroup(-77, "Old", w.ann)
	kinds := `["message","edited_message","channel_post","callback_query","my_chat_member","chat_member"]`
	w.call("getUpdates", params{"allowed_updates": json.RawMessage(kinds)})

	hello := w.ann.Send(opsID, "hello")
	w.ann.Edit(hello, "hello again")
	w.ann.Forward(hello, annID)
	w.ann.Send(channel.ID, "news")
	w.ann.Block()
	w.ann.Unblock()
	w.ops.SetStatus(benID, simulator.Administrator)
	w.ann.Send(group.ID, "/start")
	group.Upgrade(-1001000000077)
	w.forum.KickBot()

	var got []string
	for _, u := range w.updates() {
		switch {
		case u.Message != nil && u.Message.MigrateToChatID != 0:
			got = append(got, "migrated away")
		case u.Message != nil && u.Message.MigrateFromChatID != 0:
			got = append(got, "migrated here")
		case u.Message != nil && u.Message.ForwardOrigin != nil:
			got = append(got, "forwarded "+u.Message.Text)
		case u.Message != nil:
			got = append(got, "message "+u.Message.Text)
		case u.EditedMessage != nil:
			got = append(got, "edited "+u.EditedMessage.Text)
		case u.ChannelPost != nil:
			got = append(got, "post "+u.ChannelPost.Text)
		case u.MyChatMember != nil:
			got = append(got, "my member")
		case u.ChatMember != nil:
			got = append(got, "member")
		}
	}
	want := []string{
		"message hello", "edited hello again", "forwarded hello", "post news", "my member", "my member",
		"member", "message /start", "migrated away", "migrated here", "my member",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAnonymousAdministrator(t *testing.T) {
	w := newWorld(t)
	w.updates()
	m, err := w.ann.Post(simulator.Draft{Chat: opsID, Text: "/pending", Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	if m.From.ID != 1087968824 || m.SenderChat == nil || m.SenderChat.ID != opsID {
		t.Errorf("from %+v, sender_chat %+v", m.From, m.SenderChat)
	}
	// A tap shows who it really is.
	card := w.send(opsID, "x", keyboard("a"))
	w.ann.Tap(card, "a")
	if got := w.updates(); len(got) != 2 || got[1].CallbackQuery.From.ID != annID {
		t.Errorf("got %+v", got)
	}
}
