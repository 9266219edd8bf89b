package telegram_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/telegram"
)

var (
	ann  = telegram.User{ID: 1001, First: "Ann", Last: "Lee", Username: "ann"}
	room = telegram.Chat{ID: -100123, Type: "supergroup", Title: "Ops", IsForum: true}
)

const (
	annJSON  = `{"id":1001,"is_bot":false,"first_name":"Ann","last_name":"Lee","username":"ann","new_field":{}}`
	roomJSON = `{"id":-100123,"type":"supergroup","title":"Ops","is_forum":true}`
)

// decodings pair updates with what is read in them.
var decodings = []struct {
	name, raw string
	want      telegram.Update
}{
	{
		"reply in a topic",
		`{"update_id":1,"message":{"message_id":8,"message_thread_id":7,"is_topic_message":true,"from":` + annJSON + `,"chat":` + roomJSON + `,"date":1700000000,
		 "text":"/approve@sign_bot K7QF2","entities":[{"type":"bot_command","offset":0,"length":17}],
		 "reply_to_message":{"message_id":5,"chat":` + roomJSON + `,"from":{"id":77,"is_bot":true},"paid_media":{"paid_media":[{"type":"hologram"}]}}}}`,
		telegram.Update{ID: 1, Kind: "message", Message: &telegram.Message{
			ID: 8, Chat: room, Thread: 7, IsTopic: true, From: &ann, Date: 1700000000, Text: "/approve@sign_bot K7QF2",
			Entities: []telegram.Entity{{Type: "bot_command", Offset: 0, Length: 17}},
			ReplyTo:  &telegram.Reply{MessageID: 5, ChatID: -100123, FromID: 77},
		}},
	},
	{
		"everything that makes a message count for nothing",
		`{"update_id":2,"message":{"message_id":8,"chat":` + roomJSON + `,"sender_chat":{"id":-5},"date":1,"edit_date":2,"caption":"","external_reply":{"origin":{"type":"novel"}},
		 "forward_origin":{"type":"novel"},"via_bot":{"id":6},"is_from_offline":true,"business_connection_id":"b","guest_query_id":"g"}}`,
		telegram.Update{ID: 2, Kind: "message", Message: &telegram.Message{
			ID: 8, Chat: room, SenderChat: -5, Date: 1, EditDate: 2, HasCaption: true, ExternalReply: true,
			Forwarded: true, ViaBot: true, FromOffline: true, Business: "b", Guest: "g",
		}},
	},
	{
		"automatic forward, null parts, thread outside a topic",
		`{"update_id":3,"message":{"message_id":8,"chat":` + roomJSON + `,"message_thread_id":4,"is_automatic_forward":true,"via_bot":null,"caption":null,"from":null}}`,
		telegram.Update{ID: 3, Kind: "message", Message: &telegram.Message{ID: 8, Chat: room, Forwarded: true}},
	},
	{
		"first message of a topic",
		`{"update_id":4,"message":{"message_id":8,"chat":` + roomJSON + `,"reply_to_message":{"message_id":7,"chat":` + roomJSON + `,"forum_topic_created":{"name":"x"}}}}`,
		telegram.Update{ID: 4, Kind: "message", Message: &telegram.Message{
			ID: 8, Chat: room, ReplyTo: &telegram.Reply{MessageID: 7, ChatID: -100123, TopicStart: true},
		}},
	},
	{
		"migration",
		`{"update_id":5,"message":{"message_id":8,"chat":{"id":-9,"type":"group"},"migrate_to_chat_id":-1009}}`,
		telegram.Update{ID: 5, Kind: "message", Message: &telegram.Message{
			ID: 8, Chat: telegram.Chat{ID: -9, Type: "group"}, MigrateTo: -1009,
		}},
	},
	{
		"tap",
		`{"update_id":6,"callback_query":{"id":"77","from":` + annJSON + `,"chat_instance":"1","data":"a:\u0000ÿ","message":{"message_id":5,"date":3,"chat":` + roomJSON + `,"message_thread_id":7,"is_topic_message":true}}}`,
		telegram.Update{ID: 6, Kind: "callback_query", Callback: &telegram.Callback{
			ID: "77", From: ann, Data: "a:\x00ÿ",
			Message: &telegram.TappedMessage{ChatID: -100123, ChatType: "supergroup", MessageID: 5, Thread: 7, Accessible: true},
		}},
	},
	{
		"tap on an old message of a business chat",
		`{"update_id":7,"callback_query":{"id":"77","from":` + annJSON + `,"message":{"message_id":5,"date":0,"chat":` + roomJSON + `,"business_connection_id":"b"}}}`,
		telegram.Update{ID: 7, Kind: "callback_query", Callback: &telegram.Callback{
			ID: "77", From: ann,
			Message: &telegram.TappedMessage{ChatID: -100123, ChatType: "supergroup", MessageID: 5, Business: "b"},
		}},
	},
	{
		"tap under an inline message",
		`{"update_id":8,"callback_query":{"id":"77","from":` + annJSON + `,"inline_message_id":"i","data":"x"}}`,
		telegram.Update{ID: 8, Kind: "callback_query", Callback: &telegram.Callback{ID: "77", From: ann, Inline: "i", Data: "x"}},
	},
	{
		"blocked by a person",
		`{"update_id":9,"my_chat_member":{"chat":{"id":1001,"type":"private"},"from":` + annJSON + `,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"kicked"}}}`,
		telegram.Update{ID: 9, Kind: "my_chat_member", MyChatMember: &telegram.Membership{
			Chat: telegram.Chat{ID: 1001, Type: "private"}, From: ann, Old: "member", New: "kicked",
		}},
	},
	{
		"restricted and still there",
		`{"update_id":10,"my_chat_member":{"chat":` + roomJSON + `,"from":` + annJSON + `,"old_chat_member":{"status":"left"},"new_chat_member":{"status":"restricted","is_member":true}}}`,
		telegram.Update{ID: 10, Kind: "my_chat_member", MyChatMember: &telegram.Membership{
			Chat: room, From: ann, Old: "left", New: "restricted", Member: true,
		}},
	},
	{"edited message", `{"update_id":11,"edited_message":{"message_id":8,"chat":` + roomJSON + `,"text":"yes"}}`, telegram.Update{ID: 11, Kind: "edited_message"}},
	{"unknown kind", `{"update_id":12,"telepathy":[1]}`, telegram.Update{ID: 12, Kind: "telepathy"}},
	{"a kind and an unknown attribute", `{"update_id":13,"aura":1,"message":{"message_id":8,"chat":` + roomJSON + `}}`, telegram.Update{
		ID: 13, Kind: "message", Message: &telegram.Message{ID: 8, Chat: room},
	}},
	{"nothing", `{"update_id":14}`, telegram.Update{ID: 14}},
}

