package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"countersign/cards"
	"countersign/queue"
	"countersign/simulator"
	"countersign/store/storetest"
)

// TestTwoProcesses has one owner's Yes and another's Reject arrive at the same
// instant at two processes of the program, by webhook, on one Redis: one answer
// each time, on both streams, and the card says which.
func TestTwoProcesses(t *testing.T) {
	for _, s := range storetest.Servers(t) {
		t.Run(s.Name(), func(t *testing.T) {
			w := newProcesses(t, s)
			won := map[string]int{}
			for round := range duelRounds {
				won[w.round(fmt.Sprintf("p-%d", round))]++
			}
			if won["approved"]+won["rejected"] != duelRounds {
				t.Errorf("%v, want %d approved or rejected", won, duelRounds)
			}
			t.Logf("%v", won)
		})
	}
}

// processes are two bots and a crossing before them, where taps can be held.
type processes struct {
	*stage
	ctx    context.Context
	server *storetest.Server
	hooks  [2]string

	mu   sync.Mutex // guards held
	held chan heldTap
}

// A heldTap waits at the crossing until it is let on.
type heldTap struct {
	letter byte
	let    chan struct{}
}

func newProcesses(t *testing.T, s *storetest.Server) *processes {
	w := &processes{stage: &stage{t: t, redis: s.Client()}, server: s}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	w.ctx = ctx
	crossing := httptest.NewServer(http.HandlerFunc(w.cross))
	t.Cleanup(crossing.Close)
	w.build(s.URL(), s.Namespace())
	for i := range w.hooks {
		w.hooks[i] = freeAddress(t)
	}
	for i := range w.hooks {
		w.spawn(i, crossing.URL+"/hook")
	}
	return w
}

// spawn starts one process and stops it at the end, by SIGTERM.
func (w *processes) spawn(i int, public string) {
	t := w.t
	t.Helper()
	file := filepath.Join(t.TempDir(), "bot.yaml")
	text := fmt.Sprintf(`
telegram:
  token: %q
  api_url: %q
  mode: webhook
  webhook: {public_url: %q, listen: %q}
  limits: {per_second: 0, chat_per_second: 0, group_per_minute: 0}
redis: {url: %q, namespace: %q}
people: [{id: %d, name: Ann, role: owner}, {id: %d, name: Olga, role: owner}]
routes: [{chats: [{id: %d}]}]
confirm: {dwell: 0s}
http: {listen: "127.0.0.1:0"}
log: {level: warn}
`, w.sim.Token(), w.url, public, w.hooks[i], w.cfg.Redis.URL.Reveal(), w.cfg.Redis.Namespace, annID, olgaID, teamID)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	ready, tell := io.Pipe()
	cmd := &exec.Cmd{
		Path: self, Args: []string{"countersign", "run", "--config", file, "--name", fmt.Sprintf("bot-%d", i)},
		Stdout: tell, Stderr: &out, Env: []string{"PATH=" + os.Getenv("PATH")},
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("bot %d: %v", i, err)
		}
		if t.Failed() {
			t.Logf("bot %d said: %s", i, out.String())
		}
	})
	line := make([]byte, 256)
	if n, err := ready.Read(line); err != nil || !strings.Contains(string(line[:n]), "ready") {
		t.Fatalf("bot %d said %q (%v)", i, line[:n], err)
	}
	go func() { _, _ = io.Copy(io.Discard, ready) }()
}

// freeAddress is an address that nobody listens on just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// cross passes an update on: a Reject to the second process, all else to the
// first; a tap that is waited for only when it is let.
func (w *processes) cross(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	var update struct {
		Callback struct{ Data string } `json:"callback_query"`
	}
	to := 0
	if json.Unmarshal(body, &update) == nil && update.Callback.Data != "" {
		letter := update.Callback.Data[0]
		if letter == cards.LetterReject {
			to = 1
		}
		w.mu.Lock()
		held := w.held
		w.mu.Unlock()
		if held != nil {
			tap := heldTap{letter: letter, let: make(chan struct{})}
			held <- tap
			<-tap.let
		}
	}
	on, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "http://"+w.hooks[to]+"/hook", bytes.NewReader(body))
	if err != nil {
		rw.WriteHeader(http.StatusInternalServerError)
		return
	}
	on.Header = r.Header.Clone()
	answer, err := http.DefaultClient.Do(on)
	if err != nil {
		rw.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	rw.WriteHeader(answer.StatusCode)
}

// round asks once, has Ann confirming, and lets Yes and Reject on together.
func (w *processes) round(id string) string {
	t := w.t
	t.Helper()
	data := fmt.Sprintf(`{"approval_id":%q,"tool":"x","arguments":{},"card":{"title":"Do %s"}}`, id, id)
	pending, err := w.client.Request(w.ctx, queue.Request{Data: json.RawMessage(data)})
	if err != nil {
		t.Fatal(err)
	}
	card, err := w.sim.WaitMessage(w.ctx, teamID, func(m simulator.Message) bool { return strings.Contains(m.Text, "Do "+id+"\n") })
	if err != nil {
		t.Fatal(err)
	}
	w.ann.TapData(card, dataOf(card, cards.LetterAction))
	card, err = w.sim.WaitEdit(w.ctx, card, func(m simulator.Message) bool { return dataOf(m, cards.LetterYes) != "" })
	if err != nil {
		t.Fatal(err)
	}
	w.awaitShown(id)

	held := make(chan heldTap, 2)
	w.hold(held)
	w.ann.TapData(card, dataOf(card, cards.LetterYes))
	w.olga.TapData(card, dataOf(card, cards.LetterReject))
	first, second := <-held, <-held
	w.hold(nil)
	close(first.let)
	close(second.let)

	answer, err := w.client.Await(w.ctx, pending)
	if err != nil {
		t.Fatal(err)
	}
	decision := string(answer.Decision)
	if _, err := w.sim.WaitEdit(w.ctx, card, func(m simulator.Message) bool {
		badge, _, _ := strings.Cut(strings.ToLower(m.Text), "\n")
		return strings.Contains(badge, decision+" by")
	}); err != nil {
		t.Fatalf("%s was %s: %v", id, decision, err)
	}
	for _, stream := range []string{w.server.Keys().Answer(id), w.server.Keys().Answers()} {
		entries, err := w.redis.XRange(w.ctx, stream, "-", "+").Result()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range entries {
			if e.Values["subject"] == id {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("%s has %d answers on %s", id, n, stream)
		}
	}
	return decision
}

func (w *processes) hold(held chan heldTap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = held
}

// awaitShown waits until the bot knows that the card shows the step.
func (w *processes) awaitShown(id string) {
	w.t.Helper()
	for {
		shown, err := w.redis.HExists(w.ctx, w.server.Keys().Prefix()+"bot:approval:"+id, "step_shown").Result()
		if err != nil {
			w.t.Fatal(err)
		}
		if shown {
			return
		}
		if !wait(w.ctx, time.Millisecond) {
			w.t.Fatalf("the step of %s is not shown", id)
		}
	}
}

// dataOf is the data of the button with a letter, "" where there is none.
func dataOf(m simulator.Message, letter byte) string {
	if m.ReplyMarkup == nil {
		return ""
	}
	for _, row := range m.ReplyMarkup.Rows {
		for _, b := range row {
			if b.CallbackData[0] == letter {
				return b.CallbackData
			}
		}
	}
	return ""
}
