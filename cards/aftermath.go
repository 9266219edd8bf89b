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

// progress writes right under the badge how an approved call fares, so that no
// failure hides behind the approval.
func (f *face) progress(t *text, v View) {
	row := f.row
	if !f.sealed {
		return
	}
	late := Overdue(row)
	isLate := !late.IsZero() && !v.Now.Before(late)
	switch {
	case row.State == approval.Approved && isLate:
		t.line(wordUnclaimed, number(int(claimWithin/time.Minute)))
	case row.State == approval.Claimed && isLate:
		t.line(wordUnreported, f.s.when(row.Claim.At, moment))
	case row.State == approval.Claimed:
		t.line(wordRunning)
	case reported(row.State):
		f.report(t)
	}
}

// reported reports whether the runtime has said what became of it.
func reported(s approval.State) bool {
	return s.WasApproved() && s != approval.Approved && s != approval.Claimed
}

// aftermath writes what else followed the answer: its reason, lines that failed,
// the undo.
func (f *face) aftermath(t *text, v View) {
	row := f.row
	f.reason(t)
	if !row.Forgotten.IsZero() {
		t.line(wordForgotten)
	}
	switch {
	case !f.sealed && row.State.WasApproved():
		return
	case !row.State.WasApproved():
		t.line(wordNothing)
		return
	case !reported(row.State):
		return
	}
	f.details(t, v)
	switch {
	case row.State == approval.Undone:
	case row.Undo != nil:
		t.line(wordUndoAsked, plain(named(*row.Undo)))
	case row.CanUndo(v.Now):
		t.line(wordUndoUntil, f.s.when(row.UndoUntil, moment), f.undoTool())
	}
}

// reason writes why it was rejected or refused.
func (f *face) reason(t *text) {
	a := f.row.Answer
	switch {
	case !f.row.Seal.Good() && !f.row.RefusedBySeal():
		if f.row.Seal == approval.SealAbsent {
			t.line(wordUnsealed)
			return
		}
		t.line(wordTampered)
	case a == nil || a.Reason == "" || f.passed() != "":
	case f.sealed:
		t.line(wordReason, code(short(f.s.hide(a.Reason), maxReason)))
	case approval.ReasonCode(a.Reason) == approval.CodeUnsealed:
		t.line(wordUnsealed)
	default:
		t.line(wordTampered)
	}
}
