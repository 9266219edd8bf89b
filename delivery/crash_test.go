package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"countersign/approval"
	"countersign/delivery"
	"countersign/store"
	"countersign/telegram"
)

// lifeOfACard is what happens to one approval while a process may die under it.
func lifeOfACard(w *world) {
	w.Helper()
	w.open("a1", in(chat(ann), chat(ben)))
	settle()
	w.openStep("a1", ann)
	settle()
	w.decide("a1", byAnn())
	settle()
}

// TestKilledAtEveryCommand kills the process at its nth command to Redis, for
// every n, the command's effect lost or only its answer. Another process takes
// over. Every card must come to show the row, at the cost of one extra message
// of it at most.
func TestKilledAtEveryCommand(t *testing.T) {
	t.Parallel()
	all := commandsOf(t)
	if all < 20 || all > 400 {
		t.Fatalf("%d commands in the life of a card", all)
	}
	const shards = 8
	for shard := range int64(shards) {
		t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
			t.Parallel()
			for n := 1 + shard; n <= all; n += shards {
				for _, late := range []bool{false, true} {
					inBubble(t, func(w *world) { killedAt(w, n, late) })
				}
			}
		})
	}
}

// commandsOf counts the commands that a process gives in the life of a card.
func commandsOf(t *testing.T) (n int64) {
	inBubble(t, func(w *world) {
		p := w.start("a", start{})
		lifeOfACard(w)
		n = p.life.seen.Load()
	})
	return n
}

func killedAt(w *world, n int64, late bool) {
	w.Helper()
	p := w.start("a", start{life: &life{commandth: n, late: late}})
	lifeOfACard(w)
	p.kill()
	w.start("b", start{})
	pass(15 * time.Second)
	for _, c := range []int64{ann, ben} {
		if got := len(w.sim.BotMessages(c)); got < 1 || got > 2 {
			w.Errorf("killed at command %d (late: %v): %d messages in chat %d", n, late, got, c)
		}
	}
	w.inLine("a1")
	for _, c := range w.read("a1").Cards {
		if m, ok := w.sim.Message(c.Chat, int64(c.Message)); !ok || !has("Rejected by Ann")(m) {
			w.Errorf("killed at command %d (late: %v): card in %d says\n%s", n, late, c.Chat, m.Text)
		}
	}
}

// TestKilledBetweenSendAndRecord costs one extra message, in every kind of
// message.
func TestKilledBetweenSendAndRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what    string
		prepare func(w *world) // by a process that lives
		then    func(w *world)
		before  int
	}{
		{"a card", func(*world) {}, func(w *world) { w.open("a1") }, 0},
		{"a reminder", func(w *world) { w.open("a1") }, func(w *world) { w.remind("a1") }, 1},
		{"a lapse notice", func(w *world) { w.open("a1") }, func(w *world) {
			pass(lifetime)
			w.decide("a1", byDeadline())
		}, 1},
		{"a notice", func(*world) {}, func(w *world) {
			w.open("a1", in())
			_, err := w.store.NewNotice(w.Context(), store.Notice{
				Kind: store.Unapproved, Chat: ann, IDs: []string{"a1"}, Total: 1, Outcome: approval.Executed,
			}, 0)
			w.ok(err)
		}, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				first := w.start("first", start{})
				c.prepare(w)
				settle()
				first.stop()
				w.posts(ann, c.before)

				l := &life{}
				p := w.start("a", start{life: l, bot: func(b delivery.Bot) delivery.Bot {
					return valve{Bot: b, send: func(_ context.Context, _ telegram.Outgoing, next func() (telegram.Sent, error)) (telegram.Sent, error) {
						sent, err := next()
						l.end()
						return sent, err
					}}
				}})
				c.then(w)
				settle()
				w.posts(ann, c.before+1)
				p.kill()
				w.start("b", start{})
				pass(delivery.LeaseTTL - 3*time.Second)
				w.posts(ann, c.before+1) // not while the dead one may still be sending
				pass(time.Minute)
				w.posts(ann, c.before+2)
				quiet(w, "a1")
			})
		})
	}
}

// TestLeaseLostMidSend has a process lose the lease while Telegram takes its
// time: what it then records is refused, and the new holder draws.
func TestLeaseLostMidSend(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		hold := make(chan struct{})
		held := false
		w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, edit: func(_ context.Context, _ int64, next func() error) error {
				if !held {
					held = true
					err := next()
					<-hold
					return err
				}
				return errors.New("deposed, and still editing")
			}}
		}})
		w.open("a1")
		settle()
		w.openStep("a1", ann)
		settle()
		// The lease goes to another, as after a pause of this process.
		w.ok(w.store.GiveLease(w.Context(), "a"))
		w.start("b", start{})
		settle()
		w.cancelStep("a1", ann)
		settle()
		close(hold)
		pass(5 * time.Second)
		w.inLine("a1")
		r := w.read("a1")
		if r.Step != nil {
			w.Errorf("a step is open: %+v", r.Step)
		}
		w.decide("a1", byAnn())
		settle()
		quiet(w, "a1")
	})
}

