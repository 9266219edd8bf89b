package delivery

import (
	"math"
	"time"
)

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

// grain is what waits are rounded up to, so that no rounding lets a call go
// before its token is there.
const grain = time.Microsecond

// ready is when the next token is there.
func (b *bucket) ready(now time.Time) time.Time {
	if b.rate <= 0 {
		return now
	}
	b.refill(now)
	if b.spent+1 <= b.burst {
		return now
	}
	missing := (b.spent + 1 - b.burst) / b.rate
	return now.Add(time.Duration(math.Ceil(missing*float64(time.Second/grain))) * grain)
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

// A window lets so many calls through in any span of time. None at most is no
// limit. A token bucket would not do: right after a burst it refills, and lets
// up to twice as many through.
type window struct {
	most  int
	span  time.Duration
	taken []time.Time // the last calls, oldest first; at most as many as matter
}

// perSecond sets a rate: that many in a second, or one in as long as it takes.
func (w *window) perSecond(rate float64) {
	w.most, w.span = int(rate), time.Second
	if rate > 0 {
		w.most = max(1, w.most)
		w.span = time.Duration(math.Ceil(float64(w.most) / rate * float64(time.Second)))
	}
}

// ready is when the next call may go.
func (w *window) ready(now time.Time) time.Time {
	if w.most <= 0 || len(w.taken) < w.most {
		return now
	}
	return w.taken[len(w.taken)-w.most].Add(w.span)
}

func (w *window) take(now time.Time) {
	w.taken = append(w.taken, now)
	if drop := len(w.taken) - max(w.most, 1); drop > 0 {
		w.taken = append(w.taken[:0], w.taken[drop:]...)
	}
}

func (w *window) empty(now time.Time) bool {
	return len(w.taken) == 0 || now.Sub(w.taken[len(w.taken)-1]) >= w.span
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
