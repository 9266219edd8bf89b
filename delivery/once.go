package delivery

import "context"

// Once works until nothing is due any more, and returns. It is [Reconciler.Run]
// for whoever decides himself when to look, as tests with a held clock do.
func (r *Reconciler) Once(ctx context.Context) error {
	for {
		due, err := r.cfg.Store.Dirty(ctx, 2*inFlight)
		if err != nil {
			return err
		}
		if len(due.Approvals)+len(due.Notices) == 0 {
			return ctx.Err()
		}
		if _, err := r.look(ctx); err != nil {
			return err
		}
		r.running.Wait()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// Take takes or keeps the lease once, and reports whether it is ours. It is
// [Leader.Run] for whoever decides himself when to work.
func (l *Leader) Take(ctx context.Context) bool {
	ours, _ := l.take(ctx)
	return ours
}
