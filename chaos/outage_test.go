package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/chaos/verdict"
	"countersign/queue"
	"countersign/simulator"
	"countersign/store"
	"countersign/store/storetest"
)

// TestOutages runs two real processes on a real server, and takes from them what
// they stand on, one thing at a time.
func TestOutages(t *testing.T) {
	t.Parallel()
	if storetest.Real(t) == nil {
		return // none is required, or Real would have failed
	}
	program := filepath.Join(t.TempDir(), "countersign")
	watchSources(t)
	if out, err := exec.Command("go", "build", "-o", program, "countersign/cmd/bot").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, happens := range map[string]func(*outage){
		"Redis is killed, always on disk":       func(o *outage) { o.redisIsKilled("always") },
		"Redis is killed, on disk every second": func(o *outage) { o.redisIsKilled("everysec") },
		"a stale replica takes over":            (*outage).staleReplica,
		"the leader is paused":                  (*outage).leaderIsPaused,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			happens(newOutage(t, program))
		})
	}
}

// watchSources looks at every folder of the program, so that go test does not take an
// earlier result for that of a program that has changed since.
func watchSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An outage is a run of two bots, with nobody else in it.
type outage struct {
	*run
	*testing.T
	ctx   context.Context
	store *store.Store
}

func newOutage(t *testing.T, program string) *outage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	redis, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	r, err := newRun(ctx, options{bots: 2, redis: redis, bot: program, out: out})
	if r != nil {
		t.Cleanup(r.close)
	}
	if err != nil {
		t.Fatal(err)
	}
	go r.hub.follow(ctx)
	o := &outage{run: r, T: t, ctx: ctx}
	o.attach()
	t.Cleanup(func() {
		r.readLogs()
		for _, line := range r.said {
			t.Error(line)
		}
		if t.Failed() {
			o.tellLogs()
		}
	})
	return o
}

// attach looks at the present server.
func (o *outage) attach() {
	o.Helper()
	var err error
	o.store, err = store.New(o.db.client, store.Options{Namespace: namespace, Retention: storetest.Retention, Random: rand.Reader})
	o.must(err)
	o.client = queue.NewClient(o.db.client, namespace, queue.WithStream(keyOf("requests")))
}

func (o *outage) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

// tellLogs shows how the bots' logs end.
func (o *outage) tellLogs() {
	for n := range o.bots {
		text, _ := os.ReadFile(filepath.Join(o.options.out, fmt.Sprintf("bot-%d.log", n)))
		lines := bytes.Split(text, []byte("\n"))
		o.Logf("bot-%d:\n%s", n, bytes.Join(lines[max(0, len(lines)-25):], []byte("\n")))
	}
}

// publish asks once for a halt or a call.
func (o *outage) publish(id string, kind approval.Kind) error {
	a := queue.Ask{ID: id, Kind: kind, Runtime: "ann", Card: queue.AskCard{Title: "Stop " + id, Summary: "It goes in circles."}}
	if kind == approval.ToolCall {
		a.Tool, a.Arguments, a.Card = "trash_email", []byte(`{"id":1}`), queue.AskCard{Title: "Trash " + id, Lines: []string{"One"}}
	}
	request, err := a.Request()
	if err != nil {
		return err
	}
	_, err = o.client.Request(o.ctx, request)
	return err
}

// asks asks until Redis has taken it.
func (o *outage) asks(id string, kind approval.Kind) {
	o.Helper()
	o.until("asked for "+id, func() bool { return o.publish(id, kind) == nil })
}

// until waits for something to become true.
func (o *outage) until(what string, so func() bool) {
	o.Helper()
	for !so() {
		if !pause(o.ctx, 20*time.Millisecond) {
			o.Fatalf("never: %s", what)
		}
	}
}

// sees waits for a message about an approval.
func (o *outage) sees(id, what string, fits func(simulator.Message) bool) simulator.Message {
	o.Helper()
	m, ok := o.hub.find(o.ctx, id, time.Minute, fits)
	if !ok {
		o.Fatalf("of %s nobody sees: %s", id, what)
	}
	return m
}

// offers waits for a button.
func (o *outage) offers(id string, letter byte) simulator.Message {
	o.Helper()
	return o.sees(id, "the button "+string(letter), func(m simulator.Message) bool { return button(m, letter) != "" })
}

// says waits for words on a card.
func (o *outage) says(id, words string) {
	o.Helper()
	o.sees(id, words, func(m simulator.Message) bool { return strings.Contains(m.Text, words) })
}

// taps has Ann tap a button, and returns the tap.
func (o *outage) taps(id string, letter byte) string {
	o.Helper()
	m := o.offers(id, letter)
	tap := o.press(annID, m, button(m, letter), false)
	if tap == "" {
		o.Fatalf("%s has no button %c any more", id, letter)
	}
	return tap
}

// toast waits for the answer to a tap.
func (o *outage) toast(tap string) string {
	o.Helper()
	if !o.hub.toast(o.ctx, tap, time.Minute) {
		o.Fatal("a tap was not answered")
	}
	a, _ := o.sim.Answer(tap)
	return a.Text
}

// once wants one answer on both streams.
func (o *outage) once(id string, want approval.State) {
	o.Helper()
	r, err := o.store.Read(o.ctx, id)
	o.must(err)
	if r.Row == nil || r.Row.State != want {
		o.Fatalf("%s is %+v, want %s", id, r.Row, want)
	}
	for _, stream := range []string{keyOf("answers"), keyOf("answer", id)} {
		entries, err := o.db.client.XRange(o.ctx, stream, "-", "+").Result()
		o.must(err)
		n := 0
		for _, e := range entries {
			if e.Values["subject"] == id && e.Values["type"] == "approval.answered" {
				n++
			}
		}
		if n != 1 {
			o.Errorf("%d answers to %s on %s", n, id, stream)
		}
	}
}

// inLine waits until every card that the bot knows of says what its row says, with
// the buttons that go with it, with no further input.
func (o *outage) inLine() {
	o.Helper()
	rows, err := o.db.client.Keys(o.ctx, keyOf("row", "*")).Result()
	o.must(err)
	for _, key := range rows {
		id := strings.TrimPrefix(key, keyOf("row", ""))
		why := ""
		o.until(id+" has a card in line", func() bool {
			r, err := o.store.Read(o.ctx, id)
			why = o.astray(r, err)
			return why == "" || o.ctx.Err() != nil
		})
		if why != "" {
			o.Errorf("%s: %s", id, why)
		}
	}
}

// astray says what of an approval's cards is not as its row is.
func (o *outage) astray(r *store.Reading, err error) string {
	if err != nil {
		return err.Error()
	}
	known := 0
	for _, c := range r.Cards {
		m, ok := o.sim.Message(c.Chat, int64(c.Message))
		if !ok {
			return fmt.Sprintf("message %d of chat %d never was", c.Message, c.Chat)
		}
		known++
		first, _, _ := strings.Cut(m.Text, "\n")
		decides := button(m, cards.LetterReject) != ""
		if ended := outcome.MatchString(first); ended == (r.Row.State == approval.Open) || decides != (r.Row.State == approval.Open) {
			return fmt.Sprintf("it is %s, and a card says %q, with a way to reject: %v", r.Row.State, first, decides)
		}
	}
	if known == 0 {
		return "it has no card"
	}
	return ""
}

// cardsOf are the cards about an approval that were ever sent.
func (o *outage) cardsOf(id string) (all []verdict.Message) {
	for _, m := range o.hub.messages() {
		if m.Approval == id && m.Kind == verdict.ACard {
			all = append(all, m)
		}
	}
	return all
}
