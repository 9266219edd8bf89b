package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// intake has requests wait, starts a contender, and returns how many cards it sends per
// second, from the first to the last.
func (s *stage) intake(ctx context.Context, c contender, n int, delay time.Duration) (float64, error) {
	if err := s.rdb.FlushAll(ctx).Err(); err != nil {
		return 0, err
	}
	if err := s.publish(ctx, 0, n, time.Time{}); err != nil {
		return 0, err
	}
	cards := newTally(n)
	p, err := s.enter(ctx, c, delay, cards.watch)
	if err != nil {
		return 0, err
	}
	defer p.leave()
	if err := p.wait(ctx, cards.all, 5*time.Minute); err != nil {
		return 0, fmt.Errorf("%s: %d of %d cards: %w", c, cards.seen(), n, err)
	}
	return float64(n-1) / cards.last.Sub(cards.first).Seconds(), nil
}

// A tally counts cards, each once.
type tally struct {
	all chan struct{} // closed with the last one

	mu          sync.Mutex // guards what follows until all is closed
	there       map[int]bool
	want        int
	first, last time.Time
}

func newTally(want int) *tally {
	return &tally{all: make(chan struct{}), there: make(map[int]bool, want), want: want}
}

func (t *tally) watch(d deed) {
	if d.what != deedSend || d.n < 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.there[d.n] {
		return
	}
	t.there[d.n] = true
	if t.first.IsZero() || d.at.Before(t.first) {
		t.first = d.at
	}
	if d.at.After(t.last) {
		t.last = d.at
	}
	if len(t.there) == t.want {
		close(t.all)
	}
}

func (t *tally) seen() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.there)
}

// start starts a contender and returns the ms until it fetches updates first, and the
// MiB that it takes once it has nothing left to do.
func (s *stage) start(ctx context.Context, c contender) (toPoll, idle float64, err error) {
	if err := s.rdb.FlushAll(ctx).Err(); err != nil {
		return 0, 0, err
	}
	polled := make(chan time.Time, 1)
	p, err := s.enter(ctx, c, 0, func(d deed) {
		if d.what == deedPoll {
			select {
			case polled <- d.at:
			default:
			}
		}
	})
	if err != nil {
		return 0, 0, err
	}
	defer p.leave()
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	select {
	case at := <-polled:
		toPoll = ms(at.Sub(p.started))
	case <-p.ended:
		return 0, 0, p.failed()
	case <-late.C:
		return 0, 0, fmt.Errorf("%s polls for no updates", c)
	}
	after(ctx, 3*time.Second)
	idle, err = p.memory()
	return toPoll, idle, err
}

// fill has the bot take in approvals that stay open until then, and returns the MiB it
// takes after.
func (s *stage) fill(ctx context.Context, n int, until time.Time) (float64, error) {
	cards := newTally(n)
	p, err := s.enter(ctx, theBot, 0, cards.watch)
	if err != nil {
		return 0, err
	}
	defer p.leave()
	// Not all at once: nobody asks a hundred thousand questions in a second.
	for from := 0; from < n; from += 5000 {
		if err := s.publish(ctx, from, min(5000, n-from), until); err != nil {
			return 0, err
		}
		for cards.seen() < from {
			if err := errors.Join(p.failed(), ctx.Err()); err != nil {
				return 0, err
			}
			after(ctx, 20*time.Millisecond)
		}
	}
	if err := p.wait(ctx, cards.all, 10*time.Minute); err != nil {
		return 0, fmt.Errorf("%d of %d cards: %w", cards.seen(), n, err)
	}
	after(ctx, 10*time.Second)
	return p.memory()
}

// lapsing has approvals whose deadlines come together, and returns how many of them a
// sweep decides per second, by Redis's clock.
func (s *stage) lapsing(ctx context.Context, n int) (float64, error) {
	if err := s.rdb.FlushAll(ctx).Err(); err != nil {
		return 0, err
	}
	cards := newTally(n)
	p, err := s.enter(ctx, theBot, 0, cards.watch)
	if err != nil {
		return 0, err
	}
	defer p.leave()
	deadline := time.Now().Add(time.Duration(n/500)*time.Second + 10*time.Second) // by when all have a card
	if err := s.publish(ctx, 0, n, deadline); err != nil {
		return 0, err
	}
	if err := p.wait(ctx, cards.all, time.Minute); err != nil {
		return 0, fmt.Errorf("%d of %d cards: %w", cards.seen(), n, err)
	}
	if !time.Now().Before(deadline) {
		return 0, errors.New("the last card came after the deadline")
	}
	for giveUp := time.Now().Add(2 * time.Minute); ; {
		answered, err := s.rdb.XLen(ctx, keyAnswers).Result()
		if err == nil && answered == int64(n) {
			break
		}
		if err := errors.Join(err, p.failed(), ctx.Err()); err != nil || time.Now().After(giveUp) {
			return 0, fmt.Errorf("%d of %d lapsed: %w", answered, n, err)
		}
		after(ctx, 20*time.Millisecond)
	}
	first, err := s.rdb.XRangeN(ctx, keyAnswers, "-", "+", 1).Result()
	if err != nil {
		return 0, err
	}
	last, err := s.rdb.XRevRangeN(ctx, keyAnswers, "+", "-", 1).Result()
	if err != nil {
		return 0, err
	}
	took := entryMillis(last[0].ID) - entryMillis(first[0].ID)
	return float64(n-1) / (float64(took) / 1000), nil
}

// entryMillis is the time in a stream entry's id.
func entryMillis(id string) int64 {
	text, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("unreachable: Redis made it: " + err.Error())
	}
	return n
}
