package handlers_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/handlers"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/telegram"
)

func TestForgedTaps(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	elsewhere := s.open("a2", in(ann)) // a card of another chat
	beside := s.open("a3", in(group))  // another approval's card in this chat
	s.confirming("a1", c, ann, "Ann")
	yes := s.press("a1", c, cards.LetterYes, 0)
	unrecorded := c
	unrecorded.Message = s.nextMessage()
	foreign := cards.Press{Letter: cards.LetterYes, Card: c.ID, Rev: s.read("a1").Step.Rev + 1}.Data()
	reject := s.press("a1", c, cards.LetterReject, 0)

	const unknown = cards.ToastUnknown
	for name, tap := range map[string]struct {
		on   store.Card
		data string
		want string
	}{
		"empty":                              {c, "", unknown},
		"garbage":                            {c, "\xff\x00\xfe", unknown},
		"64 bytes":                           {c, strings.Repeat("r", 64), unknown},
		"65 bytes":                           {c, yes + strings.Repeat("0", 65-len(yes)), unknown},
		"an unknown letter":                  {c, "z" + yes[1:], unknown},
		"no revision":                        {c, "y" + c.ID, unknown},
		"a negative revision":                {c, "y" + c.ID + ".-1", unknown},
		"a card nobody has":                  {c, "yAAAAAAAAAAAAAAAA.1", unknown},
		"a card of another chat":             {c, s.press("a2", elsewhere, cards.LetterReject, 0), unknown},
		"this card in another chat":          {elsewhere, reject, unknown},
		"a card of another chat, unrecorded": {unrecorded, s.press("a2", elsewhere, cards.LetterReject, 0), unknown},
		"another card of this chat":          {beside, reject, unknown},
		"a revision of no step":              {c, foreign, "This button is of an earlier step. Use the newest one."},
		"the approval's id for the card's":   {c, "ra1.1", unknown},
		"a letter in the other case":         {c, "Y" + yes[1:], unknown},
		"a revision written in another way":  {c, strings.Replace(yes, ".", ".0", 1), unknown},
	} {
		s.voice.forget()
		if got := s.taps(tap.on, ann, tap.data); got != tap.want {
			t.Errorf("%s: said %q, want %q", name, got, tap.want)
		}
	}
	for i := range len(yes) {
		flipped := []byte(yes)
		flipped[i] ^= 1
		if got := s.taps(c, ann, string(flipped)); got == cards.ToastApproved {
			t.Errorf("byte %d flipped: approved", i)
		}
		// What a flipped byte may do is to leave the step or to reject, as its sender may.
		if s.read("a1").Row.State != approval.Open {
			t.Fatalf("byte %d flipped: %s", i, s.read("a1").Row.State)
		}
	}
	for _, id := range []string{"a1", "a2", "a3"} {
		s.state(id, approval.Open)
	}
	if s.counted.of("taps_refused unknown") == 0 {
		t.Error("forged taps are not counted")
	}
}

func TestForgedTapAdoptsNothingOfOurs(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c, beside := s.open("a1", in(group)), s.open("a2", in(group))
	s.is(s.taps(beside, ann, s.press("a1", c, cards.LetterPage, 0)), cards.ToastUnknown)
	if copies := s.read("a1").Card(c.ID).Copies; len(copies) != 0 {
		t.Errorf("adopted %v", copies)
	}
	s.contains(s.says(group, ann, "reject", replying(beside.Message)), "Rejected.")
	s.state("a1", approval.Open)
	s.state("a2", approval.Rejected)
}

func TestTapsOnOtherMessages(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	action := s.press("a1", c, cards.LetterAction, 0)
	message := func(change func(fields)) func(fields) {
		return func(f fields) { change(f["message"].(fields)) }
	}
	s.is(s.taps(c, ann, action, func(f fields) { delete(f, "message"); f["inline_message_id"] = "inline" }), cards.ToastUnknown)
	for name, change := range map[string]func(fields){
		"business":   message(with("business_connection_id", "b1")),
		"guest":      message(with("guest_query_id", "g1")),
		"from a bot": func(f fields) { f["from"].(fields)["is_bot"] = true },
	} {
		s.voice.forget()
		s.handle(s.tapped(c, ann, action, change))
		if got := s.voice.answered(); len(got) != 0 {
			t.Errorf("%s: answered %q", name, got)
		}
	}
	if s.read("a1").Step != nil {
		t.Fatal("a step was opened")
	}
	// Of a message too old or deleted only the ids come; that is enough.
	s.is(s.taps(c, ann, action, message(func(f fields) { f["date"] = 0; delete(f, "text") })), "")
	if s.read("a1").Step == nil {
		t.Error("a tap on an inaccessible message did nothing")
	}
}

func TestTapOnAMessageNobodyRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	lost := c
	lost.Message = s.nextMessage()
	s.is(s.taps(lost, ann, s.press("a1", c, cards.LetterAction, 0)), "")
	got := s.read("a1").Card(c.ID)
	if _, adopted := got.Copies[lost.Message]; !adopted || got.Message != c.Message {
		t.Errorf("card %+v", got)
	}
	s.contains(s.says(group, ann, "reject", replying(lost.Message)), "Rejected.")
	s.state("a1", approval.Rejected)
}

func TestFiles(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.change(func(p *handlers.Present) { p.Cards.Confirm.NoUnseen = true })
	lines := make([]string, 308)
	for i := range lines {
		lines[i] = "An email with a rather long subject line, number " + strings.Repeat("x", 10)
	}
	raw := func(id string) []byte {
		return storetest.Request(id, storetest.WithCard(map[string]any{"lines": lines}))
	}
	c := s.openAs(raw("a1"))
	s.confirming("a1", c, ann, "Ann")
	s.contains(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), "Open all pages or the whole list first.")
	s.contains(s.taps(c, ben, s.press("a1", c, cards.LetterYes, 0)), "Ann is confirming this.")
	s.state("a1", approval.Open)
	late := s.openAs(storetest.Request("late", storetest.With("expires_in", 10), storetest.WithCard(map[string]any{"lines": lines})))
	s.confirming("late", late, ann, "Ann")
	s.advance(10 * time.Second)
	s.contains(s.taps(late, ann, cards.Press{Letter: cards.LetterYes, Card: late.ID, Rev: s.read("late").Step.Rev}.Data()), "This lapsed at")

	s.voice.file = func(telegram.Document) (telegram.Sent, error) { return telegram.Sent{}, errors.New("away") }
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterWhole, 0)), cards.ToastFile)
	s.contains(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), "Open all pages or the whole list first.")
	s.voice.file = nil
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterWhole, 0)), cards.ToastFile)
	files := s.voice.documents()
	if len(files) != 1 || strings.Count(string(files[0].Content), "An email with") != len(lines) {
		t.Fatalf("files: %d", len(files))
	}
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), cards.ToastApproved)
	if a := s.state("a1", approval.Approved).Row.Answer; a.Shown.Lines != len(lines) || a.Shown.Of != len(lines) {
		t.Errorf("shown %+v", a.Shown)
	}

	// Page after page does the same.
	c = s.openAs(raw("a2"))
	s.confirming("a2", c, ann, "Ann")
	pages := cards.Pages(s.read("a2").Row, cards.Settings{})
	for page := range pages - 1 {
		s.contains(s.taps(c, ann, s.press("a2", c, cards.LetterYes, 0)), "Open all pages or the whole list first.")
		s.is(s.taps(c, ann, s.press("a2", c, cards.LetterPage, page+1)), "")
	}
	s.is(s.taps(c, ann, s.press("a2", c, cards.LetterYes, 0)), cards.ToastApproved)
	s.is(s.taps(c, ann, s.press("a2", c, cards.LetterPage, 5000)), "")
	if page := s.read("a2").Card(c.ID).Page; page != pages-1 {
		t.Errorf("page %d of %d", page, pages)
	}
}

func TestExactCall(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1")
	s.is(s.taps(c, rita, s.press("a1", c, cards.LetterExact, cards.ExactShow)), "")
	if !s.read("a1").Card(c.ID).Exact {
		t.Error("the exact call is not shown")
	}
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterExact, cards.ExactHide)), "")
	if s.read("a1").Card(c.ID).Exact {
		t.Error("the exact call is still shown")
	}
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterExact, cards.ExactSend)), cards.ToastFile)
	if files := s.voice.documents(); len(files) != 1 || !strings.Contains(string(files[0].Content), `"m3"`) {
		t.Errorf("files %+v", files)
	}
}
