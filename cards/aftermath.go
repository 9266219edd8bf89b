package cards

import (
	"time"

	"countersign/approval"
)

// Room for what people and runtimes say afterwards, in UTF-16 units.
const (
	maxReason  = 200
	maxMessage = 160
)

// How long an approved call may go unclaimed, and a claimed one without a report,
// before its card says so.
const (
	claimWithin  = 5 * time.Minute
	reportWithin = 15 * time.Minute
)

// Overdue is when the card of row begins to say that the runtime is late, zero
// where nothing is expected of one.
func Overdue(row *approval.Row) time.Time {
	switch {
	case row.State == approval.Approved && row.Request != nil && row.Request.Kind == approval.ToolCall && !row.AnswerAt.IsZero():
		return row.AnswerAt.Add(claimWithin)
	case row.State == approval.Claimed && row.Claim != nil && !row.Claim.At.IsZero():
		return row.Claim.At.Add(reportWithin)
	}
	return time.Time{}
}

// aftermath writes what followed the answer: its reason, the run, the undo.
func (f *face) aftermath(t *text, v View) {
	row := v.Row
	f.reason(t)
	late := Overdue(row)
	isLate := !late.IsZero() && !v.Now.Before(late)
	switch row.State {
	case approval.Lapsed, approval.Rejected, approval.Withdrawn, approval.Refused:
		t.line(wordNothing)
		return
	case approval.Approved:
		if isLate {
			t.line(wordUnclaimed, number(int(claimWithin/time.Minute)))
		}
		return
	case approval.Claimed:
		if isLate {
			t.line(wordUnreported, when(row.Claim.At, moment))
		} else {
			t.line(wordRunning)
		}
		return
	}
	f.report(t, v)
	switch {
	case row.State == approval.Undone:
	case row.Undo != nil:
		t.line(wordUndoAsked, plain(named(*row.Undo)))
	case row.CanUndo(v.Now):
		t.line(wordUndoUntil, when(row.UndoUntil, moment))
	}
}

// reason writes why it was rejected or refused.
func (f *face) reason(t *text) {
	a := f.row.Answer
	switch {
	case a == nil || a.Reason == "" || f.passed() != "":
	case f.sealed:
		t.line(wordReason, code(short(f.s.hide(a.Reason), maxReason)))
	case approval.ReasonCode(a.Reason) == approval.CodeUnsealed:
		t.line(wordUnsealed)
	default:
		t.line(wordTampered)
	}
}
