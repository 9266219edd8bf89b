package simulator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

// outcome is the description of a failure, or "ok".
func outcome(a answer) string {
	if a.OK {
		return "ok"
	}
	return a.Description
}

func TestTextRules(t *testing.T) {
	hundred := strings.Repeat("<b>x</b>y", 100)
	tests := []struct {
		name string
		p    params
		want string
	}{
		{"4096 emoji", say(strings.Repeat("😀", 4096)), "ok"},
		{"4096 characters after parsing", html("<b>" + strings.Repeat("x", 4096) + "</b>"), "ok"},
		{"32768 bytes of markup", html(strings.Repeat("<b></b>", 4681) + "x"), "ok"},
		{"100 entities", html(hundred), "ok"},
		{"Markdown", with(say("*x*"), params{"parse_mode": "MarkdownV2"}), "Bad Request: the simulator does not simulate parse_mode MarkdownV2"},
		{"unknown parse mode", with(say("x"), params{"parse_mode": "BBCode"}), "Bad Request: unsupported parse_mode"},
		{"unknown parameter", with(say("x"), params{"reply_to": 1}), "Bad Request: reply_to: unknown parameter of sendMessage"},
		{"unknown field below", with(say("x"), params{"link_preview_options": params{"disabled": true}}), "Bad Request: link_preview_options.disabled: unknown field of LinkPreviewOptions"},
		{"entities", with(say("😀x"), params{"entities": []params{{"type": "bold", "offset": 2, "length": 1}}}), "ok"},
		{"entity behind the end", with(say("x"), params{"entities": []params{{"type": "bold", "offset": 0, "length": 2}}}), "Bad Request: entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 2"},
		{"entity in a character", with(say("😀"), params{"entities": []params{{"type": "bold", "offset": 0, "length": 1}}}), "Bad Request: entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at UTF-16 offset 1"},
		{"unknown entity", with(say("x"), params{"entities": []params{{"type": "blink", "offset": 0, "length": 1}}}), "Bad Request: unsupported type specified for entity: blink"},
		{"automatic entity", with(say("x"), params{"entities": []params{{"type": "mention", "offset": 0, "length": 1}}}), "ok"},
		{"method that is not simulated", nil, "Not Implemented: the simulator does not simulate sendPoll"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			method := "sendMessage"
			if tt.p == nil {
				method, tt.p = "sendPoll", params{"chat_id": annID, "question": "x", "options": []params{}}
			}
			if got := outcome(w.call(method, tt.p)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := len(w.Refusals()); (got == 0) != (tt.want == "ok") {
				t.Errorf("%d refusals", got)
			}
		})
	}
}

