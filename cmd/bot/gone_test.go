package main

import (
	"sync/atomic"
	"testing"
	"time"

	"countersign/cards"
)

// Redis goes away at the very moment at which a bot begins to lead, before it knows of
// a webhook or an offset. Whoever taps is told within moments that it is being tried;
// nothing is confirmed to Telegram, and all of it counts when Redis is back.
func TestTapsAreHeardFromTheLeaseOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *bubble) {
		first := w.run("one", &life{})
		w.ask("a1", "iris", time.Hour)
		m := w.has(time.Minute, annID, "a1", "Trash it")
		first.kill()

		var away atomic.Bool
		var second atomic.Pointer[running]
		l := &life{at: func(name string) ending {
			if r := second.Load(); r != nil && name == "hget" && r.leader.Alone() { // what polling has to know first
				away.Store(true)
			}
			if away.Load() && !isCall(name) {
				return fails
			}
			return goesOn
		}}
		second.Store(w.run("two", l))
		w.until(time.Minute, "the second leads, and Redis is away", away.Load)
		tap := w.ann.Tap(m, "Reject")
		w.until(5*time.Second, "the tap is answered", func() bool { a, ok := w.sim.Answer(tap); return ok && a.Text != "" })
		if a, _ := w.sim.Answer(tap); a.Text != cards.ToastTrying {
			t.Errorf("the tap was answered %q", a.Text)
		}
		w.pass(time.Minute)
		w.state("a1", "open")
		l.mu.Lock()
		l.at = nil // Redis is back
		l.mu.Unlock()
		w.says(time.Minute, annID, "a1", "Rejected by Ann")
		w.once("a1", "rejected")
	})
}

// A process that never held the lease does not poll while Redis is away, since another
// may.
func TestWhoNeverLedDoesNotPoll(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *bubble) {
		w.run("one", &life{})
		w.pass(5 * time.Second)
		var away atomic.Bool
		var polls atomic.Int32
		w.run("two", &life{at: func(name string) ending {
			if name == "getUpdates" {
				polls.Add(1)
			}
			if away.Load() && !isCall(name) {
				return fails
			}
			return goesOn
		}})
		w.pass(5 * time.Second)
		away.Store(true)
		w.pass(10 * time.Minute)
		if n := polls.Load(); n != 0 {
			t.Errorf("%d polls by who never led", n)
		}
	})
}
