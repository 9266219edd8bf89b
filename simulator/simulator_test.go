package simulator_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

func TestConversation(t *testing.T) {
	w := newWorld(t)

	got := w.updates()
	if diff := cmp.Diff([]string{"/start"}, texts(got)); diff != "" {
		t.Fatalf("updates (-want +got)\n%s", diff)
	}
	if from := got[0].Message.From; from.ID != annID || got[0].Message.Chat.Type != simulator.Private {
		t.Errorf("got a message from %d in a %s chat", from.ID, got[0].Message.Chat.Type)
	}

	card := w.send(annID, "<b>Trash 3 emails</b>?", params{"parse_mode": "HTML"}, keyboard("Trash", "Reject"))
	if card.Text != "Trash 3 emails?" {
		t.Errorf("text = %q", card.Text)
	}
	want := []simulator.Entity{{Type: "bold", Offset: 0, Length: 14}}
	if diff := cmp.Diff(want, card.Entities); diff != "" {
		t.Errorf("entities (-want +got)\n%s", diff)
	}

	id := w.ann.Tap(card, "Tra")
	got = w.updates()
	if len(got) != 1 || got[0].CallbackQuery == nil {
		t.Fatalf("got %+v, want one callback query", got)
	}
	q := got[0].CallbackQuery
	if q.ID != id || q.Data != "Trash" || q.From.ID != annID {
		t.Errorf("callback query = %+v", q)
	}
	if !must[bool](w, "answerCallbackQuery", params{"callback_query_id": id, "text": "Done", "show_alert": true}) {
		t.Error("answerCallbackQuery returned false")
	}
	answer, err := w.WaitAnswer(t.Context(), id)
	if err != nil || answer.Text != "Done" || !answer.Alert {
		t.Errorf("answer = %+v, %v", answer, err)
	}

	edited := must[simulator.Message](w, "editMessageText", params{"chat_id": annID, "message_id": card.MessageID, "text": "Trashed."})
	if edited.Text != "Trashed." || edited.ReplyMarkup != nil || edited.EditDate == 0 {
		t.Errorf("edited = %+v", edited)
	}
	shown, err := w.WaitEdit(t.Context(), card, nil)
	if err != nil || shown.Text != "Trashed." {
		t.Errorf("WaitEdit = %q, %v", shown.Text, err)
	}
	if n := len(w.History(annID, card.MessageID)); n != 2 {
		t.Errorf("%d versions, want 2", n)
	}

	reply := w.send(annID, "There.", params{"reply_parameters": params{"message_id": card.MessageID}})
	if reply.ReplyToMessage == nil || reply.ReplyToMessage.MessageID != card.MessageID {
		t.Errorf("reply_to_message = %+v", reply.ReplyToMessage)
	}
	if refusals := w.Refusals(); len(refusals) > 0 {
		t.Errorf("refused: %v", refusals)
	}
}

func TestDocument(t *testing.T) {
	w := newWorld(t)
	body := strings.Join([]string{
		"--x", `Content-Disposition: form-data; name="chat_id"`, "", "1001",
		"--x", `Content-Disposition: form-data; name="caption"`, "", "The list",
		"--x", `Content-Disposition: form-data; name="document"; filename="list.txt"`, "", "one\ntwo",
		"--x--", "",
	}, "\r\n")
	a, err := w.post(t.Context(), "sendDocument", "multipart/form-data; boundary=x", []byte(body))
	if err != nil || !a.OK {
		t.Fatalf("sendDocument: %v %s", err, a.Description)
	}
	messages := w.BotMessages(annID)
	m := messages[len(messages)-1]
	if m.Document == nil || m.Document.FileName != "list.txt" || m.Caption != "The list" {
		t.Fatalf("got %+v", m)
	}
	if content, ok := w.Content(m.Document); !ok || string(content) != "one\ntwo" {
		t.Errorf("content = %q, %v", content, ok)
	}
	type file struct {
		Path string `json:"file_path"`
	}
	f := must[file](w, "getFile", params{"file_id": m.Document.FileID})
	response, err := w.Client().Get("http://simulator/file/bot" + w.Token() + "/" + f.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 || response.ContentLength != 7 {
		t.Errorf("download: %s, %d bytes", response.Status, response.ContentLength)
	}
}

// Clients of the Bot API write parameters in different ways.
func TestEncodings(t *testing.T) {
	w := newWorld(t)
	tests := []struct{ name, method, kind, body string }{
		{"JSON", "sendMessage", "application/json", `{"chat_id":1001,"text":"x"}`},
		{"form", "sendMessage", "application/x-www-form-urlencoded", `chat_id=1001&text=x`},
		{"query", "sendMessage?chat_id=1001&text=x", "application/json", ``},
		{"keyboard in a form", "sendMessage", "application/x-www-form-urlencoded", `chat_id=1001&text=x&reply_markup=%7B%22inline_keyboard%22%3A%5B%5D%7D`},
		{"multipart without any part", "getMe", "multipart/form-data; boundary=x", ``},
		{"nothing", "getMe", "", ``},
		{"method in small letters", "getme", "", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := w.post(t.Context(), tt.method, tt.kind, []byte(tt.body))
			if err != nil || !a.OK {
				t.Errorf("%v %d %s", err, a.ErrorCode, a.Description)
			}
		})
	}
}
