package delivery

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// Limits are how fast one bot may call. Zero means no limit. Edits and sends
// share them.
type Limits struct {
	PerSecond      float64 // the whole bot
	ChatPerSecond  float64 // one chat, after a short burst
	GroupPerMinute int     // one group, in any 60 seconds
}

// chatBurst is how many calls a chat takes at once after a rest. Telegram
// allows short bursts and does not say how long; three is a card and two steps.
const chatBurst = 3

// Class orders what waits for its turn.
type Class int

// The classes, most urgent first. Answers to taps come before all of them and
// never wait.
const (
	StepEdit  Class = iota // shows or leaves a confirm step
	OtherEdit              // brings a card in line
	NewCard
	Notice
	Word // to somebody who asked, or a stranger
)

// Pace lets calls through in order of class, within the limits of each chat
// and of the bot. It is safe for concurrent use.
type Pace struct {
	now func() time.Time

	mu     sync.Mutex // guards everything below
	limits Limits
	chats  map[int64]*lane
	total  bucket
	pause  time.Time // the whole bot waits until then
	last   time.Time // when the last single chat was told to wait
	seq    uint64
	timer  *time.Timer
}

// NewPace returns a Pace that reads the time from now.
func NewPace(l Limits, now func() time.Time) *Pace {
	return &Pace{now: now, limits: l, chats: map[int64]*lane{}, total: bucket{rate: l.PerSecond, burst: max(1, l.PerSecond)}}
}

// SetLimits changes the limits from now on.
func (p *Pace) SetLimits(l Limits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits = l
	p.total.rate, p.total.burst = l.PerSecond, max(1, l.PerSecond)
	for _, c := range p.chats {
		c.second.rate, c.perMinute = l.ChatPerSecond, l.GroupPerMinute
	}
	p.serve()
}

// A lane is one chat's queue.
type lane struct {
	second    bucket
	minute    []time.Time // a group's calls in the last 60 seconds
	perMinute int
	pause     time.Time
	waiting   turns
}

// Wait waits for a turn to call about a chat. It reports whether it had to
// wait, so that what was read before can be read again.
func (p *Pace) Wait(ctx context.Context, class Class, chat int64) (waited bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	p.mu.Lock()
	p.seq++
	t := &turn{class: class, seq: p.seq, ready: make(chan struct{})}
	heap.Push(&p.lane(chat).waiting, t)
	p.serve()
	p.mu.Unlock()
	select {
	case <-t.ready:
		return false, nil
	default:
	}
	select {
	case <-t.ready:
		return true, nil
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		if t.index >= 0 {
			heap.Remove(&p.lane(chat).waiting, t.index)
		}
		return true, context.Cause(ctx)
	}
}

// Spend counts a call that does not wait, such as an answer to a tap.
func (p *Pace) Spend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total.take(p.now())
}

// Hold makes one chat wait, as Telegram asked. Several chats told to wait
// within a second make the whole bot wait.
func (p *Pace) Hold(chat int64, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	c := p.lane(chat)
	alone := p.last.IsZero() || now.Sub(p.last) > time.Second || c.pause.After(now)
	if until := now.Add(d); until.After(c.pause) {
		c.pause = until
	}
	if !alone && now.Add(d).After(p.pause) {
		p.pause = now.Add(d)
	}
	p.last = now
	p.serve()
}

func (p *Pace) lane(chat int64) *lane {
	c, ok := p.chats[chat]
	if !ok {
		c = &lane{second: bucket{rate: p.limits.ChatPerSecond, burst: chatBurst}}
		if chat < 0 {
			c.perMinute = p.limits.GroupPerMinute
		}
		p.chats[chat] = c
	}
	return c
}

// serve lets through whoever may go now and sets the timer for the next one.
// The caller holds mu.
func (p *Pace) serve() {
	now := p.now()
	for {
		wake := now.Add(time.Hour)
		whole := later(p.pause, p.total.ready(now))
		var best *lane
		for id, c := range p.chats {
			if len(c.waiting) == 0 {
				if c.idle(now) {
					delete(p.chats, id)
				}
				continue
			}
			at := later(whole, c.ready(now))
			switch {
			case at.After(now):
				if at.Before(wake) {
					wake = at
				}
			case best == nil || c.waiting[0].before(best.waiting[0]):
				best = c
			}
		}
		if best == nil {
			p.schedule(wake.Sub(now))
			return
		}
		t := heap.Pop(&best.waiting).(*turn)
		best.take(now)
		p.total.take(now)
		close(t.ready)
	}
}

// schedule makes serve run again after d. The caller holds mu.
func (p *Pace) schedule(d time.Duration) {
	if p.timer != nil {
		p.timer.Stop()
	}
	p.timer = nil
	for _, c := range p.chats {
		if len(c.waiting) > 0 {
			p.timer = time.AfterFunc(max(d, time.Millisecond), func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.serve()
			})
			return
		}
	}
}

func (c *lane) ready(now time.Time) time.Time {
	at := later(c.pause, c.second.ready(now))
	if c.perMinute > 0 && len(c.minute) >= c.perMinute {
		at = later(at, c.minute[len(c.minute)-c.perMinute].Add(time.Minute))
	}
	return at
}

func (c *lane) take(now time.Time) {
	c.second.take(now)
	if c.perMinute > 0 {
		c.minute = append(c.minute, now)
		if len(c.minute) > c.perMinute {
			c.minute = c.minute[len(c.minute)-c.perMinute:]
		}
	}
}

// idle reports whether the lane remembers nothing that still matters.
func (c *lane) idle(now time.Time) bool {
	if c.pause.After(now) || !c.second.full(now) {
		return false
	}
	return len(c.minute) == 0 || now.Sub(c.minute[len(c.minute)-1]) > time.Minute
}

// A bucket is a token bucket that starts full. A rate of 0 is no limit.
type bucket struct {
	rate, burst float64
	spent       float64   // tokens taken and not yet refilled, as of at
	at          time.Time // when spent was counted
}

func (b *bucket) refill(now time.Time) {
	if now.After(b.at) {
		b.spent = max(0, b.spent-now.Sub(b.at).Seconds()*b.rate)
		b.at = now
	}
}

// ready is when the next token is there.
func (b *bucket) ready(now time.Time) time.Time {
	if b.rate <= 0 {
		return now
	}
	b.refill(now)
	if b.spent+1 <= b.burst+1e-9 {
		return now
	}
	return now.Add(time.Duration((b.spent + 1 - b.burst) / b.rate * float64(time.Second)))
}

func (b *bucket) take(now time.Time) {
	if b.rate > 0 {
		b.refill(now)
		b.spent++
	}
}

func (b *bucket) full(now time.Time) bool {
	b.refill(now)
	return b.rate <= 0 || b.spent == 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// A turn is one caller waiting.
type turn struct {
	class Class
	seq   uint64
	ready chan struct{}
	index int // in the heap, -1 once out of it
}

func (t *turn) before(o *turn) bool {
	if t.class != o.class {
		return t.class < o.class
	}
	return t.seq < o.seq
}

// turns is a heap of callers, the next one first.
type turns []*turn

func (q turns) Len() int           { return len(q) }
func (q turns) Less(i, j int) bool { return q[i].before(q[j]) }
func (q turns) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for package heap.
func (q *turns) Push(x any) {
	t := x.(*turn)
	t.index = len(*q)
	*q = append(*q, t)
}

// Pop is for package heap.
func (q *turns) Pop() any {
	old := *q
	t := old[len(old)-1]
	t.index = -1
	*q = old[:len(old)-1]
	return t
}
