package store

import (
	"context"
	"fmt"
	"time"

	"countersign/approval"
)

// Claimed takes a claim's own event: an approved row becomes claimed, if the
// claim is really there with the row's pin.
func (s *Store) Claimed(ctx context.Context, c approval.ClaimEvent, stream string, now time.Time) (Status, error) {
	k := s.keys
	if s.signs != nil {
		r, err := s.Read(ctx, c.ID)
		if err != nil {
			return "", err
		}
		if r.Row != nil && r.Row.Stream == stream && r.unproved() {
			_, _, err := s.Refuse(ctx, r)
			return NoClaim, err
		}
	}
	// Digests never change; those of the row are audited, not what the event says.
	digests, err := s.rdb.HMGet(ctx, k.Row(c.ID), "terms", "pin").Result()
	if err != nil {
		return "", fmt.Errorf("store: claimed %q: %w", c.ID, err)
	}
	audit := approval.Audit{
		ID: c.ID, From: approval.Approved, To: approval.Claimed, At: now, BySurface: approval.Runtime,
		ByID: c.By, Terms: asString(digests[0]), Pin: asString(digests[1]),
	}
	v, err := s.run(ctx, "claimed", []string{k.Row(c.ID), k.Claim(c.ID), k.dirty(), k.wake(), k.audit()},
		k.Prefix(), c.ID, stream, auditText(audit), s.retention.Milliseconds())
	return Status(asString(v)), err
}

// A Reporting is a report with where and when it came.
type Reporting struct {
	Report  approval.Report
	Data    []byte // as sent
	Stream  string
	EntryMS int64 // the entry's id
	EntrySQ int64
}

// Reported takes a report of what happened. The reading it returns is the one
// the report was judged by.
func (s *Store) Reported(ctx context.Context, p Reporting) (Status, *Reading, error) {
	for range attemptLimit {
		r, err := s.Read(ctx, p.Report.ID)
		if err != nil {
			return "", nil, err
		}
		if r.Row == nil {
			return Unknown, r, nil
		}
		if r.Row.Stream == p.Stream && r.unproved() {
			// If it was not answered yet, it is now.
			_, _, err := s.Refuse(ctx, r)
			return NotApproved, r, err
		}
		status, err := s.report(ctx, r, p)
		if err != nil || status != Changed {
			return status, r, err
		}
	}
	return "", nil, fmt.Errorf("store: %q changed %d times while it was reported", p.Report.ID, attemptLimit)
}

// unproved reports whether a row is in a state of approved ones that somebody gave it:
// its seal does not hold, and no answer that does approves it.
func (r *Reading) unproved() bool {
	row := r.Row
	return !row.Seal.Good() && row.State.WasApproved() && (row.Answer == nil || row.Answer.Decision != approval.DecisionApproved)
}

func (s *Store) report(ctx context.Context, r *Reading, p Reporting) (Status, error) {
	until := s.undoUntil(r, p.Report)
	audit := approval.Audit{
		ID: r.ID, From: r.Row.State, To: p.Report.Outcome, At: r.Now, BySurface: approval.Runtime,
		ByID: r.Row.Stream, Pin: r.Row.Pin, Terms: r.Row.Terms, Results: p.Report.Results,
	}
	k := s.keys
	v, err := s.run(ctx, "report", []string{k.Row(r.ID), k.dirty(), k.wake(), k.audit()},
		k.Prefix(), r.ID, p.Stream, string(p.Report.Outcome), string(p.Data), p.EntryMS, p.EntrySQ,
		until, auditText(audit), s.retention.Milliseconds(), string(r.Row.State))
	return Status(asString(v)), err
}

// undoUntil is when the undo offer of a report ends, in Unix ms, 0 if there is
// none: only where an undo is declared and something was done.
func (s *Store) undoUntil(r *Reading, p approval.Report) int64 {
	if r.Row.Request == nil || !r.Row.Seal.Good() || r.Row.Request.Card.UndoTool == "" {
		return 0
	}
	if p.Outcome != approval.Executed && p.Outcome != approval.Partial {
		return 0
	}
	if p.UndoUntil != nil {
		// The row lives as long as the offer, so that has an end.
		return min(p.UndoUntil.UnixMilli(), r.Now.Add(approval.MaxDays*24*time.Hour).UnixMilli())
	}
	if days := r.Row.Request.Card.UndoDays; days > 0 {
		return r.Now.Add(time.Duration(days) * 24 * time.Hour).UnixMilli()
	}
	return 0
}

// alarmQuiet is how long a runtime's further alarms are not told.
const alarmQuiet = 10 * time.Minute

// Alarm reports whether a call that ran unapproved is to be told to the owners:
// once per approval, and at most once in ten minutes per runtime. The entry that
// reported it is told of again if it comes again.
func (s *Store) Alarm(ctx context.Context, id, runtime, entry string) (bool, error) {
	v, err := s.run(ctx, "alarm", []string{s.keys.alarms(), s.keys.alarmed(id)},
		runtime, alarmQuiet.Milliseconds(), s.retention.Milliseconds(), entry)
	return asString(v) == "1", err
}
