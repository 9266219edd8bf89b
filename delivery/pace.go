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
	PerSecond      float64 // the whole bot, in any second; a fraction is one in more than a second
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
	Word     // to somebody who asked, or a stranger
	Finished // about what a policy let pass: nobody is asked, and nobody waits
)

// Pace lets calls through in order of class, within the limits of each chat
// and of the bot. It is safe for concurrent use.
type Pace struct {
	now func() time.Time

	mu     sync.Mutex // guards everything below
	limits Limits
	chats  map[int64]*lane
	total  window
	pause  time.Time // the whole bot waits until then
	last   time.Time // when the last single chat was told to wait
	seq    uint64
	timer  *time.Timer
}

// NewPace returns a Pace that reads the time from now.
func NewPace(l Limits, now func() time.Time) *Pace {
	p := &Pace{now: now, limits: l, chats: map[int64]*lane{}}
	p.total.perSecond(l.PerSecond)
	return p
}

// SetLimits changes the limits from now on.
func (p *Pace) SetLimits(l Limits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits = l
	p.total.perSecond(l.PerSecond)
	for chat, c := range p.chats {
		c.limit(chat, l)
	}
	p.serve()
}

// A lane is one chat's queue.
type lane struct {
	second  bucket
	minute  window // of a group
	pause   time.Time
	waiting turns
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
		if t.index < 0 {
			return true, nil // its turn came first, and is spent
		}
		heap.Remove(&p.lane(chat).waiting, t.index)
		p.serve() // nothing is left of it, not even a timer
		return true, context.Cause(ctx)
	}
}

// Spend counts a call that does not wait, such as an answer to a tap.
func (p *Pace) Spend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total.take(p.now())
}

// Charge counts a further call about a chat, made without waiting in the same
// turn.
func (p *Pace) Charge(chat int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.lane(chat).take(now)
	p.total.take(now)
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
		c = &lane{}
		c.limit(chat, p.limits)
		p.chats[chat] = c
	}
	return c
}

// limit sets a chat's limits; only a group has one per minute.
func (c *lane) limit(chat int64, l Limits) {
	c.second.rate, c.second.burst = l.ChatPerSecond, chatBurst
	c.minute.span, c.minute.most = time.Minute, 0
	if chat < 0 {
		c.minute.most = l.GroupPerMinute
	}
}

// serve lets through whoever may go now and sets the timer for the next one.
// The caller holds mu.
//
// A scan of all lanes for every call is cheap beside the call.
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
	return later(later(c.pause, c.second.ready(now)), c.minute.ready(now))
}

func (c *lane) take(now time.Time) {
	c.second.take(now)
	c.minute.take(now)
}

// idle reports whether the lane remembers nothing that still matters.
func (c *lane) idle(now time.Time) bool {
	return !c.pause.After(now) && c.second.full(now) && c.minute.empty(now)
}
