package cards

import (
	"cmp"
	"time"

	"countersign/approval"
)

// named shows who it was: the name, or the id where there is none.
func named(by approval.By) shown { return short(cmp.Or(by.Name, by.ID), maxName) }

// who names by in a sentence.
func who(by approval.By) piece {
	return func(t *text) {
		switch by.Surface {
		case approval.CLI:
			t.put(byCLI, plain(named(by)))
		case approval.Policy:
			t.put(byPolicy)
		case approval.Runtime:
			t.put(byProgram)
		default:
			t.put(byPerson, plain(named(by)))
		}
	}
}

// decision is the answer in a row, with whoever gave it and when.
func decision(row *approval.Row) (d approval.Decision, by approval.By, at time.Time) {
	at = row.AnswerAt
	if a := row.Answer; a != nil {
		if at.IsZero() {
			at = a.At
		}
		return a.Decision, a.By, at
	}
	if row.State.WasApproved() {
		return approval.DecisionApproved, by, at
	}
	return approval.Decision(row.State), by, at
}

// outcome writes the badge line of an answered approval.
func (f *face) outcome(t *text, v View) {
	d, by, at := decision(v.Row)
	moment := when(at, moment)
	switch d {
	case approval.DecisionApproved:
		t.line(badgeApproved, who(by), moment)
	case approval.DecisionRejected:
		t.line(badgeRejected, who(by), moment)
	case approval.DecisionLapsed:
		t.line(badgeLapsed, moment)
	case approval.DecisionWithdrawn:
		t.line(badgeWithdrawn, moment)
	default:
		t.line(badgeRefused, moment)
	}
	if a := v.Row.Answer; a != nil && len(a.Approvals) > 1 {
		t.line(wordVotes, number(len(a.Approvals)), number(v.Row.Quorum), names(a.Approvals))
	}
}

// names lists people, as many as there is room for.
func names(people []approval.By) piece {
	return func(t *text) {
		room := 3 * maxName
		for i, by := range people {
			name := named(by)
			if room -= units(string(name)) + 2; room < 0 {
				t.put(", …")
				return
			}
			if i > 0 {
				t.put(", ")
			}
			t.put("{}", plain(name))
		}
	}
}

// Room for what people and runtimes say afterwards, in UTF-16 units.
const (
	maxReason  = 200
	maxMessage = 160
	maxDetail  = 80
	maxDetails = 2
)

// aftermath writes what followed the answer: its reason, the run, the undo.
func (f *face) aftermath(t *text, v View) {
	row := v.Row
	f.reason(t)
	switch row.State {
	case approval.Lapsed, approval.Rejected, approval.Withdrawn, approval.Refused:
		t.line(wordNothing)
		return
	case approval.Claimed:
		t.line(wordRunning)
		return
	}
	f.report(t)
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
	case a == nil || a.Reason == "":
	case f.sealed:
		t.line(wordReason, code(short(f.s.hide(a.Reason), maxReason)))
	case approval.ReasonCode(a.Reason) == approval.CodeUnsealed:
		t.line(wordUnsealed)
	default:
		t.line(wordTampered)
	}
}

// report writes what the runtime said it did.
func (f *face) report(t *text) {
	r := f.row.Report
	if r == nil {
		return
	}
	switch r.Outcome {
	case approval.Executed:
		t.line(wordDone)
	case approval.Failed:
		t.line(wordFailed)
	case approval.Partial:
		t.line(wordPartly)
	case approval.Undone:
		t.line(wordUndone)
	}
	if n := len(r.Results); n > 0 {
		done := 0
		for _, res := range r.Results {
			if res.OK {
				done++
			}
		}
		t.put(wordResults, number(done), number(n))
	}
	if r.Message != "" {
		t.put(wordMessage, code(short(f.s.hide(r.Message), maxMessage)))
	}
	told := 0
	for _, res := range r.Results {
		if !res.OK && res.Detail != "" && told < maxDetails {
			told++
			t.line(wordDetail, number(res.Line), code(short(f.s.hide(res.Detail), maxDetail)))
		}
	}
}

// fates says of each reported line, counted from 1, whether it went well.
func fates(row *approval.Row) map[int]bool {
	if row.Report == nil || row.State == approval.Undone {
		return nil
	}
	fate := make(map[int]bool, len(row.Report.Results))
	for _, r := range row.Report.Results {
		fate[r.Line] = r.OK
	}
	return fate
}
