package queue

import (
	"context"
	"errors"

	"countersign/store"
)

// An attempt is a row to open, and what follows from what that came to: nothing more,
// or another attempt.
type attempt struct {
	opening store.Opening
	then    func(ctx context.Context, status store.OpenStatus, detail string) (*attempt, error)
}

// openAll opens rows abreast: all attempts that are due go to Redis in one exchange,
// and what follows from them in another. Each entry is settled by itself, whatever
// becomes of the others.
func (r *reader) openAll(ctx context.Context, jobs []*job) error {
	type due struct {
		job *job
		try *attempt
	}
	var errs []error
	all := make([]due, 0, len(jobs))
	for _, j := range jobs {
		var try *attempt
		if err := recovered(func() error { try = j.open(); return nil }); err != nil {
			errs = append(errs, r.settle(ctx, j, err))
			continue
		}
		all = append(all, due{j, try})
	}
	for len(all) > 0 {
		openings := make([]store.Opening, len(all))
		for i, d := range all {
			openings[i] = d.try.opening
		}
		results := r.tryAll(ctx, openings)
		further := all[:0]
		for i, d := range all {
			var next *attempt
			err := results[i].Err
			if err == nil {
				err = recovered(func() (err error) {
					next, err = d.try.then(ctx, results[i].Status, results[i].Detail)
					return err
				})
			}
			if err == nil && next != nil {
				further = append(further, due{d.job, next})
				continue
			}
			errs = append(errs, r.settle(ctx, d.job, err))
		}
		all = further
	}
	return errors.Join(errs...)
}

// tryAll opens several rows in one exchange. Where that panics each is opened by
// itself, so that only the one to blame fails.
func (r *reader) tryAll(ctx context.Context, openings []store.Opening) (results []store.OpenResult) {
	st := r.in.cfg.Store
	if len(openings) > 1 {
		err := recovered(func() error { results = st.OpenAll(ctx, openings); return nil })
		if err == nil {
			return results
		}
		r.in.fault(err).Str("stream", r.stream.Key).Msg("opening several rows panicked; each is opened by itself")
	}
	results = make([]store.OpenResult, len(openings))
	for i, o := range openings {
		res := &results[i]
		res.Err = recovered(func() (err error) {
			res.Status, res.Detail, err = st.Open(ctx, o)
			return err
		})
	}
	return results
}
