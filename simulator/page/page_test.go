package page_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/simulator"
	"countersign/simulator/page"
)

const (
	annID  = 1001
	benID  = 1002
	evaID  = 1003 // has an account, but is nobody to choose
	teamID = -1001000000001
)

// runtimes is a program's side as a test writes it.
type runtimes struct {
	mu      sync.Mutex // guards everything below
	pressed []string
	entries []page.Entry
	news    chan struct{}
	fails   error // what Press returns
}

func (r *runtimes) People() []page.Person {
	return []page.Person{{ID: annID, Name: "Ann", Role: "owner"}, {ID: benID, Name: "Ben", Role: "reader"}}
}

func (r *runtimes) Samples() []page.Sample {
	return []page.Sample{{Name: "trash", Title: "Trash 3 emails", Hint: "Deletes data."}}
}

func (r *runtimes) Press(_ context.Context, sample string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pressed = append(r.pressed, sample)
	return r.fails
}

func (r *runtimes) Log(after uint64) ([]page.Entry, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries[min(after, uint64(len(r.entries))):], r.news
}

// note adds an entry.
func (r *runtimes) note(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, page.Entry{Seq: uint64(len(r.entries)) + 1, Step: step, Sample: "Trash 3 emails"})
	close(r.news)
	r.news = make(chan struct{})
}

// A stage is a page over a simulator with three people and a group.
type stage struct {
	t        testing.TB
	sim      *simulator.Server
	ann, ben *simulator.Person
	runtimes *runtimes
	handler  http.Handler
}

func newStage(t testing.TB) *stage {
	t.Helper()
	s := &stage{t: t, runtimes: &runtimes{news: make(chan struct{})}}
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.sim = simulator.New(simulator.Options{Now: func() time.Time { return clock }})
	t.Cleanup(func() { _ = s.sim.Close() })
	s.ann, s.ben = s.sim.AddUser(annID, "Ann"), s.sim.AddUser(benID, "Ben")
	s.sim.AddUser(evaID, "Eva").Start()
	s.ann.Start()
	s.ben.Start()
	s.sim.AddSupergroup(teamID, "Team", s.ann)
	s.handler = page.New(s.sim, s.runtimes, nil)
	return s
}

// bot calls a method of the Bot API, as the bot.
func (s *stage) bot(method string, params map[string]any) {
	s.t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := s.sim.Client().Post("http://api/bot"+s.sim.Token()+"/"+method, "application/json", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	answer, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s %v", method, r.StatusCode, answer, err)
	}
}

// ask sends a message with one row of buttons, as the bot; each has its text as its data.
func (s *stage) ask(chat int64, text string, buttons ...string) {
	s.t.Helper()
	var row []map[string]any
	for _, b := range buttons {
		row = append(row, map[string]any{"text": b, "callback_data": b})
	}
	s.bot("sendMessage", map[string]any{
		"chat_id": chat, "text": text, "reply_markup": map[string]any{"inline_keyboard": [][]map[string]any{row}},
	})
}

// upload sends Ann a document, as the bot.
func (s *stage) upload(name, content string) {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("chat_id", "1001")
	part, err := form.CreateFormFile("document", name)
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = part.Write([]byte(content))
	_ = form.Close()
	r, err := s.sim.Client().Post("http://api/bot"+s.sim.Token()+"/sendDocument", form.FormDataContentType(), &body)
	if err != nil || r.StatusCode != http.StatusOK {
		s.t.Fatalf("upload: %v %v", r, err)
	}
	_ = r.Body.Close()
}

// do serves one request. A POST gets a JSON body as the page sends it.
func (s *stage) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "http://127.0.0.1:8080")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// An event is one of a stream.
type event struct {
	Kind, ID string
	Data     json.RawMessage
}

// follow opens a stream over a real connection. next returns the event that comes then.
func (s *stage) follow(target, lastID string) (next func() event, leave func()) {
	s.t.Helper()
	server := httptest.NewServer(s.handler)
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+target, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream" {
		s.t.Fatalf("a stream of %q, status %d", got, answer.StatusCode)
	}
	lines := bufio.NewReader(answer.Body)
	next = func() event {
		s.t.Helper()
		var e event
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				s.t.Fatalf("the stream ended: %v", err)
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "event":
				e.Kind = value
			case "id":
				e.ID = value
			case "data":
				e.Data = json.RawMessage(value)
			case "":
				if e.Kind != "" {
					return e
				}
			}
		}
	}
	leave = func() {
		cancel()
		_ = answer.Body.Close()
		server.Close()
	}
	s.t.Cleanup(leave)
	return next, leave
}

// read decodes JSON of which only some is looked at.
func read[T any](t testing.TB, data []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}
