package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// How the owner behaves: what a person cannot do faster, and what the bot does not let
// them do sooner.
const (
	readsCard = 100 * time.Millisecond // from the card to the first tap
	readsStep = 500 * time.Millisecond // from the question to Yes
	tapsAgain = 2 * time.Second        // where nothing came of a Yes
)

// A life is one approval from the request to the card that says what came of it.
type life struct {
	asked, card, tapped, step, yes, toast, answer, done time.Time
}

// lives are the approvals of one paced run, by number.
type lives struct {
	from int

	mu   sync.Mutex // guards what follows
	all  []life
	left int
	over chan struct{} // closed when none is left
}

func newLives(from, n int) *lives {
	return &lives{from: from, all: make([]life, n), left: n, over: make(chan struct{})}
}

// note takes note of something, the first time, and returns whether it was.
func (l *lives) note(n int, of func(*life) *time.Time, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n -= l.from; n < 0 || n >= len(l.all) {
		return false
	}
	one := &l.all[n]
	whole := one.whole()
	if t := of(one); t.IsZero() {
		*t = at
		if !whole && one.whole() {
			if l.left--; l.left == 0 {
				close(l.over)
			}
		}
		return true
	}
	return false
}

func (l *life) whole() bool {
	return !l.card.IsZero() && !l.toast.IsZero() && !l.answer.IsZero() && !l.done.IsZero()
}

// missing says how far those came that came to no end.
func (l *lives) missing() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	far := map[string]int{}
	for _, one := range l.all {
		for what, at := range map[string]time.Time{
			"cards": one.card, "questions": one.step, "answers": one.answer, "taps answered": one.toast, "ends": one.done,
		} {
			if at.IsZero() {
				far[what]++
			}
		}
	}
	return fmt.Sprintf("of %d approvals these are missing: %v", len(l.all), far)
}

// tappedYes reports how far the owner has come with one.
func (l *lives) tappedYes(n int) bool { return l.has(n, func(l *life) *time.Time { return &l.yes }) }

func (l *lives) answered(n int) bool {
	return l.has(n, func(l *life) *time.Time { return &l.answer })
}

// has reports whether something has happened to one.
func (l *lives) has(n int, of func(*life) *time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n -= l.from
	return n >= 0 && n < len(l.all) && !of(&l.all[n]).IsZero()
}

// watch plays the owner: it taps what cards offer, and takes the times.
func (l *lives) watch(taps func(id, data string, message int64)) func(deed) {
	tap := func(n int, letter byte, data string, message int64, of func(*life) *time.Time) {
		l.note(n, of, time.Now())
		taps(fmt.Sprintf("%c%06d%c", letter, n, letter), data, message)
	}
	return func(d deed) {
		switch d.what {
		case deedSend:
			if l.note(d.n, func(l *life) *time.Time { return &l.card }, d.at) {
				time.AfterFunc(readsCard, func() {
					tap(d.n, markAction, d.first, d.message, func(l *life) *time.Time { return &l.tapped })
				})
			}
		case deedEdit:
			if d.yes == "" && l.tappedYes(d.n) {
				l.note(d.n, func(l *life) *time.Time { return &l.done }, d.at)
				return
			}
			if d.yes != "" && l.note(d.n, func(l *life) *time.Time { return &l.step }, d.at) {
				yes := func() { tap(d.n, markYes, d.yes, d.message, func(l *life) *time.Time { return &l.yes }) }
				time.AfterFunc(readsStep, yes)
				time.AfterFunc(readsStep+tapsAgain, func() {
					if !l.answered(d.n) {
						yes() // a machine that stood still made the first one come too soon
					}
				})
			}
		case deedAnswer:
			l.note(d.n, func(l *life) *time.Time { return &l.toast }, d.at)
		}
	}
}

// answers takes the time of every answer as it can be read, until ctx ends.
func (l *lives) answers(ctx context.Context, rdb *redis.Client) error {
	last := "0"
	newest, err := rdb.XRevRangeN(ctx, keyAnswers, "+", "-", 1).Result()
	if err != nil {
		return err
	}
	if len(newest) > 0 {
		last = newest[0].ID
	}
	for ctx.Err() == nil {
		res, err := rdb.XRead(ctx, &redis.XReadArgs{Streams: []string{keyAnswers, last}, Count: 100, Block: 200 * time.Millisecond}).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return err
		}
		now := time.Now()
		for _, e := range res[0].Messages {
			last = e.ID
			id, _ := e.Values["subject"].(string)
			l.note(numberOf(id), func(l *life) *time.Time { return &l.answer }, now)
		}
	}
	return nil
}

// A pace is how lives went.
type pace struct {
	card, answer, toast []float64 // latencies in ms
	cpu, redisCPU       float64   // seconds per 1,000 approvals
	memory              float64   // MiB, right after
}

// paced has approvals asked at fifty a second, and lives them.
func (s *stage) paced(ctx context.Context, c contender, from, n int) (out pace, err error) {
	l := newLives(from, n)
	var p *player
	ready := make(chan struct{})
	var once sync.Once
	watch := l.watch(func(id, data string, message int64) { p.api.tap(id, data, message) })
	p, err = s.enter(ctx, c, 0, func(d deed) {
		if d.what == deedPoll {
			once.Do(func() { close(ready) })
		}
		watch(d)
	})
	if err != nil {
		return out, err
	}
	defer p.leave()
	if err := p.wait(ctx, ready, 20*time.Second); err != nil {
		return out, err
	}
	after(ctx, time.Second) // what a start leaves to do is done
	before, err := p.cpu()
	if err != nil {
		return out, err
	}
	redisBefore, err := s.redis.cpu()
	if err != nil {
		return out, err
	}
	listening, stop := context.WithCancel(ctx)
	heard := make(chan error, 1)
	go func() { heard <- l.answers(listening, s.rdb) }()
	defer func() { stop(); err = errors.Join(err, <-heard) }()
	if err := s.ask(ctx, l, n); err != nil {
		return out, err
	}
	if err := p.wait(ctx, l.over, 30*time.Second); err != nil {
		return out, fmt.Errorf("%s: %s: %w", c, l.missing(), err)
	}
	used, err := p.cpu()
	if err != nil {
		return out, err
	}
	redisUsed, err := s.redis.cpu()
	if err != nil {
		return out, err
	}
	out.cpu, out.redisCPU = (used-before)/float64(n)*1000, (redisUsed-redisBefore)/float64(n)*1000
	if out.memory, err = p.memory(); err != nil {
		return out, err
	}
	for _, one := range l.all {
		out.card = append(out.card, ms(one.card.Sub(one.asked)))
		out.answer = append(out.answer, ms(one.answer.Sub(one.yes)))
		out.toast = append(out.toast, ms(one.toast.Sub(one.yes)))
	}
	return out, nil
}

// perSecond is how many approvals are asked a second in a paced run.
const perSecond = 50

// ask asks at the pace, the first at once.
func (s *stage) ask(ctx context.Context, l *lives, n int) error {
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for i := range n {
		l.note(l.from+i, func(l *life) *time.Time { return &l.asked }, time.Now())
		if err := s.add(ctx, s.rdb, l.from+i, time.Time{}).Err(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// wait waits for something the contender does.
func (p *player) wait(ctx context.Context, it <-chan struct{}, within time.Duration) error {
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-it:
		return nil
	case <-p.ended:
		return p.failed()
	case <-late.C:
		return errors.New("it takes longer than " + within.String())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