func TestServerWithoutTgTime(t *testing.T) {
	source := html(`<tg-time unix="1647531900" format="r">soon</tg-time>`)
	if m := newWorld(t).call("sendMessage", source); !m.OK {
		t.Error(m.Description)
	}
	w := newWorld(t, func(o *simulator.Options) { o.NoTgTime = true })
	const want = `Bad Request: can't parse entities: Unsupported start tag "tg-time" at byte offset 0`
	if got := outcome(w.call("sendMessage", source)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestKeyboardRules(t *testing.T) {
	long := strings.Repeat("d", 64)
	rows := func(n, perRow int, data string) params {
		list := [][]params{}
		for range n {
			row := []params{}
			for range perRow {
				row = append(row, params{"text": "button", "callback_data": data})
			}
			list = append(list, row)
		}
		return markup(params{"inline_keyboard": list})
	}
	tests := []struct {
		name   string
		markup params
		want   string
	}{
		{"64 bytes of data", oneButton(params{"text": "a", "callback_data": long}), "ok"},
		{"styles", markup(params{"inline_keyboard": [][]params{{
			{"text": "a", "callback_data": "a", "style": "danger"},
			{"text": "b", "callback_data": "b", "style": "success"},
			{"text": "c", "callback_data": "c", "style": "primary"},
		}}}), "ok"},
		{"unknown style", oneButton(params{"text": "a", "callback_data": "a", "style": "red"}), "Bad Request: invalid button style specified"},
		{"empty copy_text beside an action", oneButton(params{"text": "a", "callback_data": "a", "copy_text": params{"text": ""}}), "ok"},
		{"two actions", oneButton(params{"text": "a", "callback_data": "a", "url": "https://a.bc"}), "Bad Request: can't parse InlineKeyboardButton: the simulator allows one action in a button, not url and callback_data"},
		{"long text to copy", oneButton(params{"text": "a", "copy_text": params{"text": strings.Repeat("x", 257)}}), "Bad Request: BUTTON_COPY_TEXT_INVALID"},
		{"no rows", markup(params{"inline_keyboard": [][]params{}}), "ok"},
		{"null for rows", markup(params{"inline_keyboard": nil}), "Bad Request: reply_markup.inline_keyboard: an array is expected"},
		{"100 buttons", rows(20, 5, "a"), "ok"},
		{"few buttons with long data", rows(20, 5, long), "Bad Request: reply markup is too long"},
		{"forced reply", markup(params{"force_reply": true}), "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if got := outcome(w.call("sendMessage", with(say("x"), tt.markup))); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if len(w.Warnings()) != 0 {
				t.Errorf("warnings: %v", w.Warnings())
			}
		})
	}
}

// What the real server changes in silence is carried out and noted.
func TestWarnings(t *testing.T) {
	nine := make([]string, 9)
	for i := range nine {
		nine[i] = fmt.Sprint(i)
	}
	tests := []struct {
		name string
		p    params
		want string
	}{
		{"101 entities", html(strings.Repeat("<b>x</b>y", 101)), "more than 100 entities"},
		{"nine in a row", with(say("x"), keyboard(nine...)), "9 buttons in row 1"},
		{"a button without text", with(say("x"), oneButton(params{"text": " ", "callback_data": "a"})), "a button without text in row 1"},
		{"paid broadcast", with(say("x"), params{"allow_paid_broadcast": true}), "costs Stars"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			m := must[simulator.Message](w, "sendMessage", tt.p)
			if n := len(m.Entities); n > 100 {
				t.Errorf("%d entities", n)
			}
			got := w.Warnings()
			if len(got) != 1 || !strings.Contains(got[0].Text, tt.want) || got[0].Call.Method != "sendMessage" {
				t.Errorf("warnings: %v, want one with %q", got, tt.want)
			}
		})
	}
}

