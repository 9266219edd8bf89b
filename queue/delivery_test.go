package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/queue"
	"countersign/store/storetest"
)

// A process that dies between a row and its acknowledgement has the entry
// delivered again, and nothing changes.
func TestRedeliveryChangesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("a1")
		b.request("refused", storetest.With("tool", nil))
		b.withdraw("early", "")
		stop := &severed{command: "xack"}
		s.Bot().AddHook(stop)
		stop.on.Store(true)
		if _, err := b.intake.Step(t.Context()); !errors.Is(err, errSevered) {
			t.Fatalf("step gave %v, want the failure to acknowledge", err)
		}
		stop.on.Store(false)
		before := b.row("a1")
		if before == nil || b.pending() != 3 {
			t.Fatalf("row %v, %d pending; want a row and all pending", before, b.pending())
		}
		b.intake = b.newIntake("one") // the same consumer, restarted
		if n := b.step(); n != 3 {
			t.Errorf("given %d entries after the restart, want 3", n)
		}
		after := b.row("a1")
		if after.Rev != before.Rev || b.answers("") != 1 || len(b.dead()) != 0 || b.pending() != 0 {
			t.Errorf("revision %d, %d answers, dead %q, %d pending; want %d, 1, none, 0",
				after.Rev, b.answers(""), b.dead(), b.pending(), before.Rev)
		}
	})
}

// What another consumer was given and never acknowledged is taken over.
func TestTakeover(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s, func(c *queue.IntakeConfig) { c.ReclaimIdle = time.Millisecond; c.Batch = 2 })
		b.step() // makes the group
		for _, id := range []string{"a1", "a2", "a3", "a4", "a5"} {
			b.request(id)
		}
		b.readAs("gone")
		idle(t, s)
		for range 3 {
			b.step()
		}
		for _, id := range []string{"a1", "a2", "a3", "a4", "a5"} {
			if got := b.state(id); got != approval.Open {
				t.Errorf("%s is %q, want open", id, got)
			}
		}
		if n := b.pending(); n != 0 {
			t.Errorf("%d entries pending, want 0", n)
		}
	})
}

// Many entries that a living consumer holds do not hide one that a dead one
// left: a look at what is pending goes on where the last one ended.
func TestTakeoverBehindBusyEntries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s, func(c *queue.IntakeConfig) { c.ReclaimIdle = time.Minute; c.Batch = 1 })
		b.step()
		for range 25 {
			b.add("type", "noise")
		}
		b.readAs("alive")
		b.request("a1")
		b.readAs("gone")
		left, err := s.Client().XRevRangeN(t.Context(), s.Keys().Requests(), "+", "-", 1).Result()
		must(t, err)
		must(t, s.Client().Do(t.Context(), "xclaim", s.Keys().Requests(), "countersign", "gone", 0, left[0].ID,
			"idle", time.Hour.Milliseconds()).Err())
		for range 4 {
			b.step()
		}
		if b.state("a1") != approval.Open || b.pending() != 25 {
			t.Errorf("a1 is %q, %d pending; want open, and the living one's 25", b.state("a1"), b.pending())
		}
	})
}

// idle lets pending entries be idle for a while.
func idle(t *testing.T, s *storetest.Server) {
	t.Helper()
	if s.IsEmbedded() {
		s.Advance(t, time.Second)
		return
	}
	// A real server's clock cannot be moved: ask it to wait.
	must(t, s.Client().Do(t.Context(), "blpop", s.Keys().Prefix()+"never", "0.01").Err(), redis.Nil)
}

