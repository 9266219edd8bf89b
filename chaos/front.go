package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"countersign/chaos/verdict"
	"countersign/simulator"
)

// A front is the door of the Bot API through which one bot calls, so that the log
// says which bot called, and whether it was told what came of it. By webhook it
// is the crossing as well, which hands updates to any bot that listens.
type front struct {
	sim *simulator.Server

	mu    sync.Mutex // guards calls
	calls []verdict.Call
}

// door is where bot n calls.
func (f *front) door(n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		call := read(n, r, body)
		told := &listener{ResponseWriter: w}
		call.From = time.Now()
		defer func() {
			call.Until = time.Now()
			call.OK = told.ok() && r.Context().Err() == nil
			if call.OK {
				call.learn(told.body.Bytes())
			}
			f.keep(call.Call)
		}()
		f.sim.ServeHTTP(told, r)
	})
}

func (f *front) keep(c verdict.Call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, c)
}

// log is every call so far.
func (f *front) log() []verdict.Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]verdict.Call(nil), f.calls...)
}

// A reading is a call as it comes in.
type reading struct{ verdict.Call }

func read(bot int, r *http.Request, body []byte) *reading {
	_, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	c := &reading{verdict.Call{Bot: bot, Method: method}}
	var p struct {
		Chat     json.Number         `json:"chat_id"`
		Message  int64               `json:"message_id"`
		Text     string              `json:"text"`
		Markup   *simulator.Keyboard `json:"reply_markup"`
		Callback string              `json:"callback_query_id"`
	}
	if json.Unmarshal(body, &p) != nil {
		return c
	}
	c.Chat, _ = p.Chat.Int64()
	c.Message, c.Callback = p.Message, p.Callback
	if method != "sendMessage" && method != "editMessageText" {
		return c
	}
	c.Buttons = buttons(p.Markup)
	c.Approval, c.Kind, c.Badge = describe(plain(p.Text), c.Buttons)
	return c
}

// learn takes from the answer what the call came to.
func (c *reading) learn(answer []byte) {
	switch c.Method {
	case "sendMessage":
		var a struct {
			Result struct {
				ID int64 `json:"message_id"`
			}
		}
		if json.Unmarshal(answer, &a) == nil {
			c.Message = a.Result.ID
		}
	case "getUpdates":
		var a struct {
			Result []struct {
				Callback struct{ ID string } `json:"callback_query"`
			}
		}
		if json.Unmarshal(answer, &a) == nil {
			for _, u := range a.Result {
				if u.Callback.ID != "" {
					c.Carried = append(c.Carried, u.Callback.ID)
				}
			}
		}
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// plain is the text of what is sent as HTML.
func plain(s string) string { return html.UnescapeString(tag.ReplaceAllString(s, "")) }

// buttons are the callback data of a keyboard.
func buttons(k *simulator.Keyboard) []string {
	if k == nil {
		return nil
	}
	var all []string
	for _, row := range k.Rows {
		for _, b := range row {
			all = append(all, b.CallbackData)
		}
	}
	return all
}

// describe says what a message of the bot is.
func describe(text string, buttons []string) (id, kind, badge string) {
	badge, _, _ = strings.Cut(text, "\n")
	id = verdict.ApprovalIn(text)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(badge, w) {
				return true
			}
		}
		return false
	}
	switch {
	case strings.Contains(badge, "approvals lapsed unanswered"):
		return "", verdict.AShared, badge
	case len(buttons) > 0, has("Deletes data", "Acts for you", "Halted", "Approved by ", "Rejected by ", "Lapsed ·", "Withdrawn ·", "Refused ·", "Shown again below"):
		kind = verdict.ACard
	case strings.HasPrefix(badge, "⌛ ") && strings.Contains(text, "lapsed unanswered"):
		kind = verdict.ANotice
	case strings.HasPrefix(badge, "⏰ "):
		kind = verdict.AReminder
	default:
		kind = verdict.AWord
	}
	return id, kind, badge
}

// A listener hears what a bot is told.
type listener struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
	failed bool
}

func (l *listener) WriteHeader(status int) {
	l.status = status
	l.ResponseWriter.WriteHeader(status)
}

func (l *listener) Write(p []byte) (int, error) {
	l.body.Write(p)
	n, err := l.ResponseWriter.Write(p)
	if err != nil {
		l.failed = true
	}
	return n, err
}

// Unwrap lets a response controller flush and hijack.
func (l *listener) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// ok reports whether the bot was told that it was done.
func (l *listener) ok() bool {
	var answer struct{ OK bool }
	return (l.status == 0 || l.status == http.StatusOK) && !l.failed &&
		json.Unmarshal(l.body.Bytes(), &answer) == nil && answer.OK
}

// crossing hands each webhook delivery to one of the bots, in turn, and to the
// next where nobody listens. odd says what else happens to a delivery.
func (f *front) crossing(hooks []string, odd func() oddity) http.Handler {
	var mu sync.Mutex
	next := 0
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{
		DialContext: (&net.Dialer{Timeout: time.Second}).DialContext, DisableKeepAlives: true,
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		mu.Lock()
		at := next
		next++
		mu.Unlock()
		what := odd()
		status := http.StatusBadGateway
		for i := range hooks {
			if status = f.hand(r, client, (at+i)%len(hooks), hooks, body); status != http.StatusBadGateway {
				break
			}
		}
		if what == deliveredTwice {
			_ = f.hand(r, client, (at+1)%len(hooks), hooks, body)
		}
		if what == answerLost {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
	})
}

// An oddity is what may happen to a delivery beside that it is delivered.
type oddity int

const (
	nothingOdd oddity = iota
	deliveredTwice
	answerLost // so that it is delivered again
)

// hand hands a delivery to one bot and returns its status, that of a bad gateway
// where it cannot be reached.
func (f *front) hand(r *http.Request, client *http.Client, n int, hooks []string, body []byte) int {
	var u struct {
		Callback struct{ ID string } `json:"callback_query"`
	}
	call := verdict.Call{Bot: n, Method: "webhook", From: time.Now()}
	if json.Unmarshal(body, &u) == nil && u.Callback.ID != "" {
		call.Carried = []string{u.Callback.ID}
	}
	on, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "http://"+hooks[n]+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return http.StatusInternalServerError
	}
	on.Header = r.Header.Clone()
	answer, err := client.Do(on)
	if err != nil {
		var dial *net.OpError
		if asDial(err, &dial) {
			return http.StatusBadGateway
		}
		call.Until = time.Now()
		f.keep(call) // it may have got there
		return http.StatusBadGateway
	}
	_ = answer.Body.Close()
	call.Until, call.OK = time.Now(), answer.StatusCode == http.StatusOK
	f.keep(call)
	return answer.StatusCode
}

// asDial reports whether an error says that nobody could be reached.
func asDial(err error, op **net.OpError) bool { return errors.As(err, op) && (*op).Op == "dial" }
