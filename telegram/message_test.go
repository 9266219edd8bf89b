package telegram_test

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/telegram"
)

const sentAnswer = `{"ok":true,"result":{"message_id":42,"date":1700000000,"chat":{"id":7,"type":"private"},"text":"x"}}`

func TestSendWritesJSON(t *testing.T) {
	noPreview := map[string]any{"is_disabled": true}
	for _, tt := range []struct {
		name string
		out  telegram.Outgoing
		want map[string]any
	}{
		{
			name: "html",
			out:  telegram.Outgoing{Chat: 7, HTML: "<b>hi</b>", Plain: "hi"},
			want: map[string]any{"chat_id": 7.0, "text": "<b>hi</b>", "parse_mode": "HTML", "link_preview_options": noPreview},
		},
		{
			name: "plain only",
			out:  telegram.Outgoing{Chat: 7, HTML: "<b>hi</b> 🙂", Plain: "hi 🙂", PlainOnly: true},
			want: map[string]any{
				"chat_id": 7.0, "text": "hi 🙂", "link_preview_options": noPreview,
				"entities": []any{map[string]any{"type": "pre", "offset": 0.0, "length": 5.0}},
			},
		},
		{
			name: "everything",
			out: telegram.Outgoing{
				Chat: -1001234567890, Thread: 9, ReplyTo: 5, HTML: "x", Silent: true, ForceReply: true,
				Keyboard: telegram.Keyboard{{{Text: "Go", Data: "a:1", Style: "danger"}, {Text: "No", Data: "b"}}, {}},
			},
			want: map[string]any{
				"chat_id": -1001234567890.0, "message_thread_id": 9.0, "text": "x", "parse_mode": "HTML",
				"link_preview_options": noPreview, "disable_notification": true,
				"reply_parameters": map[string]any{"message_id": 5.0, "allow_sending_without_reply": true},
				"reply_markup": map[string]any{"inline_keyboard": []any{[]any{
					map[string]any{"text": "Go", "callback_data": "a:1", "style": "danger"},
					map[string]any{"text": "No", "callback_data": "b"},
				}}},
			},
		},
		{
			name: "force reply",
			out:  telegram.Outgoing{Chat: 7, Plain: "why?", ForceReply: true},
			want: map[string]any{
				"chat_id": 7.0, "text": "why?", "link_preview_options": noPreview,
				"reply_markup": map[string]any{"force_reply": true, "selective": true},
			},
		},
		{
			name: "text that looks like JSON",
			out:  telegram.Outgoing{Chat: 7, Plain: `{"a":[1]}`},
			want: map[string]any{"chat_id": 7.0, "text": `{"a":[1]}`, "link_preview_options": noPreview},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := &recorder{status: 200, answer: sentAnswer}
			sent, err := newClient(t, server).Send(t.Context(), tt.out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(telegram.Sent{MessageID: 42, Date: 1700000000}, sent); diff != "" {
				t.Errorf("Sent (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, server.params(t)); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
			if want := "https://api.telegram.org/bot" + testToken + "/sendMessage"; server.path != want {
				t.Errorf("address = %s, want %s", server.path, want)
			}
		})
	}
}

// Whatever a text holds, it arrives as it was.
func TestTextArrivesUnchanged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"1", "true", "null", `"q"`, "--x--\r\n", "[]"})).Draw(rt, "text")
		server := &recorder{status: 200, answer: sentAnswer}
		if _, err := newClient(t, server).Send(t.Context(), telegram.Outgoing{Chat: 1, Plain: text}); err != nil {
			rt.Fatal(err)
		}
		if got, _ := server.params(t)["text"].(string); got != text {
			rt.Fatalf("text = %q, want %q", got, text)
		}
	})
}

func TestEdit(t *testing.T) {
	t.Run("without buttons takes the keyboard away", func(t *testing.T) {
		server := &recorder{status: 200, answer: sentAnswer}
		out := telegram.Outgoing{HTML: "done", Keyboard: telegram.Keyboard{}, ForceReply: true, ReplyTo: 3}
		if err := newClient(t, server).Edit(t.Context(), 7, 42, out); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"chat_id": 7.0, "message_id": 42.0, "text": "done", "parse_mode": "HTML",
			"link_preview_options": map[string]any{"is_disabled": true},
		}
		if diff := cmp.Diff(want, server.params(t)); diff != "" {
			t.Errorf("parameters (-want +got):\n%s", diff)
		}
	})
	t.Run("what changes nothing is success", func(t *testing.T) {
		c := newClient(t, always(400, `{"ok":false,"error_code":400,"description":"Bad Request: message is not modified: same"}`))
		if err := c.Edit(t.Context(), 7, 42, telegram.Outgoing{HTML: "x"}); err != nil {
			t.Errorf("Edit = %v, want nil", err)
		}
	})
	t.Run("the answer true is success", func(t *testing.T) {
		if err := newClient(t, always(200, `{"ok":true,"result":true}`)).Edit(t.Context(), 7, 42, telegram.Outgoing{HTML: "x"}); err != nil {
			t.Errorf("Edit = %v, want nil", err)
		}
	})
}

