package delivery

import (
	"context"

	"countersign/store"
)

// prepare does what an approval needs before its cards can be thought of: one whose
// seal does not hold is refused, cards whose chat has moved go with it, and an
// approval that can be asked nowhere is refused. It reports whether to read it again.
func (r *Reconciler) prepare(ctx context.Context, j *job, reading *store.Reading, lease store.Lease) (changed bool, err error) {
	if row := reading.Row; row != nil && !row.Seal.Good() {
		if changed, err := r.meddled(ctx, reading); changed || err != nil {
			return changed, err
		}
	}
	r.mu.Lock()
	idle := len(j.busy) == 0
	r.mu.Unlock()
	switch strayed := reading.Strayed(); {
	case strayed && idle:
		return true, r.cfg.Store.Rehome(ctx, reading.ID, lease)
	case strayed:
		return false, nil // what is under way is recorded under the chat it was sent to
	}
	if why := unreachable(reading); why != "" {
		return r.refuse(ctx, reading, why)
	}
	return false, nil
}
