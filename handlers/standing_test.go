package handlers_test

import (
	"testing"
	"time"

	"countersign/approval"
	"countersign/handlers"
	"countersign/store/storetest"
)

// An update may come late, or after one that was made later in another chat.
func TestYesWrittenBeforeItsStepConfirmsNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	early := s.written(group, ann, "yes", replying(c.Message))
	s.advance(20 * time.Second)
	s.confirming("a1", c, ann, "Ann")
	s.handle(early)
	s.state("a1", approval.Open)
	s.advance(2 * time.Second)
	s.is(s.says(group, ann, "yes", replying(c.Message)), "Approved.")
}

// What stands on the card in this chat is in front of whoever types there; other
// pages are not.
func TestTypedWhileLinesAreUnopened(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.change(func(p *handlers.Present) { p.Cards.Confirm.NoUnseen = true })
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = "An email"
	}
	s.openAs(storetest.Request("a1", storetest.WithCard(map[string]any{"lines": lines})), in(ann))
	s.says(ann, ann, "approve")
	s.contains(s.says(ann, ann, "yes"), "of the 300 lines in full yet.")
	s.state("a1", approval.Open)

	c := s.open("a2", in(group))
	s.says(group, ann, "approve", replying(c.Message))
	s.is(s.says(group, ann, "yes", replying(s.voice.question())), "Approved.")
	if shown := s.state("a2", approval.Approved).Row.Answer.Shown; shown == nil || *shown != (approval.Shown{Lines: 3, Of: 3}) {
		t.Errorf("shown %+v", shown)
	}
}
