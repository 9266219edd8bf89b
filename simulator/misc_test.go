package simulator_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

func TestBadRequests(t *testing.T) {
	tests := []struct{ name, method, kind, body, want string }{
		{"broken JSON", "sendMessage", "application/json", `{"chat_id":`, "Bad Request: can't parse JSON object"},
		{"list for an object", "sendMessage", "application/json", `[]`, "Bad Request: can't parse JSON object"},
		{"bytes that are no text", "sendMessage", "application/json", "{\"chat_id\":1001,\"text\":\"\xff\"}", "Bad Request: strings must be encoded in UTF-8"},
		{"the same in a form", "sendMessage", "application/x-www-form-urlencoded", "chat_id=1001&text=%ff", "Bad Request: strings must be encoded in UTF-8"},
		{"broken form", "sendMessage", "application/x-www-form-urlencoded", "chat_id=%zz", "Bad Request: can't parse the form"},
		{"broken query", "sendMessage?x=%zz", "", "", "Bad Request: can't parse the query string"},
		{"other content", "sendMessage", "text/plain", "hello", `Bad Request: unsupported content type "text/plain"`},
		{"broken multipart", "sendMessage", "multipart/form-data; boundary=x", "--x\r\nbroken", "Bad Request: can't parse the multipart form: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			a, err := w.post(t.Context(), tt.method, tt.kind, []byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if a.Status != 400 || !strings.HasPrefix(a.Description, tt.want) {
				t.Errorf("got %d %s, want %s", a.Status, a.Description, tt.want)
			}
			if len(w.Refusals()) != 1 {
				t.Errorf("refusals: %v", w.Refusals())
			}
		})
	}
}

