package delivery

import (
	"context"
	"time"

	"countersign/store"
)

// How long an approval that cannot be read is left alone: the first time, and
// in the end.
const (
	unreadFirst   = time.Minute
	unreadLongest = time.Hour
)

// putOff leaves an approval that cannot be read alone, for longer every time,
// and says so once a time. A change marks it again and heals it at once, if it
// does.
func (r *Reconciler) putOff(ctx context.Context, bad *store.UnreadableError, lease store.Lease) {
	r.mu.Lock()
	w := r.unread[bad.ID]
	told := bad.Now.Before(w.until)
	if !told {
		w.length = grown(unreadFirst, w.fails, unreadLongest)
		w.until = bad.Now.Add(w.length)
		w.fails++
		r.unread[bad.ID] = w
	}
	r.mu.Unlock()
	if !told {
		r.cfg.Log.Error().Err(bad).Dur("again_in", w.length).Msg("an approval cannot be read; its cards wait until what is kept of it is mended")
		r.cfg.Count("unreadable")
	}
	if _, err := r.cfg.Store.PutOff(ctx, bad, w.until.Sub(bad.Now), lease); err != nil && ctx.Err() == nil {
		r.unrecorded(err, bad.ID)
	}
}
