//go:build !race

// The race detector would take minutes, and meets the same code in other tests.

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/rs/zerolog"

	"countersign/simulator"
)

// keepsSecret fails where a text shows a token, in one of the forms it may take,
// or its secret part alone.
func keepsSecret(t testing.TB, where, token, text string) {
	t.Helper()
	_, secret, _ := strings.Cut(token, ":")
	for _, form := range []string{
		token, url.QueryEscape(token), secret,
		base64.StdEncoding.EncodeToString([]byte(token)), strings.TrimSuffix(fmt.Sprintf("%q", token), `"`)[1:],
	} {
		if i := strings.Index(text, form); i >= 0 {
			t.Errorf("%s shows the token: …%s…", where, text[max(0, i-80):min(len(text), i+80)])
			return
		}
	}
}

// shown is everything that a bot has shown so far to anybody.
func (r *running) shown() map[string]string {
	w := r.w
	w.Helper()
	all := map[string]string{}
	var log strings.Builder
	for _, line := range w.log.all() {
		log.WriteString(line.text)
	}
	all["the log"] = log.String()
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		page := httptest.NewRecorder()
		r.health.handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, path, nil))
		all[path] = page.Body.String()
	}
	all["Redis"] = w.kept()
	var said strings.Builder
	for _, c := range w.sim.Calls() {
		params, err := json.Marshal(c.Params)
		w.ok(err)
		fmt.Fprintln(&said, c.Method, string(params))
	}
	all["what Telegram was told"] = said.String()
	var stands strings.Builder
	for _, chat := range []int64{annID, olgaID, teamID} {
		text, err := json.Marshal(w.sim.Messages(chat))
		w.ok(err)
		stands.Write(text)
	}
	all["a chat"] = stands.String()
	return all
}

// kept is all that is in Redis, keys and values.
func (w *bubble) kept() string {
	w.Helper()
	ctx := context.Background()
	var all strings.Builder
	keys, err := w.rdb.Keys(ctx, "*").Result()
	w.ok(err)
	for _, key := range keys {
		kind, err := w.rdb.Type(ctx, key).Result()
		w.ok(err)
		var value any
		switch kind {
		case "string":
			value, err = w.rdb.Get(ctx, key).Result()
		case "hash":
			value, err = w.rdb.HGetAll(ctx, key).Result()
		case "list":
			value, err = w.rdb.LRange(ctx, key, 0, -1).Result()
		case "set":
			value, err = w.rdb.SMembers(ctx, key).Result()
		case "zset":
			value, err = w.rdb.ZRange(ctx, key, 0, -1).Result()
		case "stream":
			value, err = w.rdb.XRange(ctx, key, "-", "+").Result()
		default:
			w.Fatalf("%s is a %s, which nobody looks into", key, kind)
		}
		w.ok(err)
		fmt.Fprintln(&all, key, value)
	}
	return all.String()
}

// echoing fails each call, while it is on, with an error that names the address.
type echoing struct {
	next http.RoundTripper
	mu   sync.Mutex // guards on
	on   bool
}

func (e *echoing) turn(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.on = on
}

// RoundTrip implements http.RoundTripper.
func (e *echoing) RoundTrip(r *http.Request) (*http.Response, error) {
	e.mu.Lock()
	on := e.on
	e.mu.Unlock()
	if on {
		return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: fmt.Errorf("proxy cannot reach %s", r.URL)}
	}
	return e.next.RoundTrip(r)
}

// TestTheTokenAppearsNowhere has every kind of fault strike every call for
// minutes, with words that repeat the address of the call, which holds the token.
// It then looks through all that the bot has shown and kept.
func TestTheTokenAppearsNowhere(t *testing.T) {
	t.Parallel()
	const path = "/bot7000000:test-token/sendMessage"
	faults := map[string]*simulator.Fault{
		"no fault":   nil,
		"the error":  nil, // of the connection
		"NotOK":      {Kind: simulator.NotOK, Code: 500, Description: "cannot " + path},
		"BadGateway": {Kind: simulator.BadGateway},
		"CutJSON":    {Kind: simulator.CutJSON},
		"Reset":      {Kind: simulator.Reset},
		"Applied":    {Kind: simulator.Reset, Applied: true},
		"Hang":       {Kind: simulator.Hang},
		"SlowBody":   {Kind: simulator.SlowBody, Delay: time.Minute},
		"Redirect":   {Kind: simulator.Redirect, Location: "http://elsewhere.invalid" + path},
		"Late":       {Kind: simulator.Late, Delay: time.Minute},
		"Slow":       {Kind: simulator.Slow, Delay: time.Minute},
	}
	for _, code := range []int{400, 401, 403, 404, 409, 421, 429, 500} {
		faults[fmt.Sprint("Fail ", code)] = &simulator.Fault{Code: code, Description: "Bad Request: can't parse entities at " + path}
	}
	faults["Fail 400, chat"] = &simulator.Fault{Code: 400, Description: "Bad Request: chat not found: " + path}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *bubble) {
				broken := &echoing{}
				l := &life{}
				r := w.run("one", l, func(o *AppOptions) {
					o.Log = zerolog.New(w.log).Level(zerolog.DebugLevel)
					broken.next, o.HTTP.Transport = o.HTTP.Transport, broken
				})
				look := func() {
					for where, text := range r.shown() {
						keepsSecret(t, where, w.sim.Token(), text)
					}
				}
				w.ask("a1", "both", time.Hour)
				m := w.has(10*time.Second, annID, "a1", "Trash it")
				broken.turn(name == "the error")
				var given *simulator.FaultHandle
				if fault != nil {
					given = w.sim.Fault(*fault)
				}
				w.ann.Tap(m, "Trash it")
				w.ask("a2", "iris", time.Hour)
				w.ask("a3", "both", 30*time.Second)
				w.pass(time.Minute)
				look()
				w.pass(time.Minute)
				broken.turn(false)
				if given != nil {
					given.Remove()
				}
				w.pass(2 * time.Minute)
				look()
				select {
				case err := <-r.done: // the token was refused
					keepsSecret(t, "the error", w.sim.Token(), fmt.Sprintf("%v %+v %#v", err, err, err))
					if err == nil || !strings.Contains(err.Error(), "@BotFather") {
						t.Errorf("the bot ended with %v", err)
					}
					r.cancel()
					r.cancel = nil
					w.ok(r.Close())
				default:
				}
				if text := r.shown()["Redis"]; !strings.Contains(text, "a1") {
					t.Errorf("nothing of Redis was looked through: %s", text)
				}
			})
		})
	}
}

