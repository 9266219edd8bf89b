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
	"syscall"
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

// redisIsKilled kills the server while a runtime asks and an owner taps, and starts
// it again.
func (o *outage) redisIsKilled(fsync string) {
	o.must(o.db.client.ConfigSet(o.ctx, "appendfsync", fsync).Err())
	o.asks("c00001", approval.Halt)
	o.asks("c00002", approval.ToolCall)
	o.asks("c00003", approval.ToolCall)
	o.offers("c00001", cards.LetterAction)
	o.offers("c00002", cards.LetterReject)
	o.taps("c00003", cards.LetterReject)
	o.says("c00003", "Rejected by Ann") // so somebody listens

	acknowledged := make(chan []string)
	enough := make(chan struct{})
	go func() {
		var ids []string
		for n := 100; ; n++ {
			id := fmt.Sprintf("c%05d", n)
			if o.publish(id, approval.ToolCall) != nil {
				acknowledged <- ids
				return
			}
			if ids = append(ids, id); len(ids) == 30 {
				close(enough)
			}
		}
	}()
	<-enough
	o.db.kill()
	taken := <-acknowledged
	approve, reject := o.taps("c00001", cards.LetterAction), o.taps("c00002", cards.LetterReject)
	for _, tap := range []string{approve, reject} {
		if text := o.toast(tap); text != cards.ToastTrying {
			o.Errorf("while Redis was away a tap was answered %q", text)
		}
	}
	o.must(o.db.up(o.ctx))
	if fsync == "always" {
		entries, err := o.db.client.XRange(o.ctx, keyOf("requests"), "-", "+").Result()
		o.must(err)
		kept := map[string]bool{}
		for _, e := range entries {
			id, _, _ := strings.Cut(e.Values["id"].(string), "/")
			kept[id] = true
		}
		for _, id := range taken {
			if !kept[id] {
				o.Errorf("%s was acknowledged, and is gone", id)
			}
		}
	}
	o.must(o.db.client.XGroupDestroy(o.ctx, keyOf("requests"), "countersign").Err())
	o.says("c00001", "Approved by Ann")
	o.says("c00002", "Rejected by Ann")
	entries, err := o.db.client.XRange(o.ctx, keyOf("requests"), "-", "+").Result()
	o.must(err)
	for _, e := range entries {
		id, _, _ := strings.Cut(e.Values["id"].(string), "/")
		o.until(id+" has a row", func() bool {
			_, err := o.client.Row(o.ctx, id)
			return err == nil
		})
	}
	o.asks("c00900", approval.ToolCall)
	o.taps("c00900", cards.LetterReject)
	o.says("c00900", "Rejected by Ann")
	o.inLine()
	o.once("c00001", approval.Approved)
	o.once("c00002", approval.Rejected)
	o.once("c00900", approval.Rejected)
}

