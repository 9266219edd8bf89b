package delivery

import (
	"time"

	"countersign/store"
)

// What the tests of package delivery_test look at from inside.
var (
	// ViewOf is how one card is to be drawn.
	ViewOf = view
)

// Needs counts what an approval needs now.
func Needs(r *store.Reading, p Present) int { return len(planFor(r, p, nil).needs) }

// Waiting counts the chats that a Pace keeps a lane of, and whether it has a
// timer.
func (p *Pace) Waiting() (lanes int, timer bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.chats), p.timer != nil
}

// RestNotice is when to look at a notice again.
func (r *Reconciler) RestNotice(nid string, d time.Duration) time.Duration {
	return r.restNotice(nid, d)
}