// Entries trimmed before they were taken are counted, logged and done with. The
// embedded server forgets them without a word.
func TestTrimmedEntries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		fast := func(c *queue.IntakeConfig) { c.ReclaimIdle = time.Millisecond }
		b := newBench(t, s, fast)
		b.step()
		for _, consumer := range []string{"one", "gone"} {
			b.request(consumer)
			b.readAs(consumer)
		}
		must(t, s.Client().XTrimMaxLen(t.Context(), s.Keys().Requests(), 0).Err())
		b.request("next")
		idle(t, s)
		b.intake = b.newIntake("one", fast)
		b.step()
		if n := b.count.of("lost"); !s.IsEmbedded() && (n != 2 || b.log.count("trimmed") == 0 || b.pending() != 0) {
			t.Errorf("counted %d lost, logged %d, %d pending; want 2, at least 1, 0", n, b.log.count("trimmed"), b.pending())
		}
		if got := b.state("next"); got != approval.Open {
			t.Errorf("next is %q, want open", got)
		}
	})
}

// Entries trimmed before anybody read them are counted once, whoever reads and
// however often. The embedded server tells no lag.
func TestTrimmedUnread(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		other := b.newIntake("two")
		lost := func(want int) {
			t.Helper()
			for range 2 {
				b.step()
				_, err := other.Step(t.Context())
				must(t, err)
			}
			if n := b.count.of("lost"); n != want && !s.IsEmbedded() {
				t.Errorf("%d counted as lost, want %d", n, want)
			}
		}
		trim := func(keep int64) {
			t.Helper()
			must(t, s.Client().XTrimMaxLen(t.Context(), s.Keys().Requests(), keep).Err())
		}
		add := func(ids ...string) {
			for _, id := range ids {
				b.request(id)
			}
		}
		b.step()
		add("a1", "a2")
		lost(0)
		trim(0) // what was read may go
		lost(0)
		add("b1", "b2", "b3", "b4", "b5")
		trim(2)
		lost(3)
		add("c1")
		lost(3)
		trim(0)
		lost(3)
		add("d1", "d2")
		trim(0)
		lost(5)
		add("e1", "e2", "e3")
		trim(1)
		lost(7)
		if !s.IsEmbedded() && b.log.count("before anybody read them") == 0 {
			t.Error("nothing was logged")
		}
		for _, id := range []string{"b4", "b5", "c1", "e3"} {
			if got := b.state(id); got != approval.Open {
				t.Errorf("%s is %q, want open", id, got)
			}
		}
		must(t, s.Client().XGroupDestroy(t.Context(), s.Keys().Requests(), "countersign").Err())
		add("f1")
		lost(7) // of what a new group missed nobody knows
	})
}

// The group or the whole stream may vanish at any time: it is made again, what
// comes then is served, and what is known is not opened twice.
func TestGroupVanishes(t *testing.T) {
	vanish := map[string]func(*bench) error{
		"group": func(b *bench) error {
			return b.Client().XGroupDestroy(b.t.Context(), b.Keys().Requests(), "countersign").Err()
		},
		"stream": func(b *bench) error { return b.Client().Del(b.t.Context(), b.Keys().Requests()).Err() },
	}
	for name, gone := range vanish {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, s *storetest.Server) {
				b := newBench(t, s)
				b.request("before")
				b.step()
				rev := b.row("before").Rev
				must(t, gone(b))
				b.request("after")
				b.step()
				if b.state("after") != approval.Open || b.row("before").Rev != rev || len(b.dead()) != 0 {
					t.Errorf("after is %q, before at revision %d, dead %q; want open, %d, none",
						b.state("after"), b.row("before").Rev, b.dead(), rev)
				}
			})
		})
	}
}

// The same while the intake is blocked in a read, together with the namespace's
// every other key. The log stays quiet.
func TestEverythingVanishesWhileRunning(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		ctx, stop := context.WithCancel(within(t))
		done := make(chan error, 1)
		go func() { done <- b.intake.Run(ctx) }()
		for _, id := range []string{"a1", "a2", "a3"} {
			b.request(id)
			b.eventually(ctx, func() bool { return b.state(id) == approval.Open })
			keys, err := s.Client().Keys(t.Context(), s.Keys().Prefix()+"*").Result()
			must(t, err)
			must(t, s.Client().Del(t.Context(), keys...).Err())
		}
		stop()
		if err := <-done; err != nil {
			t.Errorf("run ended with %v, want nil", err)
		}
		if n := b.log.count("trying again"); n > 0 || b.log.count(`"level"`) > 6 {
			t.Errorf("%d failures and %d lines were logged, want none and a handful", n, b.log.count(`"level"`))
		}
	})
}

