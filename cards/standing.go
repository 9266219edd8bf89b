package cards

import "countersign/approval"

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
		t.line(wordConfirm, plain(short(v.Step.Name, maxName)))
	default:
		t.gap()
		t.line(wordElsewhere, plain(short(v.Step.Name, maxName)))
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
	if unseen := v.OfLines - v.Opened; unseen > 0 {
		w := wordUnseen
		if f.s.Confirm.NoUnseen {
			w = wordUnseenStop
		}
		t.line(w, number(unseen), number(v.OfLines))
	}
	f.undoable(t)
}

// undoable says how long an undo lasts.
func (f *face) undoable(t *text) {
	r := f.row.Request
	switch {
	case r == nil || r.Kind == approval.Halt:
	case r.Card.UndoTool == "" && r.Effect == approval.Destructive:
		t.line(wordNoUndo)
	case r.Card.UndoTool == "":
	case r.Card.UndoDays > 0:
		t.line(wordUndoneFor, days(r.Card.UndoDays))
	default:
		t.line(wordUndoable)
	}
}
