package delivery_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"countersign/delivery"
)

// A tenure is a leader at work.
type tenure struct {
	leader *delivery.Leader
	life   *life
	begun  atomic.Int32
	ended  []error // with what cause its work ended, each time
	stop   context.CancelFunc
	done   chan error
}

// lead starts a leader whose work goes on until its context ends, or until quit
// gives its error.
func (w *world) lead(name string, quit <-chan error) *tenure {
	w.Helper()
	l := &tenure{life: &life{}, done: make(chan error, 1)}
	l.leader = delivery.NewLeader(w.newStore(w.client(l.life)), name, w.now, zerolog.New(w.log))
	ctx, stop := context.WithCancel(w.Context())
	l.stop = stop
	go func() {
		l.done <- l.leader.Run(ctx, func(ctx context.Context) error {
			l.begun.Add(1)
			select {
			case err := <-quit:
				return err
			case <-ctx.Done():
				l.ended = append(l.ended, context.Cause(ctx))
				return ctx.Err()
			}
		})
	}()
	settle()
	return l
}

// finish stops a leader and wants it to end well.
func (w *world) finish(l *tenure) {
	w.Helper()
	l.stop()
	if err := <-l.done; err != nil {
		w.Errorf("a stopped leader ends with %v", err)
	}
}

func TestLeadTakenKeptAndGivenUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		a := w.lead("a", nil)
		b := w.lead("b", nil)
		first, _ := a.leader.Lease()
		for range 60 {
			pass(time.Second)
			if _, left := a.leader.Lease(); left < delivery.CallTimeout {
				w.Fatalf("only %v of the lease are left; no call fits", left)
			}
			if _, left := b.leader.Lease(); left > 0 {
				w.Fatal("two hold the lease")
			}
		}
		if a.begun.Load() != 1 || b.begun.Load() != 0 {
			w.Errorf("a began %d times, b %d times", a.begun.Load(), b.begun.Load())
		}
		if now, _ := a.leader.Lease(); now.Number != first.Number {
			w.Errorf("the number went from %d to %d while one kept the lease", first.Number, now.Number)
		}
		w.finish(a)
		if len(a.ended) != 1 || !errors.Is(a.ended[0], context.Canceled) {
			w.Errorf("its work ended with %v", a.ended)
		}
		pass(2 * time.Second) // b need not wait for the lease to run out
		now, left := b.leader.Lease()
		if b.begun.Load() != 1 || left <= 0 || now.Number != first.Number+1 {
			w.Errorf("b began %d times, with number %d after %d", b.begun.Load(), now.Number, first.Number)
		}
		if _, left := a.leader.Lease(); left > 0 {
			w.Error("a still holds what it gave up")
		}
		w.finish(b)
	})
}

func TestTakeoverFromTheDead(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		a := w.lead("a", nil)
		b := w.lead("b", nil)
		a.life.end()
		died := w.now()
		for b.begun.Load() == 0 && w.now().Sub(died) < time.Minute {
			pass(100 * time.Millisecond)
			// Never do both hold it, each by its own clock.
			_, hasA := a.leader.Lease()
			_, hasB := b.leader.Lease()
			if hasA > 0 && hasB > 0 {
				w.Fatal("two hold the lease")
			}
		}
		if took := w.now().Sub(died); took > delivery.LeaseTTL+200*time.Millisecond {
			w.Errorf("the takeover took %v", took)
		}
		pass(2 * time.Second)
		if len(a.ended) != 1 || !errors.Is(a.ended[0], delivery.ErrDeposed) {
			w.Errorf("the work of who lost the lease ended with %v", a.ended)
		}
		a.stop()
		if err := <-a.done; err != nil {
			w.Errorf("it ended with %v", err)
		}
		w.finish(b)
	})
}

// TestShortOutage wants the work to go on while Redis is away for less than the
// lease lasts.
func TestShortOutage(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		a := w.lead("a", nil)
		pass(3 * time.Second)
		a.life.over.Store(true)
		pass(5 * time.Second)
		a.life.over.Store(false)
		pass(time.Minute)
		if a.begun.Load() != 1 || len(a.ended) != 0 {
			w.Errorf("began %d times, ended %v", a.begun.Load(), a.ended)
		}
		w.finish(a)
	})
}

// TestLeadIsTakenBack wants who lost the lease to stand by, and to work again
// when it can be had.
func TestLeadIsTakenBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		a := w.lead("a", nil)
		w.ok(w.store.GiveLease(w.Context(), "a"))
		other, ok, err := w.store.TakeLease(w.Context(), "other", 20*time.Second)
		w.ok(err)
		if !ok {
			w.Fatal("the lease was not given up")
		}
		pass(3 * time.Second)
		if len(a.ended) != 1 || !errors.Is(a.ended[0], delivery.ErrDeposed) {
			w.Fatalf("its work ended with %v", a.ended)
		}
		pass(20 * time.Second)
		lease, left := a.leader.Lease()
		if a.begun.Load() != 2 || left <= 0 || lease.Number != other.Number+1 {
			w.Errorf("began %d times, number %d after %d", a.begun.Load(), lease.Number, other.Number)
		}
		w.finish(a)
	})
}

func TestWorkThatEndsByItself(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{"with an error": errors.New("token refused"), "without": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				quit := make(chan error, 1)
				a := w.lead("a", quit)
				quit <- want
				if err := <-a.done; !errors.Is(err, want) {
					w.Errorf("ended with %v, want %v", err, want)
				}
				// The lease was given up: another need not wait.
				if _, ok, err := w.store.TakeLease(w.Context(), "b", time.Second); err != nil || !ok {
					w.Errorf("the lease was kept: %v", err)
				}
				if a.begun.Load() != 1 {
					w.Errorf("began %d times", a.begun.Load())
				}
				a.stop()
			})
		})
	}
}

// TestStopWhileWorkEnds wants a stop to wait for the work, and the lease to be
// kept until then.
func TestStopWhileWorkEnds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		l := delivery.NewLeader(w.store, "a", w.now, zerolog.New(w.log))
		ctx, stop := context.WithCancel(w.Context())
		done := make(chan error, 1)
		go func() {
			done <- l.Run(ctx, func(ctx context.Context) error {
				<-ctx.Done()
				<-time.After(delivery.LeaseTTL + 3*time.Second)
				return ctx.Err()
			})
		}()
		settle()
		stop()
		pass(delivery.LeaseTTL + time.Second)
		if _, left := l.Lease(); left <= 0 {
			w.Error("the lease went before the work did")
		}
		if _, ok, err := w.store.TakeLease(w.Context(), "b", time.Second); err != nil || ok {
			w.Errorf("another has the lease: %v, %v", ok, err)
		}
		select {
		case err := <-done:
			w.Errorf("did not wait for the work: %v", err)
		default:
		}
		pass(2 * time.Second)
		w.ok(<-done)
	})
}