// secretToken looks like a real one.
const secretToken = "7000000:AAFo-secret_Part_of-a_Token_0123456"

// buffer takes what a program prints. It is safe for concurrent use.
type buffer struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write keeps what is printed.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// runs runs the program with a token against a server, until it ends by itself or
// the server says that it has seen enough, and returns what it printed.
func runs(t *testing.T, token, server, format string, enough <-chan struct{}) (code int, printed string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "operator.yaml")
	quoted, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("telegram: {token: %s, api_url: %q}\nredis: {url: %q}\npeople: [{id: 1001, name: Ann, role: owner}]\n"+
		"http: {listen: \"127.0.0.1:0\"}\nlog: {level: debug, format: %s}\n",
		quoted, server, "redis://"+miniredis.RunT(t).Addr(), format)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out buffer
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, world{args: []string{"run", "--config", file, "--name", "one"}, stdin: strings.NewReader(""), stdout: &out, stderr: &out})
	}()
	select {
	case code = <-done:
	case <-enough:
		cancel()
		code = <-done
	}
	return code, out.String()
}

// TestTheTokenIsNotPrinted runs the program with tokens and servers that are bad
// in every way that has printed a token somewhere.
func TestTheTokenIsNotPrinted(t *testing.T) {
	t.Parallel()
	_, secret, _ := strings.Cut(secretToken, ":")
	for name, token := range map[string]string{
		"with a newline": secretToken + "\nx", "with a newline at its end": secretToken + "\n", "with a space": secretToken + " x",
		"without its number": secret, "with a slash": secretToken + "/x", "with a control character": secretToken + "\x7f",
		"with bot before it": "bot" + secretToken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, printed := runs(t, token, "http://127.0.0.1:1", "json", nil)
			if code != exitUsage && code != exitNotDone || printed == "" {
				t.Errorf("exit %d, %q; want it not to start, and to say why", code, printed)
			}
			keepsSecret(t, "the program", secretToken, printed)
		})
	}
	for name, answer := range map[string]http.HandlerFunc{
		"unauthorized": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"ok":false,"error_code":401,"description":"Unauthorized: %s"}`, r.URL.Path)
		},
		"echoes in JSON": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintf(w, `{"ok":false,"error_code":409,"description":"Conflict: %s %s"}`, r.URL.Path, url.QueryEscape(r.URL.Path))
		},
		"echoes in a page": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprintf(w, "<p>cannot POST %s</p>", r.URL.Path)
		},
		"echoes as a result": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"ok":true,"result":%q}`, r.URL.Path)
		},
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.invalid"+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"breaks off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"is no HTTP": func(w http.ResponseWriter, r *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			fmt.Fprintf(c, "what is %s?\r\n\r\n", r.URL.Path)
			_ = c.Close()
		},
	} {
		for _, format := range []string{"json", "console"} {
			t.Run("server that "+name+", "+format, func(t *testing.T) {
				t.Parallel()
				enough, calls := make(chan struct{}), 0
				var mu sync.Mutex // guards calls
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					if calls++; calls == 6 {
						close(enough)
					}
					mu.Unlock()
					answer(w, r)
				}))
				defer server.Close()
				code, printed := runs(t, secretToken, server.URL, format, enough)
				keepsSecret(t, "the program", secretToken, printed)
				if name == "unauthorized" && (code == exitDone || !strings.Contains(printed, "BotFather")) {
					t.Errorf("exit %d, %q; want words about the token", code, printed)
				}
				if !strings.Contains(printed, "Telegram") && !strings.Contains(printed, "telegram") {
					t.Errorf("nothing was said: %q", printed)
				}
			})
		}
	}
}
