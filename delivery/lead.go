package delivery

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"countersign/store"
)

// ErrDeposed is the cause with which the work of a leader ends when the lease
// is lost.
var ErrDeposed = errors.New("the lease is another's by now")

// LeaseTTL is how long the lease lasts without being kept: a dead leader is
// followed within that.
const LeaseTTL = 9 * time.Second

// keepEvery is how often the lease is kept, so that while all is well a call of
// CallTimeout always fits into what is left of it.
const keepEvery = 2 * time.Second

// CallTimeout is how long one call that sends may take. A stop waits for it, and
// for recordTimeout after it.
const CallTimeout = 6 * time.Second

// A Leader takes the lease, works while it holds it, and stands by otherwise.
type Leader struct {
	store  *store.Store
	holder string
	now    func() time.Time
	log    zerolog.Logger

	mu    sync.Mutex // guards what follows
	lease store.Lease
	good  time.Time // by our own clock, counted from before the call that took it
	alone bool      // the lease was ours last, and nobody else is known to have it
	seen  time.Time // when another was last seen to hold it
}

// Standing is how a process stands to the lease.
type Standing int

// The ways to stand. Neither is a process that does not hold the lease and, for as long
// as a lease lasts, could not see that another does.
const (
	Neither Standing = iota
	Holding
	StandingBy
)

// Standing returns how this process stands to the lease just now.
func (l *Leader) Standing() Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now := l.now(); {
	case l.good.After(now):
		return Holding
	case !l.seen.IsZero() && now.Sub(l.seen) < LeaseTTL:
		return StandingBy
	}
	return Neither
}

// NewLeader returns a leader that calls itself holder, a name no other process
// has.
func NewLeader(s *store.Store, holder string, now func() time.Time, log zerolog.Logger) *Leader {
	return &Leader{store: s, holder: holder, now: now, log: log}
}

// Lease returns the lease, and how long it is good for; not positive where it
// is not held.
func (l *Leader) Lease() (store.Lease, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lease, l.good.Sub(l.now())
}

// Alone reports whether nobody else is known to lead since this process did: while
// Redis is away nobody can take the lease, and somebody has to tell people so. It
// gives no right to send.
func (l *Leader) Alone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.alone
}

// Doubt says that somebody else was seen to lead. It has no effect while the lease
// is good.
func (l *Leader) Doubt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.good.After(l.now()) {
		l.alone = false
	}
}

// Run stands by until the lease is ours, runs work, and gives the lease up when
// ctx ends. work's context ends when the lease is lost; work that ends by
// itself ends Run, with its error.
func (l *Leader) Run(ctx context.Context, work func(ctx context.Context) error) error {
	defer l.give(ctx)
	for {
		if ours, theirs := l.take(ctx); !ours {
			if !pauseFor(ctx, standby(theirs)) {
				return nil
			}
			continue
		}
		l.log.Info().Int64("lease", l.lease.Number).Msg("leading: this process polls and sends")
		err := l.lead(ctx, work)
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(err, ErrDeposed) {
			return err
		}
		l.log.Warn().Msg("standing by: the lease was lost")
	}
}

// standby is how long to wait before looking after the lease again, while another
// has so much left of it: a dead one is followed as soon as it ends.
func standby(theirs time.Duration) time.Duration {
	if theirs <= 0 {
		return keepEvery
	}
	return min(keepEvery, theirs+time.Millisecond)
}

// lead runs work, and keeps the lease until it has ended. A panic of work is one of
// lead, where whoever runs it can catch it.
func (l *Leader) lead(ctx context.Context, work func(context.Context) error) error {
	held, end := context.WithCancelCause(ctx)
	defer end(nil)
	done, ended := make(chan error, 1), make(chan struct{})
	var fault any // of work; read after ended
	go func() {
		defer close(ended)
		defer func() {
			if v := recover(); v != nil {
				fault = fmt.Sprintf("%v\n%s", v, debug.Stack())
				done <- nil
			}
		}()
		done <- work(held)
	}()
	defer func() { // two at once would do the same work
		end(nil)
		<-ended
	}()
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if <-ended; fault != nil {
				panic(fault)
			}
			if held.Err() != nil {
				return context.Cause(held)
			}
			return err
		case <-tick.C:
			if !l.keep(ctx) {
				if _, left := l.Lease(); left <= 0 {
					end(ErrDeposed)
				}
			}
		}
	}
}

// keep keeps the lease, also while work comes to its end after a stop: what
// Telegram takes meanwhile is still ours to record.
func (l *Leader) keep(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepEvery)
	defer cancel()
	ours, _ := l.take(ctx)
	return ours
}

// take takes or keeps the lease, and reports whether it is ours; else how much
// another has left of it, 0 where that is not known.
func (l *Leader) take(ctx context.Context) (ours bool, theirs time.Duration) {
	began := l.now()
	lease, ok, err := l.store.TakeLease(ctx, l.holder, LeaseTTL)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		return false, 0 // it stays good for as long as it was
	case !ok:
		l.good, l.alone, l.seen = time.Time{}, false, began
		return false, lease.Left
	}
	l.lease, l.good, l.alone = lease, began.Add(lease.Left), true
	return true, 0
}

// give gives the lease up, so that another process need not wait for its end.
func (l *Leader) give(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	l.mu.Lock()
	l.good, l.alone, l.seen = time.Time{}, false, time.Time{}
	l.mu.Unlock()
	if err := l.store.GiveLease(ctx, l.holder); err != nil {
		l.log.Warn().Err(err).Msg("the lease was not given up; another process takes it when it ends")
	}
}

// pauseFor waits, and reports false where ctx ended first.
func pauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