// unreadable updates are set aside by whoever gets them.
var unreadable = map[string]string{
	"not JSON":             `{"update_id":1`,
	"not an object":        `[1]`,
	"no id":                `{"message":{}}`,
	"odd id":               `{"update_id":"x"}`,
	"two kinds":            `{"update_id":1,"message":{"message_id":8,"chat":{"id":1}},"callback_query":{"id":"1","from":{"id":1}}}`,
	"message without id":   `{"update_id":1,"message":{"chat":{"id":1}}}`,
	"message without chat": `{"update_id":1,"message":{"message_id":1}}`,
	"null message":         `{"update_id":1,"message":null}`,
	"odd text":             `{"update_id":1,"message":{"message_id":1,"chat":{"id":1},"text":{}}}`,
	"tap by nobody":        `{"update_id":1,"callback_query":{"id":"1"}}`,
	"tap without id":       `{"update_id":1,"callback_query":{"from":{"id":1}}}`,
	"membership nowhere":   `{"update_id":1,"my_chat_member":{}}`,
}

func TestDecode(t *testing.T) {
	for _, tt := range decodings {
		t.Run(tt.name, func(t *testing.T) {
			got, err := telegram.Decode(json.RawMessage(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Update (-want +got):\n%s", diff)
			}
		})
	}
	for name, raw := range unreadable {
		t.Run(name, func(t *testing.T) {
			if got, err := telegram.Decode(json.RawMessage(raw)); err == nil {
				t.Errorf("Decode = %+v, want an error", got)
			}
		})
	}
}

func FuzzUpdate(f *testing.F) {
	for _, tt := range decodings {
		f.Add([]byte(tt.raw))
	}
	for _, raw := range unreadable {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		u, err := telegram.Decode(raw)
		if err != nil {
			if diff := cmp.Diff(telegram.Update{}, u); diff != "" {
				t.Errorf("an unreadable update gave something (-want +got):\n%s", diff)
			}
			return
		}
		parts := 0
		for _, there := range []bool{u.Message != nil, u.Callback != nil, u.MyChatMember != nil} {
			if there {
				parts++
			}
		}
		asked := u.Kind == "message" || u.Kind == "callback_query" || u.Kind == "my_chat_member"
		if asked != (parts == 1) || parts > 1 {
			t.Errorf("kind %q with %d parts", u.Kind, parts)
		}
		if u.Message != nil && u.Message.From != nil && u.Message.From.Name() == "" {
			t.Error("a person without a name to show")
		}
	})
}

func TestUserName(t *testing.T) {
	for _, tt := range []struct {
		user telegram.User
		want string
	}{
		{telegram.User{ID: 5, First: "Ann", Last: "Lee"}, "Ann Lee"},
		{telegram.User{ID: 5, First: " Ann "}, "Ann"},
		{telegram.User{ID: 5, Last: "Lee"}, "Lee"},
		{telegram.User{ID: 5, First: " \t", Username: "ann"}, "5"},
		{telegram.User{ID: 5}, "5"},
	} {
		if got := tt.user.Name(); got != tt.want {
			t.Errorf("Name of %+v = %q, want %q", tt.user, got, tt.want)
		}
	}
}