// What Telegram did is never reported as failed because its answer is hard to read.
func TestSendThatHappenedIsSent(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         telegram.Sent
	}{
		{
			"unknown media", `{"ok":true,"result":{"message_id":5,"date":9,"reply_to_message":{"paid_media":{"paid_media":[{"type":"hologram"}]}}}}`,
			telegram.Sent{MessageID: 5, Date: 9},
		},
		{"cut behind the id", `{"ok":true,"result":{"message_id":5,"date":9,"chat":{"id":`, telegram.Sent{MessageID: 5, Date: 9}},
		{"cut before the id", `{"ok":true,"result":{"mess`, telegram.Sent{Undecoded: true}},
		{"odd id", `{"ok":true,"result":{"message_id":"five"}}`, telegram.Sent{Undecoded: true}},
		{"id 0", `{"ok":true,"result":{"message_id":0,"date":9}}`, telegram.Sent{Date: 9, Undecoded: true}},
		{"no message", `{"ok":true,"result":true}`, telegram.Sent{Undecoded: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newClient(t, always(200, tt.answer)).Send(t.Context(), telegram.Outgoing{Chat: 1, HTML: "x"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Sent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSendDocumentIsForm(t *testing.T) {
	server := &recorder{status: 200, answer: sentAnswer}
	doc := telegram.Document{Chat: 7, Thread: 2, ReplyTo: 3, Name: "list.txt", Content: []byte("a\nb\n"), Caption: "Whole list", Silent: true}
	sent, err := newClient(t, server).SendDocument(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	if sent.MessageID != 42 {
		t.Errorf("MessageID = %d, want 42", sent.MessageID)
	}
	if server.length != int64(len(server.body)) {
		t.Errorf("Content-Length = %d, want %d", server.length, len(server.body))
	}
	_, media, err := mime.ParseMediaType(server.typ)
	if err != nil {
		t.Fatal(err)
	}
	form, err := multipart.NewReader(strings.NewReader(string(server.body)), media["boundary"]).ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"chat_id": {"7"}, "message_thread_id": {"2"}, "caption": {"Whole list"}, "disable_notification": {"true"},
		"disable_content_type_detection": {"true"},
		"reply_parameters":               {`{"message_id":3,"allow_sending_without_reply":true}`},
	}
	if diff := cmp.Diff(want, form.Value); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	files := form.File["document"]
	if len(files) != 1 || files[0].Filename != "list.txt" {
		t.Fatalf("files = %+v, want one list.txt", files)
	}
	f, err := files[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if content, _ := io.ReadAll(f); string(content) != "a\nb\n" {
		t.Errorf("content = %q", content)
	}
}

func TestAnswerCallback(t *testing.T) {
	server := &recorder{status: 200, answer: `{"ok":true,"result":true}`}
	if err := newClient(t, server).AnswerCallback(t.Context(), "77", "Not allowed", true); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"callback_query_id": "77", "text": "Not allowed", "show_alert": true}
	if diff := cmp.Diff(want, server.params(t)); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

// Calls one after the other share one connection.
func TestConnectionIsReused(t *testing.T) {
	remotes := make(map[string]bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		remotes[r.RemoteAddr] = true // calls do not overlap
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, sentAnswer)
	}))
	defer server.Close()
	c, err := telegram.New(telegram.Config{Token: testToken, APIURL: server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := c.Send(t.Context(), telegram.Outgoing{Chat: 1, HTML: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(remotes) != 1 {
		t.Errorf("%d connections for 20 calls, want 1", len(remotes))
	}
}

func TestCancelledSend(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := newClient(t, transport(func(r *http.Request) (*http.Response, error) { return nil, r.Context().Err() }))
	_, err := c.Send(ctx, telegram.Outgoing{Chat: 1, HTML: "x"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Send = %v, want context.Canceled", err)
	}
}
