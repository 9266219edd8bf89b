package cards

import (
	"cmp"
	"strings"
	"time"

	"countersign/approval"
)

// named shows who it was: the name, or the id where there is none.
func named(by approval.By) shown { return short(cmp.Or(by.Name, by.ID), maxName) }

// who names by in a sentence.
func who(by approval.By) piece {
	switch by.Surface {
	case approval.CLI:
		return own(words(fill(byCLI, unlinked(string(named(by))))))
	case approval.Policy:
		return own(byPolicy)
	case approval.Runtime:
		return own(byProgram)
	}
	return plain(named(by))
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

// passed says why the operator's policy let it pass, in the words after the code;
// "" if a person answered, or nobody has.
func (f *face) passed() string {
	a := f.row.Answer
	if a == nil || a.Decision != approval.DecisionApproved || a.By.Surface != approval.Policy {
		return ""
	}
	if _, why, ok := strings.Cut(a.Reason, ": "); ok {
		return why
	}
	return a.Reason
}

// outcome writes the badge line of an answered approval.
func (f *face) outcome(t *text, v View) {
	d, by, at := decision(v.Row)
	moment := f.s.when(at, moment)
	switch d {
	case approval.DecisionApproved:
		if why := f.passed(); why != "" {
			t.line(f.troubled(badgePassedBut, badgePassed), plain(short(f.s.hide(why), maxReason)), moment)
			break
		}
		t.line(f.troubled(badgeApprovedBut, badgeApproved), who(by), moment)
	case approval.DecisionRejected:
		t.line(badgeRejected, who(by), moment)
	case approval.DecisionLapsed:
		t.line(badgeLapsed, moment)
	case approval.DecisionWithdrawn:
		t.line(badgeWithdrawn, moment)
	default:
		t.line(badgeRefused, moment)
	}
	f.progress(t, v)
	if a := v.Row.Answer; a != nil && len(a.Approvals) > 1 {
		t.line(wordVotes, number(len(a.Approvals)), number(v.Row.Quorum), names(a.Approvals))
	}
}

// troubled is bad where the report says that not all was done, else good.
func (f *face) troubled(bad, good words) words {
	if f.row.State == approval.Failed || f.row.State == approval.Partial {
		return bad
	}
	return good
}

// names lists people, as many as there is room for.
func names(people []approval.By) piece {
	var b strings.Builder
	room := 3 * maxName
	for i, by := range people {
		name := named(by)
		if room -= units(string(name)) + 2; room < 0 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(unlinked(string(name)))
	}
	return own(words(b.String()))
}
