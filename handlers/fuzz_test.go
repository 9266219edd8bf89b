package handlers_test

import (
	"testing"

	"countersign/approval"
	"countersign/cards"
)

// FuzzCallbackData has owners tap with any data, on the way of every tap: each is
// answered, and none approves, for no step is open.
func FuzzCallbackData(f *testing.F) {
	for _, data := range []string{"", "a", "A", "yes", "\x00", "a:b:c", "Y" + "AAAAAAAAAAAAAAAA" + "1"} {
		f.Add(data)
	}
	s := newScene(f)
	c := s.open("a1", in(ann))
	for _, letter := range []byte{cards.LetterAction, cards.LetterYes, cards.LetterCancel, cards.LetterReject, cards.LetterUndo, cards.LetterPage} {
		f.Add(s.press("a1", c, letter, 1))
	}
	f.Fuzz(func(t *testing.T, data string) {
		s := newScene(t)
		c := s.open("a1", in(ann))
		s.voice.forget()
		s.handle(s.tapped(c, ann, data))
		if n := len(s.voice.answered()); n != 1 {
			t.Errorf("%d answers", n)
		}
		r := s.read("a1")
		press, err := cards.ParsePress(data)
		mine := err == nil && press.Card == c.ID
		if r.Row.State == approval.Approved || !mine && (r.Row.State != approval.Open || r.Step != nil) {
			t.Errorf("%q made it %s (step %v)", data, r.Row.State, r.Step)
		}
		if n := s.counted.of("updates_aside"); n != 0 {
			t.Error("a tap was set aside")
		}
	})
}
