package simulator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

// requireForeign names the variable that makes a missing foreign client a failure.
const requireForeign = "COUNTERSIGN_REQUIRE_FOREIGN"

const strangerID = 999

// TestForeignClient has the same conversation with bots on two clients that share no
// code with the simulator: one on grammY, where it is installed, and one on nothing but
// HTTP.
func TestForeignClient(t *testing.T) {
	t.Run("raw", func(t *testing.T) { converse(t, rawBot) })
	_, err := os.Stat("foreign/node_modules/grammy")
	if err == nil {
		_, err = exec.LookPath("node")
	}
	switch {
	case err == nil:
		t.Run("grammy", func(t *testing.T) { converse(t, grammyBot) })
	case os.Getenv(requireForeign) != "":
		t.Errorf("%s is set, but grammY cannot run (%v): install Node and run npm ci in simulator/foreign", requireForeign, err)
	}
}

// A foreignBot is a bot that talks as foreign/check.mjs does, until it is told to stop.
type foreignBot func(ctx context.Context, url, token string) error

// converse plays Ann, who talks to the bot over sockets.
func converse(t *testing.T, run foreignBot) {
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	url, err := w.Start("")
	if err != nil {
		t.Fatal(err)
	}
	w.ben.Start()
	w.ben.Block()
	w.updates() // the bot starts with Ann alone
	w.ann.Start()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, url, w.Token()) }()

	hello, err := w.WaitMessage(ctx, annID, func(m simulator.Message) bool { return m.Keyboard() != nil })
	if err != nil {
		t.Fatal(err)
	}
	if hello.Text != "Hello, Ann & all" || cmp.Diff([]simulator.Entity{{Type: "bold", Offset: 7, Length: 3}}, hello.Entities) != "" {
		t.Errorf("hello = %q %+v", hello.Text, hello.Entities)
	}
	answer, err := w.ann.TapWait(ctx, hello, "Approve")
	if err != nil || answer.Text != "Noted" || !answer.Alert {
		t.Errorf("answer = %+v, %v", answer, err)
	}
	approved, err := w.WaitEdit(ctx, hello, nil)
	if err != nil || approved.Text != "Approved" || approved.Keyboard() != nil {
		t.Errorf("edited = %q, %v", approved.Text, err)
	}

	asked := w.ann.Send(annID, "document")
	list, err := w.WaitMessage(ctx, annID, func(m simulator.Message) bool { return m.Document != nil })
	if err != nil {
		t.Fatal(err)
	}
	content, _ := w.Content(list.Document)
	if string(content) != "one\ntwo" || list.Document.FileName != "list.txt" || list.Caption != "The list" {
		t.Errorf("document = %+v, caption %q, content %q", list.Document, list.Caption, content)
	}
	if list.ReplyToMessage == nil || list.ReplyToMessage.MessageID != asked.MessageID {
		t.Errorf("the document replies to %+v", list.ReplyToMessage)
	}

	w.Fault(simulator.Fault{
		Method: "sendMessage", Chat: annID, Count: 1,
		Code: 429, Description: "Too Many Requests: retry after 7", Parameters: &simulator.Parameters{RetryAfter: 7},
	})
	w.ann.Send(annID, "errors")
	want := "400 Bad Request: chat not found {}\n" +
		"403 Forbidden: bot was blocked by the user {}\n" +
		`429 Too Many Requests: retry after 7 {"retry_after":7}`
	if _, err := w.WaitMessage(ctx, annID, func(m simulator.Message) bool { return m.Text == want }); err != nil {
		t.Errorf("%v; the bot wrote %q", err, lastText(w.BotMessages(annID)))
	}

	w.ann.Send(annID, "stop")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := w.Refusals(); len(got) > 0 {
		t.Errorf("refused: %v", got)
	}
	if got := w.Warnings(); len(got) > 0 {
		t.Errorf("warnings: %v", got)
	}
}

func lastText(list []simulator.Message) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1].Text
}