func TestChatsByName(t *testing.T) {
	w := newWorld(t)
	w.AddRoom(simulator.Chat{ID: -1001000000004, Type: simulator.Supergroup, Title: "Open", Username: "open_room"}, w.ann)
	for name, want := range map[string]string{
		"@Open_Room": "ok", "@closed_room": "Bad Request: chat not found", "open_room": "Bad Request: chat not found",
	} {
		if got := outcome(w.call("sendMessage", params{"chat_id": name, "text": "x"})); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestDocuments(t *testing.T) {
	w := newWorld(t)
	sent, err := w.ann.Post(simulator.Draft{Chat: annID, Document: "a.bin", Content: []byte{0, 1}, Text: "look"})
	if err != nil {
		t.Fatal(err)
	}
	if sent.Caption != "look" || sent.Document.MimeType != "application/octet-stream" || sent.Document.FileSize != 2 {
		t.Errorf("sent %+v %q", sent.Document, sent.Caption)
	}
	send := func(document string) string {
		return outcome(w.call("sendDocument", params{"chat_id": annID, "document": document, "caption": "x"}))
	}
	for document, want := range map[string]string{
		sent.Document.FileID:    "ok",
		"file-999":              "Bad Request: wrong file identifier/HTTP URL specified",
		"https://a.bc/list.txt": "Bad Request: the simulator does not fetch files by URL",
	} {
		if got := send(document); got != want {
			t.Errorf("%s: got %s, want %s", document, got, want)
		}
	}
	m := w.BotMessages(annID)[0]
	edit := params{"chat_id": annID, "message_id": m.MessageID, "caption": "<i>y</i>", "parse_mode": "HTML"}
	if got := must[simulator.Message](w, "editMessageCaption", edit); got.Caption != "y" || len(got.CaptionEntities) != 1 {
		t.Errorf("edited %+v", got)
	}
	if got := outcome(w.call("getFile", params{"file_id": "file-999"})); got != "Bad Request: invalid file_id" {
		t.Errorf("getFile: %s", got)
	}
	if a := visiting("/file/bot" + w.Token() + "/documents/none")(w); a.Status != 404 {
		t.Errorf("download of nothing: %d", a.Status)
	}
	empty := "--x\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n1001\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"document\"; filename=\"e\"\r\n\r\n\r\n--x--\r\n"
	a, err := w.post(t.Context(), "sendDocument", "multipart/form-data; boundary=x", []byte(empty))
	if err != nil || a.Description != "Bad Request: file must be non-empty" {
		t.Errorf("empty file: %v %s", err, a.Description)
	}
}

func TestUploadNamedByAttach(t *testing.T) {
	w := newWorld(t)
	body := "--x\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n1001\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"document\"\r\n\r\nattach://f\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\n\r\nhello\r\n--x--\r\n"
	a, err := w.post(t.Context(), "sendDocument", "multipart/form-data; boundary=x", []byte(body))
	if err != nil || !a.OK {
		t.Fatalf("%v %s", err, a.Description)
	}
	if content, _ := w.Content(w.BotMessages(annID)[0].Document); string(content) != "hello" {
		t.Errorf("content %q", content)
	}
}

func TestPins(t *testing.T) {
	w := newWorld(t)
	m := w.send(annID, "x")
	pin := params{"chat_id": annID, "message_id": m.MessageID}
	must[bool](w, "pinChatMessage", pin)
	if diff := cmp.Diff([]int64{m.MessageID}, w.Snapshot(annID, 0).Chats[0].Pinned); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	must[bool](w, "unpinChatMessage", params{"chat_id": annID})
	if got := w.Snapshot(annID, 0).Chats[0].Pinned; len(got) != 0 {
		t.Errorf("pinned: %v", got)
	}
	if got := outcome(w.call("pinChatMessage", params{"chat_id": annID, "message_id": 99})); got != "Bad Request: message to pin not found" {
		t.Errorf("got %s", got)
	}
	in := w.send(opsID, "x")
	if got := outcome(w.call("pinChatMessage", params{"chat_id": opsID, "message_id": in.MessageID})); got != "Bad Request: not enough rights to manage pinned messages in the chat" {
		t.Errorf("without the right: %s", got)
	}
}

func TestMentions(t *testing.T) {
	w := newWorld(t)
	m := must[simulator.Message](w, "sendMessage", html(`<a href="tg://user?id=1002">B</a> <a href="tg://user?id=5">N</a>`))
	if len(m.Entities) != 1 || m.Entities[0].User == nil || m.Entities[0].User.FirstName != "Ben" {
		t.Errorf("entities: %+v, want Ben alone: nobody knows 5", m.Entities)
	}
}

func TestWrongCommands(t *testing.T) {
	tests := []struct {
		command, description string
		want                 string
	}{
		{"ok", "fine", "ok"},
		{"Upper", "x", "Bad Request: BOT_COMMAND_INVALID"},
		{strings.Repeat("x", 33), "x", "Bad Request: BOT_COMMAND_INVALID"},
		{"x", "", "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID"},
	}
	for _, tt := range tests {
		w := newWorld(t)
		list := []params{{"command": tt.command, "description": tt.description}}
		if got := outcome(w.call("setMyCommands", params{"commands": list})); got != tt.want {
			t.Errorf("/%s: got %s, want %s", tt.command, got, tt.want)
		}
	}
}

func TestHandles(t *testing.T) {
	w := newWorld(t)
	if p := w.Person(annID); p == nil || p.ID != annID {
		t.Errorf("Person = %v", p)
	}
	if w.Person(5) != nil || w.Room(annID) != nil || w.Room(5) != nil {
		t.Error("there are handles of nobody")
	}
	if r := w.Room(opsID); r == nil || r.ID != opsID {
		t.Errorf("Room = %v", r)
	}
	var names []string
	for _, u := range w.Users() {
		names = append(names, u.FirstName)
	}
	if diff := cmp.Diff([]string{"Ann", "Ben"}, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	w.ops.SetTitle("Operations")
	type chat struct{ Title string }
	if got := must[chat](w, "getChat", params{"chat_id": opsID}).Title; got != "Operations" {
		t.Errorf("title %q", got)
	}
	m := w.send(annID, "x", keyboard("a", "b"))
	w.ann.TapAt(m, 0, 1)
	w.updates()
	if b, ok := m.Button("b"); !ok || b.CallbackData != "b" {
		t.Errorf("Button = %+v, %v", b, ok)
	}
	if _, ok := m.Button("c"); ok {
		t.Error("there is a button c")
	}
}

func TestNewRefusesNonsense(t *testing.T) {
	for name, options := range map[string]simulator.Options{
		"no clock":  {},
		"bad token": {Now: (&clock{}).Now, Token: "secret"},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: New did not panic", name)
				}
			}()
			simulator.New(options)
		}()
	}
}

// The log keeps parameters as JSON, however they came; a text stays a text.
func TestLoggedCallsAreJSON(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{"application/json", "application/x-www-form-urlencoded"} {
		body := `{"chat_id":1001,"text":"{\"a\":1}"}`
		if kind != "application/json" {
			body = "chat_id=1001&text=%7B%22a%22%3A1%7D&protect_content=true"
		}
		if a, err := w.post(t.Context(), "sendMessage", kind, []byte(body)); err != nil || !a.OK {
			t.Fatalf("%v %s", err, a.Description)
		}
	}
	for _, c := range w.Calls() {
		if c.Text("text") != `{"a":1}` {
			t.Errorf("text is logged as %s", c.Params["text"])
		}
		if _, err := json.Marshal(c); err != nil {
			t.Error(err)
		}
		if !strings.Contains(c.String(), "sendMessage") {
			t.Errorf("String = %s", c)
		}
	}
}
