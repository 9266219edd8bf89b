package handlers_test

import (
	"strings"
	"testing"

	"countersign/approval"
	"countersign/cards"
)

// FuzzCallbackData has an owner tap with any data, on the way of every tap: each is
// answered, none approves, for no step is open, and a row changes only by a button
// of its own card. CARD in the data stands for the id of that card, which differs
// from run to run.
func FuzzCallbackData(f *testing.F) {
	for _, letter := range []byte{
		cards.LetterAction, cards.LetterYes, cards.LetterCancel, cards.LetterReject, cards.LetterExact, cards.LetterPage,
		cards.LetterWhole, cards.LetterUndo,
	} {
		for arg := range 2 {
			f.Add(cards.Press{Letter: letter, Card: "CARD", Rev: 1, Arg: arg}.Data())
		}
	}
	f.Fuzz(func(t *testing.T, data string) {
		s := newScene(t)
		c := s.open("a1", in(ann))
		s.voice.forget()
		data = strings.ReplaceAll(data, "CARD", c.ID)
		s.handle(s.tapped(c, ann, data))
		if n := len(s.voice.answered()); n != 1 {
			t.Errorf("%d answers", n)
		}
		r := s.read("a1")
		state, step := approval.Open, false
		if press, err := cards.ParsePress(data); err == nil && press.Card == c.ID {
			switch press.Letter {
			case cards.LetterReject:
				state = approval.Rejected
			case cards.LetterAction:
				step = true
			}
		}
		if r.Row.State != state || (r.Step != nil) != step {
			t.Errorf("%q made it %s (step %v)", data, r.Row.State, r.Step)
		}
		if n := s.counted.of("updates_aside"); n != 0 {
			t.Error("a tap was set aside")
		}
	})
}
