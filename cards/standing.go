package cards

import (
	"slices"

	"countersign/approval"
)

// maxAction is how long an action may be where a card asks about it.
const maxAction = 120

// confirming reports whether the confirm step is open on this very card.
func (v View) confirming() bool {
	return v.decidable() && v.Step != nil && v.Step.CardID == v.CardID && v.CardID != ""
}

// standing writes how far an open approval has come: votes, confirm step.
func (f *face) standing(t *text, v View) {
	if f.row.Quorum > 1 {
		people := make([]approval.By, len(v.Votes))
		for i, vote := range v.Votes {
			people[i] = vote.By
		}
		if len(people) > 0 {
			t.line(wordVotes, number(len(people)), number(f.row.Quorum), names(people))
		} else {
			t.line(wordNoVotes, number(f.row.Quorum))
		}
	}
	if v.Short != 0 {
		t.line(wordShort, number(max(v.Short, 0)), number(f.row.Quorum-len(v.Votes)))
	}
	switch {
	case v.Step == nil:
	case v.confirming():
		t.gap()
		f.question(t, v)
		t.line(wordConfirm, plain(short(v.Step.Name, maxName)), own(wordWord))
		t.line(wordCancel)
	default:
		t.gap()
		t.line(wordElsewhere, plain(short(v.Step.Name, maxName)))
		if v.decidable() {
			t.line(wordCancel)
		}
	}
}

// question asks whether the person means it, and says what is new.
func (f *face) question(t *text, v View) {
	action := show(f.s.hide(f.row.Action()))
	if f.row.Request != nil && f.row.Request.Kind == approval.Halt && f.row.Request.Card.Action == "" {
		action = f.title
	}
	if cut, left := clip(string(action), maxAction); left > 0 {
		action = cut + "…"
	}
	t.line("{}", bold(action+"?"))
	f.unseen(t, v)
	f.writeUndo(t, true)
	f.careful(t, v)
}

// unseen says how many lines whoever confirms has not had in front of them. Where
// lines are cut, pages alone do not show all.
func (f *face) unseen(t *text, v View) {
	n := v.OfLines - v.Opened
	if n <= 0 {
		return
	}
	w := wordUnseen
	if slices.Contains(f.layout().cut, true) {
		w = wordUnseenCut
	}
	t.line(w, number(n), number(v.OfLines))
	if f.s.Confirm.NoUnseen {
		t.put(wordUnseenStop)
	}
}
