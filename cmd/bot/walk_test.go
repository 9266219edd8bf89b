package main

import (
	"time"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
)

// walk goes a good part of the way to an approval, so that a run sees whole
// lives and not only beginnings: the card, the action, the step, Yes. Between
// any two of these something else may happen.
func (w *scene) walk(t *rapid.T) {
	w.intake(t)
	w.deliver(t)
	var open []string
	for _, id := range w.ids {
		if w.fates[id].live(w.clock.Now()) {
			open = append(open, id)
		}
	}
	if len(open) == 0 {
		return
	}
	f := w.fates[rapid.SampledFrom(open).Draw(t, "open")]
	who := rapid.SampledFrom([]int64{annID, annID, olgaID}).Draw(t, "walker")
	for _, letter := range []byte{cards.LetterAction, cards.LetterYes} {
		if letter == cards.LetterYes {
			w.temptation(t, f, who)
		}
		if !w.goOn(t, f, who, letter) {
			return
		}
		w.check(t)
	}
}

// goOn taps one button as it is shown now, lets something else happen, and has
// everything handled and drawn.
func (w *scene) goOn(t *rapid.T, f *fate, who int64, letter byte) bool {
	b, ok := w.showing(f, who, letter)
	if !ok {
		return false
	}
	w.tapAs(who, b)
	w.meanwhile(t)
	w.handleAll(t)
	return true
}

func (w *scene) tapAs(who int64, b button) {
	w.people[who].TapData(w.message(b.chat, b.message), b.data)
}

func (w *scene) handleAll(t *rapid.T) {
	for w.sim.PendingUpdates() > 0 {
		w.handle(t)
	}
	w.deliver(t)
}

// temptation does, before a Yes that may count, one thing that must make it not
// count, or must not count itself. The clock moves past the dwell, or not.
func (w *scene) temptation(t *rapid.T, f *fate, who int64) {
	other := int64(annID)
	if who == annID {
		other = olgaID
	}
	yes, shown := w.showing(f, who, cards.LetterYes)
	w.clock.move(rapid.SampledFrom([]time.Duration{100 * time.Millisecond, 3 * time.Second, 3 * time.Second}).Draw(t, "dwell"))
	if !shown {
		return
	}
	switch rapid.IntRange(0, 8).Draw(t, "temptation") {
	case 0, 1: // somebody else says yes
		w.tapAs(other, yes)
	case 2, 3: // the step was cancelled and opened again: the old Yes is of an earlier step
		if w.goOn(t, f, other, cards.LetterCancel) && w.goOn(t, f, who, cards.LetterAction) {
			w.clock.move(3 * time.Second)
			w.tapAs(who, yes)
		}
	case 4: // the old Cancel against the new step
		if cancel, ok := w.showing(f, who, cards.LetterCancel); ok {
			w.goOn(t, f, who, cards.LetterCancel)
			w.goOn(t, f, who, cards.LetterAction)
			w.tapAs(other, cancel)
		}
	case 5:
		w.clock.move(modelWindow + time.Second)
	case 6: // a stranger and a reader
		w.tapAs(benID, button{chat: teamID, message: yes.message, data: yes.data})
		w.tapAs(samID, button{chat: teamID, message: yes.message, data: yes.data})
	case 7: // Yes twice
		w.tapAs(who, yes)
	}
	w.handleAll(t)
}

// meanwhile is what may happen while a tap is on its way.
func (w *scene) meanwhile(t *rapid.T) {
	switch rapid.IntRange(0, 25).Draw(t, "meanwhile") {
	case 0:
		w.press(t)
	case 1:
		w.sweep(t)
	case 2:
		w.operator(t)
	case 3:
		w.withdraw(t)
		w.intake(t)
	case 4:
		w.restart(t)
	case 5:
		w.advance(t)
	case 6:
		w.word(t)
	}
}

// showing is a button of an approval as it is shown now, in a chat that the
// person is in.
func (w *scene) showing(f *fate, who int64, letter byte) (button, bool) {
	for i := len(w.buttons) - 1; i >= 0; i-- {
		b := w.buttons[i]
		if b.id == f.id && b.data[0] == letter && (b.chat == who || b.chat == teamID) {
			return b, true
		}
	}
	return button{}, false
}

// approvedOr is an approval that may be run, or else any.
func (w *scene) approvedOr(t *rapid.T) string {
	var ids []string
	for _, id := range w.ids {
		if w.fates[id].approved {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 && rapid.IntRange(0, 4).Draw(t, "approved") > 0 {
		return rapid.SampledFrom(ids).Draw(t, "id")
	}
	return w.anyID(t)
}

// undo has an owner tap Undo where it is offered.
func (w *scene) undo(t *rapid.T) {
	w.deliver(t)
	for _, id := range w.ids {
		f := w.fates[id]
		if f.state != approval.Executed && f.state != approval.Partial {
			continue
		}
		if b, ok := w.showing(f, annID, cards.LetterUndo); ok {
			w.people[annID].TapData(w.message(b.chat, b.message), b.data)
			return
		}
	}
}
