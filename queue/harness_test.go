package queue_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/queue"
	"countersign/store"
	"countersign/store/storetest"
)

// A bench is an intake on one server, and what a runtime and an operator do
// around it.
type bench struct {
	*storetest.Server
	t      testing.TB
	store  *store.Store
	intake *queue.Intake
	client *queue.Client
	log    *lines
	count  *counter
	router *router
}

func newBench(t testing.TB, s *storetest.Server, changes ...func(*queue.IntakeConfig)) *bench {
	t.Helper()
	b := &bench{
		Server: s, t: t, store: storetest.NewStore(t, s), log: &lines{}, count: &counter{},
		router: &router{route: queue.Route{
			Chats: []approval.Chat{{ID: storetest.Ann}}, Owners: []int64{storetest.Ann, storetest.Ben}, Quorum: 1,
		}},
		client: queue.NewClient(s.Client(), s.Namespace(), queue.WithSlice(5*time.Millisecond)),
	}
	b.intake = b.newIntake("one", changes...)
	return b
}

// config is a good one.
func (b *bench) config(consumer string) queue.IntakeConfig {
	return queue.IntakeConfig{
		Redis: b.Bot(), Store: b.store, Namespace: b.Namespace(), Consumer: consumer,
		Router: func() queue.Router { return b.router },
		Durations: func() approval.Durations {
			return approval.Durations{ToolCall: time.Hour, Halt: 10 * time.Minute, Max: 7 * 24 * time.Hour}
		},
		Remind: func() time.Duration { return 10 * time.Minute },
		Owners: func() []int64 { return []int64{storetest.Ann, storetest.Ben} },
		Glob:   glob,
		Count:  b.count.add, Retention: storetest.Retention, Log: zerolog.New(b.log),
	}
}

func (b *bench) newIntake(consumer string, changes ...func(*queue.IntakeConfig)) *queue.Intake {
	b.t.Helper()
	cfg := b.config(consumer)
	for _, change := range changes {
		change(&cfg)
	}
	in, err := queue.NewIntake(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	return in
}

// glob stands for the configuration's: a * at the end is any text.
func glob(pattern, s string) bool {
	if n := len(pattern) - 1; n >= 0 && pattern[n] == '*' {
		return len(s) >= n && s[:n] == pattern[:n]
	}
	return pattern == s
}

// add puts fields on the default stream.
func (b *bench) add(fields ...any) string { return b.addTo(b.Keys().Requests(), "*", fields...) }

func (b *bench) addTo(stream, id string, fields ...any) string {
	b.t.Helper()
	id, err := b.Client().XAdd(b.t.Context(), &redis.XAddArgs{Stream: stream, ID: id, Values: fields}).Result()
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

func (b *bench) request(id string, options ...storetest.Option) {
	b.t.Helper()
	b.add("type", "approval.requested", "data", storetest.Request(id, options...))
}

// step does one round and fails on an error.
func (b *bench) step() int {
	b.t.Helper()
	n, err := b.intake.Step(b.t.Context())
	if err != nil {
		b.t.Fatalf("step: %v", err)
	}
	return n
}

func (b *bench) row(id string) *approval.Row {
	b.t.Helper()
	return storetest.Read(b.t, b.store, id).Row
}

func (b *bench) state(id string) approval.State {
	b.t.Helper()
	if r := b.row(id); r != nil {
		return r.State
	}
	return ""
}

// dead lists the reasons in the dead stream.
func (b *bench) dead() []string {
	b.t.Helper()
	entries, err := b.Client().XRange(b.t.Context(), b.Keys().Dead(), "-", "+").Result()
	if err != nil {
		b.t.Fatal(err)
	}
	var reasons []string
	for _, e := range entries {
		reasons = append(reasons, e.Values["reason"].(string))
	}
	return reasons
}

// answers counts the answers to an approval, or to all if id is "".
func (b *bench) answers(id string) int {
	b.t.Helper()
	key := b.Keys().Answers()
	if id != "" {
		key = b.Keys().Answer(id)
	}
	n, err := b.Client().XLen(b.t.Context(), key).Result()
	if err != nil {
		b.t.Fatal(err)
	}
	return int(n)
}

// pending is how many entries the group has not acknowledged.
func (b *bench) pending() int {
	b.t.Helper()
	p, err := b.Client().XPending(b.t.Context(), b.Keys().Requests(), "countersign").Result()
	if err != nil {
		b.t.Fatal(err)
	}
	return int(p.Count)
}

// notices reads the notices that are due at some time.
func (b *bench) notices() []store.Notice {
	b.t.Helper()
	members, err := b.Client().ZRange(b.t.Context(), b.Keys().Prefix()+"bot:dirty", 0, -1).Result()
	if err != nil {
		b.t.Fatal(err)
	}
	var notices []store.Notice
	for _, m := range members {
		if m[:2] != "n:" {
			continue
		}
		n, _, err := b.store.ReadNotice(b.t.Context(), m[2:])
		if err != nil || n == nil {
			b.t.Fatalf("notice %s: %v", m, err)
		}
		notices = append(notices, *n)
	}
	return notices
}

// serve says that a bot is alive and reads the streams.
func (b *bench) serve(streams ...string) {
	b.t.Helper()
	if len(streams) == 0 {
		streams = []string{b.Keys().Requests()}
	}
	if err := b.store.Alive(b.t.Context(), streams); err != nil {
		b.t.Fatal(err)
	}
}

// A router gives every request the same route, or none, or panics for one id.
type router struct {
	route  queue.Route
	panics string
	tier   atomic.Value // the tier of the last request, a string
}

func (r *router) Route(q *approval.Request, tier string) queue.Route {
	r.tier.Store(tier)
	if r.panics != "" && q.ID == r.panics {
		panic("no route for " + q.ID)
	}
	return r.route
}

// lines keeps what was logged.
type lines struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// count is how many lines hold a text.
func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for line := range bytes.Lines(l.buf.Bytes()) {
		if bytes.Contains(line, []byte(text)) {
			n++
		}
	}
	return n
}

// counter keeps what was counted, as "event" or "event reason".
type counter struct {
	mu   sync.Mutex // guards seen
	seen map[string]int
}

func (c *counter) add(event, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	if reason != "" {
		event += " " + reason
	}
	c.seen[event]++
}

func (c *counter) of(event string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[event]
}

// object writes fields as JSON.
func object(fields map[string]any) string {
	data, err := json.Marshal(fields)
	if err != nil {
		panic(fmt.Sprintf("plain values always encode: %v", err))
	}
	return string(data)
}

// must fails on an error other than those expected.
func must(t testing.TB, err error, expected ...error) {
	t.Helper()
	for _, e := range expected {
		if errors.Is(err, e) {
			return
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// within bounds a wait that a broken program would never end.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