func grammyBot(ctx context.Context, url, token string) error {
	node := exec.CommandContext(ctx, "node", "check.mjs")
	node.Dir = "foreign"
	node.Env = append(os.Environ(), "BOT_API_ROOT="+url, "BOT_TOKEN="+token,
		"STRANGER="+strconv.Itoa(strangerID), "BLOCKER="+strconv.Itoa(benID))
	if out, err := node.CombinedOutput(); err != nil {
		return fmt.Errorf("node: %w\n%s", err, out)
	}
	return nil
}

// A rawClient makes calls with package net/http alone.
type rawClient struct {
	ctx  context.Context
	base string
}

func (c rawClient) call(method, kind string, body []byte, result any) (failure string, err error) {
	request, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var a struct {
		OK          bool            `json:"ok"`
		Result      json.RawMessage `json:"result"`
		Code        int             `json:"error_code"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		return "", err
	}
	if !a.OK {
		if a.Parameters == nil {
			a.Parameters = json.RawMessage("{}")
		}
		return fmt.Sprintf("%d %s %s", a.Code, a.Description, a.Parameters), nil
	}
	if result == nil {
		return "", nil
	}
	return "", json.Unmarshal(a.Result, result)
}

func (c rawClient) json(method string, p params, result any) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	failure, err := c.call(method, "application/json", body, result)
	if err == nil && failure != "" {
		err = fmt.Errorf("%s: %s", method, failure)
	}
	return err
}

func rawBot(ctx context.Context, url, token string) error {
	c := rawClient{ctx, url + "/bot" + token + "/"}
	for offset, stopped := int64(0), false; !stopped; {
		var list []update
		if err := c.json("getUpdates", params{"offset": offset, "timeout": 20, "allowed_updates": []string{"message", "callback_query"}}, &list); err != nil {
			return err
		}
		for _, u := range list {
			offset = u.ID + 1
			var err error
			if stopped, err = c.handle(u); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c rawClient) handle(u update) (stopped bool, err error) {
	if q := u.CallbackQuery; q != nil {
		var card simulator.Message
		if err := json.Unmarshal(q.Message, &card); err != nil {
			return false, err
		}
		if err := c.json("answerCallbackQuery", params{"callback_query_id": q.ID, "text": "Noted", "show_alert": true}, nil); err != nil {
			return false, err
		}
		return false, c.json("editMessageText", params{"chat_id": card.Chat.ID, "message_id": card.MessageID, "text": "Approved"}, nil)
	}
	switch m := u.Message; m.Text {
	case "/start":
		return false, c.json("sendMessage", params{
			"chat_id": m.Chat.ID, "text": "Hello, <b>Ann</b> &amp; all", "parse_mode": "HTML",
			"reply_markup": params{"inline_keyboard": [][]params{{
				{"text": "Approve", "callback_data": "yes"}, {"text": "Reject", "callback_data": "no"},
			}}},
		}, nil)
	case "document":
		return false, c.document(m)
	case "errors":
		return false, c.errors(m)
	case "stop":
		return true, c.json("sendMessage", params{"chat_id": m.Chat.ID, "text": "bye"}, nil)
	}
	return false, nil
}

func (c rawClient) document(m *simulator.Message) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{
		"chat_id": strconv.FormatInt(m.Chat.ID, 10), "caption": "The list",
		"reply_parameters": fmt.Sprintf(`{"message_id":%d}`, m.MessageID),
	} {
		if err := form.WriteField(name, value); err != nil {
			return err
		}
	}
	part, err := form.CreateFormFile("document", "list.txt")
	if err != nil {
		return err
	}
	if _, err := part.Write([]byte("one\ntwo")); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	failure, err := c.call("sendDocument", form.FormDataContentType(), body.Bytes(), nil)
	if err == nil && failure != "" {
		err = fmt.Errorf("sendDocument: %s", failure)
	}
	return err
}

func (c rawClient) errors(m *simulator.Message) error {
	report := ""
	for i, chat := range []int64{strangerID, benID, m.Chat.ID} {
		form := fmt.Sprintf("chat_id=%d&text=unwelcome", chat)
		failure, err := c.call("sendMessage", "application/x-www-form-urlencoded", []byte(form), nil)
		if err != nil {
			return err
		}
		if i > 0 {
			report += "\n"
		}
		report += failure
	}
	return c.json("sendMessage", params{"chat_id": m.Chat.ID, "text": report}, nil)
}
