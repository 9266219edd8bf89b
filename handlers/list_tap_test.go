package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// listed is the list that somebody is told, with its buttons.
func (s *scene) listed(chat, from int64) telegram.Outgoing {
	s.Helper()
	s.says(chat, from, "/pending")
	return s.voice.words()[0]
}

// tapsList taps the button with a text under a list.
func (s *scene) tapsList(list telegram.Outgoing, from int64, label string) string {
	s.Helper()
	for _, row := range list.Keyboard {
		for _, b := range row {
			if b.Text == label {
				return s.taps(store.Card{Chat: list.Chat, Message: s.nextMessage()}, from, b.Data)
			}
		}
	}
	s.Fatalf("no button %q in %+v", label, list.Keyboard)
	return ""
}

// TestAListBringsCardsDown: a button of the list does what /show with its reference
// does, for whoever taps it, and no more.
func TestAListBringsCardsDown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.open("a1", in(group))
	label := "#" + s.read("a1").Row.Ref
	list := s.listed(group, ann)
	s.is(s.tapsList(list, ann, label), cards.ToastBelow)
	r := s.read("a1")
	if !r.Card(first.ID).Retired || r.At(group).ID == first.ID {
		t.Fatalf("cards %+v", r.Cards)
	}
	second := r.At(group).ID
	s.sent("a1", second, store.TheCard, 0)

	s.is(s.tapsList(list, sam, label), cards.ToastStranger)
	if n := len(s.read("a1").Cards); n != 2 {
		t.Errorf("a stranger made a card: %d", n)
	}
	s.is(s.tapsList(list, rita, label), cards.ToastBelow) // a copy, and nothing is retired
	if r := s.read("a1"); len(r.Cards) != 3 || r.Card(second).Retired {
		t.Errorf("cards %+v", r.Cards)
	}

	// Where a step is open the card is pointed at.
	shown := *s.read("a1").Card(second)
	s.confirming("a1", shown, ben, "Ben")
	s.is(s.tapsList(list, ann, label), cards.ToastBelow)
	if said := s.voice.words(); len(said) != 1 || said[0].Plain != "Here it is." || said[0].ReplyTo != shown.Message {
		t.Errorf("said %+v", said)
	}
	s.state("a1", approval.Open)
}

// TestAListNamesNoMoreThanItMay: buttons made up, or of a list shown elsewhere,
// lead nowhere.
func TestAListNamesNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.open("hidden", in(ben), func(o *store.Opening) { o.Owners = []int64{ben} })
	ref := s.read("hidden").Row.Ref
	for _, c := range []struct {
		chat, from int64
		card       string
	}{{ann, ann, ref}, {group, ben, ref}, {group, rita, ref}, {ben, ben, strings.ToLower(ref)}, {ben, ben, "ZZZZZ"}, {ben, ben, "a"}, {dora, dora, ref}} {
		data := cards.Press{Letter: cards.LetterShow, Card: c.card}.Data()
		s.is(s.taps(store.Card{Chat: c.chat, Message: 7}, c.from, data), cards.ToastUnknown)
	}
	if n := len(s.read("hidden").Cards); n != 1 {
		t.Errorf("%d cards", n)
	}
	more := cards.Press{Letter: cards.LetterMore, Card: cards.ListOpen}.Data()
	s.is(s.taps(store.Card{Chat: ann, Message: 7}, ann, more), "")
	if said := s.voice.words()[0]; strings.Contains(said.Plain, ref) {
		t.Errorf("said %q", said.Plain)
	}
}

// TestALongListGoesOn: every approval is named once, on one stretch of the list,
// with a button; each stretch is bounded.
func TestALongListGoesOn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const n = 47
	for i := range n {
		s.open(fmt.Sprintf("a%d", i), in(ann))
	}
	named := map[string]int{}
	list := s.listed(ann, ann)
	for range n {
		more := ""
		buttons := 0
		for _, row := range list.Keyboard {
			for _, b := range row {
				if press, err := cards.ParsePress(b.Data); err == nil && press.Letter == cards.LetterShow {
					named[press.Card]++
					buttons++
				} else {
					more = b.Text
				}
			}
		}
		if buttons == 0 || buttons > 20 {
			t.Fatalf("%d buttons: %+v", buttons, list.Keyboard)
		}
		if more == "" {
			break
		}
		s.is(s.tapsList(list, ann, more), "")
		list = s.voice.words()[0]
	}
	if len(named) != n {
		t.Errorf("%d approvals were named, want %d", len(named), n)
	}
	for ref, times := range named {
		if times != 1 {
			t.Errorf("%s was named %d times", ref, times)
		}
	}
}