// TestStepShownByAStaleHolderDoesNotCount wants no dwell to run from an edit
// that a process made after it lost the lease.
func TestStepShownByAStaleHolderDoesNotCount(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		p := w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, edit: func(_ context.Context, _ int64, next func() error) error {
				w.ok(w.store.GiveLease(w.Context(), "a"))
				_, _, err := w.store.TakeLease(w.Context(), "b", time.Minute)
				w.ok(err)
				return next()
			}}
		}})
		w.open("a1")
		settle()
		w.openStep("a1", ann)
		settle()
		if r := w.read("a1"); !r.Step.ShownAt.IsZero() {
			w.Error("the step counts as shown")
		}
		pass(5 * time.Second) // by now the process knows that it lost the lease
		if n := len(w.sim.Calls("editMessageText")); n > 6 {
			w.Errorf("%d edits by a process that lost the lease", n)
		}
		due, err := w.store.Dirty(w.Context(), 10)
		w.ok(err)
		if len(due.Approvals) != 1 {
			w.Errorf("marked for the new holder: %v", due.Approvals)
		}
		p.stop()
	})
}

// TestStopRecordsWhatWasTaken stops a process while Telegram takes a card.
func TestStopRecordsWhatWasTaken(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		var p *process
		p = w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, send: func(_ context.Context, _ telegram.Outgoing, next func() (telegram.Sent, error)) (telegram.Sent, error) {
				sent, err := next()
				p.cancel()
				return sent, err
			}}
		}})
		w.open("a1")
		settle()
		p.stop()
		w.start("b", start{})
		pass(30 * time.Second)
		w.post(ann)
		quiet(w, "a1")
	})
}

// TestRedisDownForAWhile wants a process to go on by itself when Redis is back.
func TestRedisDownForAWhile(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		l := &life{}
		p := w.start("a", start{life: l})
		w.open("a1")
		settle()
		l.over.Store(true)
		w.decide("a1", byOperator(approval.DecisionApproved)) // by a process that reaches Redis
		pass(time.Minute)
		if n := w.log.count("Redis cannot be read"); n > 10 {
			w.Errorf("%d lines in the log for one outage", n)
		}
		l.over.Store(false)
		pass(10 * time.Second)
		quiet(w, "a1")
		p.stop()
	})
}

// TestSettleMeetsChange changes an approval each time it is about to be taken
// off the feed.
func TestSettleMeetsChange(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.open("a1")
		changes := 0
		w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			change := func() {
				if changes++; changes%2 == 1 {
					w.openStep("a1", ann)
				} else {
					w.cancelStep("a1", ann)
				}
			}
			return valve{
				Bot: b,
				send: func(_ context.Context, _ telegram.Outgoing, next func() (telegram.Sent, error)) (telegram.Sent, error) {
					sent, err := next()
					change() // after it was drawn, before that is recorded
					return sent, err
				},
				edit: func(_ context.Context, _ int64, next func() error) error {
					err := next()
					if changes < 6 {
						change()
					}
					return err
				},
			}
		}})
		settle()
		if changes != 6 {
			w.Errorf("%d changes were seen, want 6", changes)
		}
		w.inLine("a1")
		quiet(w, "a1")
	})
}

// TestLateEditGoesOverALaterOne has a process edit a card that another has drawn
// since: the card comes to show its row all the same, with no further input.
func TestLateEditGoesOverALaterOne(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		paused := make(chan struct{})
		var once sync.Once
		w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, edit: func(_ context.Context, _ int64, next func() error) error {
				once.Do(func() { <-paused })
				return next()
			}}
		}})
		w.open("a1")
		settle()
		w.openStep("a1", ann)
		settle()
		w.ok(w.store.GiveLease(w.Context(), "a"))
		w.start("b", start{})
		settle()
		w.decide("a1", byAnn())
		settle()
		if m := w.post(ann); !has("Rejected by Ann")(m) {
			w.Fatalf("the new holder shows\n%s", m.Text)
		}
		close(paused) // the edit of the old one, with its Yes, goes over it
		pass(time.Minute)
		if m := w.post(ann); !has("Rejected by Ann")(m) || hasButton(m, "Yes") {
			w.Errorf("the card says\n%s", m.Text)
		}
		quiet(w, "a1")
	})
}