// staleReplica has a replica that was cut off take the primary's place: what was
// approved since is open again, and what was asked since is not there.
func (o *outage) staleReplica() {
	way, err := newCutter(o.db.addr)
	o.must(err)
	o.Cleanup(way.close)
	dir := filepath.Join(o.options.out, "replica")
	o.must(os.MkdirAll(dir, 0o700))
	replica, err := newDatabase(o.guardian, o.options.redis, dir, o.options.out)
	o.must(err)
	o.must(replica.up(o.ctx))
	o.must(o.db.client.ConfigSet(o.ctx, "repl-diskless-sync-delay", "0").Err())
	host, port, _ := strings.Cut(way.address(), ":")
	o.must(replica.client.Do(o.ctx, "replicaof", host, port).Err())

	o.asks("c00001", approval.Halt)
	o.asks("c00002", approval.Halt)
	o.offers("c00001", cards.LetterAction)
	o.offers("c00002", cards.LetterAction)
	copied, err := store.New(replica.client, store.Options{Namespace: namespace, Retention: storetest.Retention, Random: rand.Reader})
	o.must(err)
	o.until("the replica knows where both cards are", func() bool {
		for _, id := range []string{"c00001", "c00002"} {
			if r, err := copied.Read(o.ctx, id); err != nil || len(r.Cards) != 1 || r.Cards[0].Message == 0 {
				return false
			}
		}
		return true
	})
	way.set(cut)

	o.taps("c00001", cards.LetterAction)
	o.says("c00001", "Approved by Ann")
	o.asks("c00003", approval.Halt)
	lost := o.offers("c00003", cards.LetterAction)
	o.once("c00001", approval.Approved)

	old := o.db.database
	old.kill()
	o.must(replica.client.Do(o.ctx, "replicaof", "no", "one").Err())
	for _, b := range o.bots {
		b.cutter.lead(replica.addr)
	}
	o.must(old.client.Close())
	o.db.database = replica
	o.attach()

	o.sees("c00001", "that it is open again", func(m simulator.Message) bool { return button(m, cards.LetterAction) != "" })
	o.inLine()
	if text := o.toast(o.press(annID, lost, button(lost, cards.LetterAction), false)); text != cards.ToastUnknown {
		o.Errorf("a tap on what is gone was answered %q", text)
	}
	o.asks("c00003", approval.Halt) // its runtime reports it as unknown, and asks again
	o.until("c00003 is there", func() bool { _, err := o.client.Row(o.ctx, "c00003"); return err == nil })
	o.taps("c00001", cards.LetterAction)
	o.says("c00001", "Approved by Ann")
	o.taps("c00002", cards.LetterReject)
	o.says("c00002", "Rejected by Ann")
	o.inLine()
	o.once("c00001", approval.Approved)
	o.once("c00002", approval.Rejected)
}

// leaderIsPaused stops the leader in the middle of an edit for longer than its
// lease, and lets it go on when another has drawn the card since.
func (o *outage) leaderIsPaused() {
	o.asks("c00001", approval.ToolCall)
	o.asks("c00002", approval.Halt)
	o.offers("c00001", cards.LetterAction)
	o.offers("c00002", cards.LetterAction)
	first := o.db.leader(o.ctx)
	if first < 0 {
		o.Fatal("nobody leads")
	}
	// Its edit of the one card is taken at once, and answered once it is paused.
	slow := o.sim.Fault(simulator.Fault{Method: "editMessageText", Kind: simulator.Late, Delay: 2 * time.Second, Count: 1})
	o.taps("c00001", cards.LetterAction)
	o.offers("c00001", cards.LetterYes)
	o.bots[first].signal(syscall.SIGSTOP)
	o.until("another leads", func() bool { n := o.db.leader(o.ctx); return n >= 0 && n != first })
	slow.Remove()
	o.taps("c00002", cards.LetterAction)
	o.says("c00002", "Approved by Ann")
	o.taps("c00001", cards.LetterReject)
	o.says("c00001", "Rejected by Ann")
	sent := len(o.cardsOf("c00001")) + len(o.cardsOf("c00002"))

	o.bots[first].signal(syscall.SIGCONT)
	o.asks("c00003", approval.Halt)
	o.taps("c00003", cards.LetterAction)
	o.says("c00003", "Approved by Ann")
	// The woken one gives its signs of life again, and by then it has found out.
	o.until("the woken one stands by", func() bool {
		text, err := os.ReadFile(filepath.Join(o.options.out, fmt.Sprintf("bot-%d.log", first)))
		return err == nil && bytes.Contains(text, []byte("standing by"))
	})
	o.inLine()
	o.once("c00001", approval.Rejected)
	o.once("c00002", approval.Approved)
	o.once("c00003", approval.Approved)
	if n := len(o.cardsOf("c00001")) + len(o.cardsOf("c00002")); n != sent || sent != 2 {
		o.Errorf("%d cards before the leader went on, %d after, want 2", sent, n)
	}
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
