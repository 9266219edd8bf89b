package queue

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"countersign/approval"
	"countersign/schemas"
	"countersign/store"
)

// The events that come after a request are taken only from the stream by which
// it came.

// planWithdrawal reads an approval.withdrawn.
func (r *reader) planWithdrawal(j *job, data *approval.Data, _ time.Time) {
	w, err := data.Withdrawal()
	if err == nil {
		err = r.in.conforms(schemas.Withdrawn, w.ID, data)
	}
	if err != nil {
		r.setAside(j, err.Error())
		return
	}
	j.do = func(ctx context.Context) error { return r.withdraw(ctx, j.entry, w) }
}

// withdraw takes an open approval back, or remembers the withdrawal until its
// request comes. After an answer it has no effect.
func (r *reader) withdraw(ctx context.Context, e entry, w approval.Withdrawal) error {
	reading, err := r.in.cfg.Store.Read(ctx, w.ID)
	if err != nil {
		return err
	}
	if reading.Row == nil {
		remembered, err := r.in.cfg.Store.Withdrawn(ctx, w.ID, r.stream.Key, w.Reason, r.in.cfg.Durations().Max)
		if err != nil {
			return err
		}
		if remembered {
			r.in.cfg.Count(EventRemembered, "")
			return nil
		}
		// The request came in between, by another consumer.
		if reading, err = r.in.cfg.Store.Read(ctx, w.ID); err != nil {
			return err
		}
	}
	if reading.Row != nil && reading.Row.Stream != r.stream.Key {
		return r.dead(ctx, e, deadStream)
	}
	var asked *approval.Request
	if reading.Row != nil {
		asked = reading.Row.Request
	}
	status, _, err := r.in.cfg.Store.Decide(ctx, reading, store.Attempt{
		Decision: approval.DecisionWithdrawn, Guard: store.ByRuntime, Stream: r.stream.Key,
		By: byRuntime(asked, r.stream.Key), Reason: w.Reason,
	})
	if err != nil {
		return err
	}
	switch status {
	case store.Done:
		r.in.cfg.Count(EventWithdrawn, "")
		return nil
	case store.WrongStream:
		return r.dead(ctx, e, deadStream)
	case store.NotOpen, store.Late, store.Unknown, store.Meddled: // answered, about to lapse, gone, or refused by its seal
		r.in.cfg.Count(EventRepeated, "")
		return nil
	}
	return fmt.Errorf("queue: unknown outcome %q of withdrawing %q", status, w.ID)
}

// planClaim reads an approval.claimed.
func (r *reader) planClaim(j *job, data *approval.Data, now time.Time) {
	c, err := data.Claim()
	if err == nil {
		err = r.in.conforms(schemas.Claimed, c.ID, data)
	}
	if err != nil {
		r.setAside(j, err.Error())
		return
	}
	j.do = func(ctx context.Context) error { return r.claimed(ctx, j.entry, c, now) }
}

func (r *reader) claimed(ctx context.Context, e entry, c approval.ClaimEvent, now time.Time) error {
	status, err := r.in.cfg.Store.Claimed(ctx, c, r.stream.Key, now)
	if err != nil {
		return err
	}
	switch status {
	case store.Done:
		r.in.cfg.Count(EventClaimed, "")
		return nil
	case store.Past:
		r.in.cfg.Count(EventRepeated, "")
		return nil
	case store.Unknown:
		return r.dead(ctx, e, deadUnknown)
	case store.WrongStream:
		return r.dead(ctx, e, deadStream)
	case store.NoClaim:
		return r.dead(ctx, e, deadClaim)
	}
	return fmt.Errorf("queue: unknown outcome %q of the claim of %q", status, c.ID)
}

// planReport reads an approval.reported.
func (r *reader) planReport(j *job, data *approval.Data, _ time.Time) {
	p, err := data.Report()
	if err == nil {
		err = r.in.conforms(schemas.Reported, p.ID, data)
	}
	if err != nil {
		r.setAside(j, err.Error())
		return
	}
	ms, seq := j.entry.position()
	reporting := store.Reporting{Report: p, Data: data.Raw(), Stream: r.stream.Key, EntryMS: ms, EntrySQ: seq}
	j.do = func(ctx context.Context) error { return r.reported(ctx, j.entry, reporting) }
}

func (r *reader) reported(ctx context.Context, e entry, p store.Reporting) error {
	status, reading, err := r.in.cfg.Store.Reported(ctx, p)
	if err != nil {
		return err
	}
	switch status {
	case store.Done:
		r.in.cfg.Count(EventReported, "")
		return nil
	case store.Old, store.Final:
		r.in.cfg.Count(EventRepeated, "")
		return nil
	case store.Unknown:
		return r.dead(ctx, e, deadUnknown)
	case store.WrongStream:
		return r.dead(ctx, e, deadStream)
	case store.NotApproved:
		if p.Report.Outcome == approval.Failed {
			return r.dead(ctx, e, deadNoApproval) // it did not run, which is right
		}
		if err := r.alarm(ctx, e, reading.Row, p.Report.Outcome); err != nil {
			return err
		}
		return r.dead(ctx, e, deadUnapproved)
	}
	return fmt.Errorf("queue: unknown outcome %q of the report of %q", status, p.Report.ID)
}

// alarm tells every owner that a call ran which nobody had approved.
// The notices have names, so that a kill half way doubles none.
func (r *reader) alarm(ctx context.Context, e entry, row *approval.Row, outcome approval.State) error {
	runtime := byRuntime(row.Request, row.Stream).ID
	tell, err := r.in.cfg.Store.Alarm(ctx, row.ID, runtime, e.id)
	if err != nil || !tell {
		return err
	}
	for _, owner := range r.in.cfg.Owners() {
		n := store.Notice{
			ID: "unapproved:" + row.ID + ":" + strconv.FormatInt(owner, 10), Kind: store.Unapproved, Chat: owner,
			IDs: []string{row.ID}, Total: 1, Outcome: outcome,
		}
		if _, err := r.in.cfg.Store.NewNotice(ctx, n, 0); err != nil {
			return err
		}
	}
	return nil
}