// eventually asks until it is so; ctx bounds it.
func (b *bench) eventually(ctx context.Context, so func() bool) {
	b.t.Helper()
	for !so() {
		select {
		case <-ctx.Done():
			b.t.Fatal("it never came to be so")
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// An entry on which the program panics holds nobody up, and is set aside after
// its third delivery.
func TestPanicInOneEntry(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		fast := func(c *queue.IntakeConfig) { c.ReclaimIdle = time.Millisecond }
		b := newBench(t, s, fast)
		b.router.panics = "bad"
		b.request("bad")
		b.request("next")
		b.step()
		if b.state("next") != approval.Open || b.pending() != 1 || len(b.dead()) != 0 {
			t.Fatalf("next is %q, %d pending, dead %q; want open, 1, none", b.state("next"), b.pending(), b.dead())
		}
		for range 4 {
			idle(t, s)
			b.step()
		}
		if got := b.dead(); len(got) != 1 || !strings.HasPrefix(got[0], "failed: panic: ") || b.pending() != 0 {
			t.Errorf("dead letters %q, %d pending; want one that failed, 0", got, b.pending())
		}
		if n := b.count.of("failed"); n != 3 {
			t.Errorf("tried %d times, want 3", n)
		}
	})
}

// A row that somebody broke holds up its own events alone.
func TestBrokenRow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		must(t, s.Client().Set(t.Context(), s.Keys().Row("string"), "x", 0).Err())
		must(t, s.Client().HSet(t.Context(), s.Keys().Row("garbled"), "state", "open", "request", "{").Err())
		b.request("string")
		b.withdraw("string", "")
		b.withdraw("garbled", "")
		b.report("garbled", "executed")
		b.request("next")
		b.step()
		if b.state("next") != approval.Open || b.pending() != 4 {
			t.Errorf("next is %q, %d pending; want open, 4", b.state("next"), b.pending())
		}
	})
}

// So does one in which somebody wrote words where scripts count or compare.
func TestRowWithWordsForNumbers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		for field, value := range map[string]any{"rev": "many", "report_ms": "soon"} {
			b := newBench(t, s)
			b.request(field)
			b.step()
			storetest.Approve(t, b.store, field)
			must(t, s.Client().HSet(t.Context(), s.Keys().Row(field), field, value).Err())
			b.report(field, "executed")
			b.request("after-" + field)
			b.step()
			if got := b.state("after-" + field); got != approval.Open {
				t.Errorf("with %s = %v the next request is %q, want open", field, value, got)
			}
		}
	})
}

// While Redis refuses to write nothing is acknowledged and nothing set aside.
func TestWritesRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("a1")
		full := &severed{command: "evalsha"}
		s.Bot().AddHook(full)
		full.on.Store(true)
		for range 5 {
			if _, err := b.intake.Step(t.Context()); !errors.Is(err, errSevered) {
				t.Fatalf("step gave %v, want Redis's refusal", err)
			}
		}
		full.on.Store(false)
		if b.pending() != 1 || len(b.dead()) != 0 {
			t.Fatalf("%d pending, dead %q; want 1, none", b.pending(), b.dead())
		}
		b.step()
		if got := b.state("a1"); got != approval.Open {
			t.Errorf("a1 is %q, want open", got)
		}
	})
}

// readAs reads what is new as another consumer, which never acknowledges it.
func (b *bench) readAs(consumer string) {
	b.t.Helper()
	must(b.t, b.Client().XReadGroup(b.t.Context(), &redis.XReadGroupArgs{
		Group: "countersign", Consumer: consumer, Streams: []string{b.Keys().Requests(), ">"}, Block: -1,
	}).Err())
}
