package sweeper_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/robfig/cron/v3"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/sweeper"
)

// A floor is what a sweeper sweeps, on one server.
type floor struct {
	*storetest.Server
	t     testing.TB
	store *store.Store
	lease store.Lease
	log   *lines
	count *tally
}

func newFloor(t testing.TB, s *storetest.Server) *floor {
	t.Helper()
	f := &floor{Server: s, t: t, store: storetest.NewStore(t, s), log: &lines{}, count: &tally{n: map[string]int{}}}
	lease, ok, err := f.store.TakeLease(t.Context(), "bot", 1000*time.Hour)
	if err != nil || !ok {
		t.Fatalf("lease: %v, %v", ok, err)
	}
	f.lease = lease
	return f
}

// sweeper is one that works with a store of its own, after the changes.
func (f *floor) sweeper(st *store.Store, changes ...func(*sweeper.Config)) *sweeper.Sweeper {
	cfg := sweeper.Config{
		Store: st, Schedule: cron.Every(5 * time.Second), Keep: storetest.Retention,
		Streams: []string{f.Keys().Requests()}, Log: zerolog.New(f.log), Count: f.count.add,
	}
	for _, change := range changes {
		change(&cfg)
	}
	return sweeper.New(cfg)
}

func (f *floor) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// open opens approvals whose cards stand in some chats.
func (f *floor) open(n int, chats ...int64) (ids []string) {
	f.t.Helper()
	for i := range n {
		id := fmt.Sprintf("%d.%03d", chats[0], i)
		storetest.Open(f.t, f.store, storetest.Request(id), func(o *store.Opening) {
			o.RemindAt = o.ExpiresAt.Add(-10 * time.Minute)
			o.Chats = nil
			for _, c := range chats {
				o.Chats = append(o.Chats, approval.Chat{ID: c})
			}
		})
		for _, c := range chats {
			cid, err := f.store.NewCard(f.t.Context(), id, store.Place{Chat: c}, &f.lease, false)
			f.ok(err)
			_, err = f.store.Record(f.t.Context(), store.Record{ID: id, Card: cid, What: store.TheCard, Message: 100 + i, Drawn: "drawn"}, f.lease)
			f.ok(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// answers counts the answers on the stream of all, and wants each to be a lapse.
func (f *floor) answers() int {
	f.t.Helper()
	entries, err := f.Client().XRange(f.t.Context(), f.Keys().Answers(), "-", "+").Result()
	f.ok(err)
	for _, e := range entries {
		if data, _ := e.Values["data"].(string); !strings.Contains(data, `"decision":"lapsed"`) {
			f.t.Errorf("an answer that is no lapse: %s", data)
		}
	}
	return len(entries)
}

// told lists how many approvals each notice that is due tells of, by chat.
func (f *floor) told() map[int64][]int {
	f.t.Helper()
	due, err := f.store.Dirty(f.t.Context(), 10_000)
	f.ok(err)
	told := map[int64][]int{}
	for _, nid := range due.Notices {
		n, _, err := f.store.ReadNotice(f.t.Context(), nid)
		f.ok(err)
		if n.Total > 0 {
			told[n.Chat] = append(told[n.Chat], n.Total)
		}
	}
	return told
}

// A fence cuts its connection off after so many commands.
type fence struct {
	mu   sync.Mutex // guards left
	left int        // negative: no fence
	cut  func()     // called once, with the last command
}

func (x *fence) pass() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch x.left {
	case 0:
		return context.Canceled
	case 1:
		x.cut()
	}
	x.left--
	return nil
}

// DialHook implements redis.Hook.
func (x *fence) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (x *fence) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		if err := x.pass(); err != nil {
			c.SetErr(err)
			return err
		}
		return next(ctx, c)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (x *fence) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cs []redis.Cmder) error {
		if cs[0].Name() == "multi" { // all or nothing
			if err := x.pass(); err != nil {
				return err
			}
			return next(ctx, cs)
		}
		var cut error
		n := 0
		for ; n < len(cs) && cut == nil; n++ {
			cut = x.pass()
		}
		if cut != nil {
			n--
		}
		for _, c := range cs[n:] {
			c.SetErr(cut)
		}
		if n == 0 {
			return cut
		}
		return errors.Join(next(ctx, cs[:n]), cut)
	}
}

// fenced is a store over a connection of its own.
func (f *floor) fenced(x *fence) *store.Store {
	f.t.Helper()
	c := redis.NewClient(&redis.Options{Addr: f.Client().Options().Addr, MaxRetries: -1})
	f.t.Cleanup(func() { _ = c.Close() })
	c.AddHook(x)
	st, err := store.New(c, storetest.Options(f.Server))
	f.ok(err)
	return st
}

// A tally counts events by their name.
type tally struct {
	mu sync.Mutex // guards n
	n  map[string]int
}

func (c *tally) add(event string, _ ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[event]++
}

func (c *tally) of(event string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[event]
}

// lines is a log that can be searched.
type lines struct {
	mu  sync.Mutex // guards all
	all bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.all.String(), text)
}