func TestThreads(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world, thread int64) answer
		want string
	}{
		{"topic", func(w *world, thread int64) answer { return w.call("sendMessage", inThread(thread)) }, "ok"},
		{"General", func(w *world, _ int64) answer { return w.call("sendMessage", params{"chat_id": forumID, "text": "x"}) }, "ok"},
		{"unknown topic", func(w *world, thread int64) answer { return w.call("sendMessage", inThread(thread+100)) }, "Bad Request: message thread not found"},
		{"deleted topic", func(w *world, thread int64) answer {
			w.forum.DeleteTopic(thread)
			return w.call("sendMessage", inThread(thread))
		}, "Bad Request: message thread not found"},
		{"General closed", func(w *world, _ int64) answer {
			w.forum.SetTopicClosed(0, true)
			return w.call("sendMessage", params{"chat_id": forumID, "text": "x"})
		}, "Bad Request: TOPIC_CLOSED"},
		{"closed topic, bot may manage topics", func(w *world, thread int64) answer {
			w.forum.SetTopicClosed(thread, true)
			w.forum.Promote(w.Bot().ID, simulator.Rights{ManageTopics: true})
			return w.call("sendMessage", inThread(thread))
		}, "ok"},
		{"closed topic, bot has other rights", func(w *world, thread int64) answer {
			w.forum.SetTopicClosed(thread, true)
			w.forum.Promote(w.Bot().ID, simulator.Rights{DeleteMessages: true})
			return w.call("sendMessage", inThread(thread))
		}, "Bad Request: TOPIC_CLOSED"},
		{"long name", func(w *world, _ int64) answer {
			w.forum.Promote(w.Bot().ID, simulator.AllRights())
			return w.call("createForumTopic", params{"chat_id": forumID, "name": strings.Repeat("é", 128)})
		}, "ok"},
		{"longer name", func(w *world, _ int64) answer {
			w.forum.Promote(w.Bot().ID, simulator.AllRights())
			return w.call("createForumTopic", params{"chat_id": forumID, "name": strings.Repeat("é", 129)})
		}, "Bad Request: TOPIC_TITLE_EMPTY"},
		{"topics switched off", func(w *world, thread int64) answer {
			w.forum.SetForum(false)
			return w.call("sendMessage", inThread(thread))
		}, "ok"},
		{"managing without the right", func(w *world, _ int64) answer {
			return w.call("createForumTopic", params{"chat_id": forumID, "name": "x"})
		}, "Bad Request: not enough rights to create a topic"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if got := outcome(tt.do(w, w.forum.AddTopic("Deploys"))); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestThreadOfAMessage(t *testing.T) {
	w := newWorld(t)
	thread := w.forum.AddTopic("Deploys")
	m := must[simulator.Message](w, "sendMessage", inThread(thread))
	if m.MessageThreadID != thread || !m.IsTopicMessage {
		t.Errorf("thread %d, topic message %v", m.MessageThreadID, m.IsTopicMessage)
	}
	reply := must[simulator.Message](w, "sendMessage", params{
		"chat_id": forumID, "text": "y", "reply_parameters": params{"message_id": m.MessageID},
	})
	if reply.MessageThreadID != thread {
		t.Errorf("a reply without a thread goes to %d, want %d", reply.MessageThreadID, thread)
	}
	if answer := w.ann.Reply(m, "z"); answer.MessageThreadID != thread {
		t.Errorf("a person's reply goes to %d, want %d", answer.MessageThreadID, thread)
	}
	elsewhere := must[simulator.Message](w, "sendMessage", params{"chat_id": opsID, "text": "x", "message_thread_id": thread})
	if elsewhere.MessageThreadID != 0 {
		t.Errorf("a chat without topics keeps thread %d", elsewhere.MessageThreadID)
	}
}

func TestReplies(t *testing.T) {
	w := newWorld(t)
	m := w.send(annID, "one two three")
	to := func(p params) params { return params{"reply_parameters": merge(params{"message_id": m.MessageID}, p)} }
	tests := []struct {
		name string
		p    params
		want string
	}{
		{"quote", to(params{"quote": "two"}), "ok"},
		{"quote of something else", to(params{"quote": "four"}), "Bad Request: QUOTE_TEXT_INVALID"},
		{"never there", to(params{"message_id": 9999}), "Bad Request: message to be replied not found"},
		{"never there, but no matter", to(params{"message_id": 9999, "allow_sending_without_reply": true}), "ok"},
		{"same chat, said twice", to(params{"chat_id": annID}), "ok"},
		{"another chat", to(params{"chat_id": opsID}), "Bad Request: the simulator does not simulate replies into another chat"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := outcome(w.call("sendMessage", with(say("x"), tt.p))); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	quoted := must[simulator.Message](w, "sendMessage", with(say("x"), to(params{"quote": "two"})))
	if diff := cmp.Diff(&simulator.Quote{Text: "two", Position: 4, IsManual: true}, quoted.Quote); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestQuotesOfPeople(t *testing.T) {
	w := newWorld(t)
	m := w.send(annID, "😀 two three")
	for quote, want := range map[string]*simulator.Quote{
		"two":  {Text: "two", Position: 3, IsManual: true},
		"":     nil,
		"four": nil,
	} {
		got, err := w.ann.Post(simulator.Draft{Chat: annID, ReplyTo: m.MessageID, Quote: quote, Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Quote); diff != "" {
			t.Errorf("%q (-want +got)\n%s", quote, diff)
		}
	}
}

func TestEdits(t *testing.T) {
	w := newWorld(t)
	card := w.send(annID, "x", keyboard("a", "b"))
	edit := func(method string, p ...params) string {
		return outcome(w.call(method, merge(append([]params{{"chat_id": annID, "message_id": card.MessageID}}, p...)...)))
	}
	const same = "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"
	steps := []struct{ got, want string }{
		{edit("editMessageText", params{"text": "x"}, keyboard("a", "b")), same},
		{edit("editMessageText", params{"text": "<b>x</b>", "parse_mode": "HTML"}, keyboard("a", "b")), "ok"},
		{edit("editMessageReplyMarkup", keyboard("a", "b")), same},
		{edit("editMessageReplyMarkup", keyboard("b", "a")), "ok"},
		{edit("editMessageText", params{"text": "x"}), "ok"}, // removes the keyboard
		{edit("editMessageReplyMarkup"), same},
		{edit("editMessageCaption", params{"caption": "x"}), "Bad Request: there is no caption in the message to edit"},
		{edit("editMessageText", params{"message_id": 9999, "text": "x"}), "Bad Request: message to edit not found"},
	}
	for i, step := range steps {
		if step.got != step.want {
			t.Errorf("step %d: got %s, want %s", i, step.got, step.want)
		}
	}
	if m, _ := w.Message(annID, card.MessageID); m.Keyboard() != nil {
		t.Error("the keyboard is still there")
	}
	w.clock.Advance(1000 * time.Hour)
	if got := edit("editMessageText", params{"text": "much later"}); got != "ok" {
		t.Errorf("an old message of the bot: %s", got)
	}
	forced := w.send(annID, "x", markup(params{"force_reply": true}))
	if got := edit("editMessageText", params{"message_id": forced.MessageID, "text": "y"}); got != "Bad Request: message can't be edited" {
		t.Errorf("a message with a forced reply: %s", got)
	}
}

func TestDeleting(t *testing.T) {
	w := newWorld(t)
	remove := func(m simulator.Message) string {
		return outcome(w.call("deleteMessage", params{"chat_id": m.Chat.ID, "message_id": m.MessageID}))
	}
	if got := remove(w.send(opsID, "x")); got != "ok" {
		t.Errorf("own message: %s", got)
	}
	if got := remove(w.ann.Send(annID, "x")); got != "ok" {
		t.Errorf("somebody's message in a private chat: %s", got)
	}
	theirs := w.ann.Send(opsID, "x")
	if got := remove(theirs); got != "Bad Request: message can't be deleted" {
		t.Errorf("somebody's message in a group: %s", got)
	}
	w.ops.Promote(w.Bot().ID, simulator.AllRights())
	if got := remove(theirs); got != "ok" {
		t.Errorf("the same as an administrator: %s", got)
	}
}

func TestCallbackAnswers(t *testing.T) {
	w := newWorld(t)
	card := w.send(annID, "x", keyboard("a"))
	answer := func(id string, p ...params) string {
		return outcome(w.call("answerCallbackQuery", merge(append([]params{{"callback_query_id": id}}, p...)...)))
	}
	const old = "Bad Request: query is too old and response timeout expired or query ID is invalid"
	id := w.ann.Tap(card, "a")
	steps := []struct{ got, want string }{
		{answer(id, params{"text": strings.Repeat("é", 201)}), "Bad Request: MESSAGE_TOO_LONG"},
		{answer(id, params{"text": strings.Repeat("é", 200)}), "ok"},
		{answer(id), old},
		{answer("77"), old},
	}
	for i, step := range steps {
		if step.got != step.want {
			t.Errorf("step %d: got %s, want %s", i, step.got, step.want)
		}
	}
	// Answering twice can happen to a correct bot, after a crash; a made-up id cannot.
	if got := len(w.Refusals()); got != 2 {
		t.Errorf("%d refusals, want those of the long text and of the unknown id", got)
	}
}
