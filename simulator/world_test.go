package simulator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/simulator"
	"countersign/simulator/spec"
)

// epoch is where the held clocks of these tests begin.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A clock stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A world is a server with two people, a group and a forum, and a raw client of the bot.
type world struct {
	*simulator.Server
	t     *testing.T
	clock *clock
	ann   *simulator.Person
	ben   *simulator.Person
	ops   *simulator.Room // supergroup
	forum *simulator.Room
	api   *spec.API
	odd   bool // updates are injected that fit no description
}

// loadAPI reads the description of the Bot API, once for all tests.
var loadAPI = sync.OnceValues(func() (*spec.API, error) {
	data, err := os.ReadFile("data/bot-api.json")
	if err != nil {
		return nil, err
	}
	return spec.Load(data)
})

const (
	annID   = 1001
	benID   = 1002
	opsID   = -1001000000001
	forumID = -1001000000002
)

// noNetwork keeps webhooks of tests within the test.
type noNetwork struct{}

// RoundTrip implements http.RoundTripper.
func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no network in tests")
}

// newWorld makes a world on a held clock, in which Ann has started the bot.
func newWorld(t *testing.T, change ...func(*simulator.Options)) *world {
	t.Helper()
	c := &clock{now: epoch}
	options := simulator.Options{Now: c.Now, WebhookClient: &http.Client{Transport: noNetwork{}}}
	for _, f := range change {
		f(&options)
	}
	s := simulator.New(options)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	api, err := loadAPI()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Server: s, t: t, clock: c, api: api, ann: s.AddUser(annID, "Ann"), ben: s.AddUser(benID, "Ben")}
	w.ops = s.AddSupergroup(opsID, "Ops", w.ann, w.ben)
	w.forum = s.AddForum(forumID, "Forum", w.ann, w.ben)
	w.ann.Start()
	return w
}

// An answer is what a call came back with.
type answer struct {
	Status      int                   `json:"-"`
	Header      http.Header           `json:"-"`
	OK          bool                  `json:"ok"`
	Result      json.RawMessage       `json:"result"`
	ErrorCode   int                   `json:"error_code"`
	Description string                `json:"description"`
	Parameters  *simulator.Parameters `json:"parameters"`
}

// params are the parameters of a call, sent as JSON.
type params map[string]any

// try makes a call and returns whatever comes.
func (w *world) try(ctx context.Context, method string, p params) (answer, error) {
	body, err := json.Marshal(p)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.post(ctx, method, "application/json", body)
}

func (w *world) post(ctx context.Context, method, kind string, body []byte) (answer, error) {
	url := fmt.Sprintf("http://simulator/bot%s/%s", w.Token(), method)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	response, err := w.Client().Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	a := answer{Status: response.StatusCode, Header: response.Header}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return a, err
	}
	err = json.Unmarshal(content, &a)
	if err == nil && a.OK && !w.odd {
		w.checkResult(method, a.Result)
	}
	return a, err
}

// checkResult requires that the server keeps to the description of the Bot API itself.
func (w *world) checkResult(method string, result json.RawMessage) {
	w.t.Helper()
	name, _, _ := strings.Cut(method, "?")
	m, ok := w.api.Method(name)
	if !ok {
		w.t.Errorf("%s is answered but not described", method)
		return
	}
	if err := w.api.CheckResult(m, result); err != nil {
		w.t.Errorf("%s returns what it should not: %v\n%s", method, err, result)
	}
}

// call makes a call that must be answered with JSON, ok or not.
func (w *world) call(method string, p params) answer {
	w.t.Helper()
	a, err := w.try(w.t.Context(), method, p)
	if err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
	return a
}

// must makes a call that must succeed, and decodes its result.
func must[T any](w *world, method string, p params) T {
	w.t.Helper()
	a := w.call(method, p)
	if !a.OK {
		w.t.Fatalf("%s: %d %s", method, a.ErrorCode, a.Description)
	}
	var v T
	if err := json.Unmarshal(a.Result, &v); err != nil {
		w.t.Fatalf("%s: %v in %s", method, err, a.Result)
	}
	return v
}

// send posts a message of the bot.
func (w *world) send(chat int64, text string, more ...params) simulator.Message {
	w.t.Helper()
	p := params{"chat_id": chat, "text": text}
	for _, m := range more {
		for name, v := range m {
			p[name] = v
		}
	}
	return must[simulator.Message](w, "sendMessage", p)
}

// keyboard makes reply_markup of one row, each button with its text as data.
func keyboard(texts ...string) params {
	row := []params{}
	for _, text := range texts {
		row = append(row, params{"text": text, "callback_data": text})
	}
	return params{"reply_markup": params{"inline_keyboard": [][]params{row}}}
}

// An update is what the tests look at in one.
type update struct {
	ID            int64                    `json:"update_id"`
	Message       *simulator.Message       `json:"message"`
	EditedMessage *simulator.Message       `json:"edited_message"`
	ChannelPost   *simulator.Message       `json:"channel_post"`
	CallbackQuery *simulator.CallbackQuery `json:"callback_query"`
	MyChatMember  json.RawMessage          `json:"my_chat_member"`
	ChatMember    json.RawMessage          `json:"chat_member"`
}

// updates fetches what waits for the bot and confirms it. The clock moves on before, so
// that the poll is not taken for one that repeats another.
func (w *world) updates() []update {
	w.t.Helper()
	w.clock.Advance(4 * time.Second)
	list := must[[]update](w, "getUpdates", params{})
	if len(list) > 0 {
		w.call("getUpdates", params{"offset": list[len(list)-1].ID + 1})
	}
	return list
}

// texts are the texts of messages in updates.
func texts(list []update) []string {
	out := []string{}
	for _, u := range list {
		if u.Message != nil {
			out = append(out, u.Message.Text)
		}
	}
	return out
}
