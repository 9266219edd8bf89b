package handlers_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/cards"
	"countersign/handlers"
	"countersign/telegram"
)

type rawUpdate = telegram.RawUpdate

func refuseQuestion(telegram.Outgoing) (telegram.Sent, error) {
	return telegram.Sent{}, errors.New("the chat is gone")
}

func TestAnUpdateHasOneEffect(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	tap := s.tapped(c, ann, s.press("a1", c, cards.LetterAction, 0))
	word := s.written(group, ann, "/show "+s.read("a1").Row.Ref)
	s.handle(tap, tap, word, word) // twice in one batch
	s.handle(tap, word)            // once more
	s.restart()
	s.handle(tap, word) // and after a restart
	if got := s.voice.answered(); len(got) != 1 {
		t.Errorf("answered %q", got)
	}
	if said := s.voice.words(); len(said) != 1 {
		t.Errorf("said %+v", said)
	}
}

// The same update in two deliveries, of which the second asks whether it is new while
// the first is handled, and enters when that is done: no word is said twice.
func TestDeliveredTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.open("a1", in(group))
	for range 50 {
		s.voice.forget()
		word := s.written(group, ann, "/help")
		done := make(chan error)
		for range 2 {
			go func() { done <- s.h.Handle(t.Context(), []rawUpdate{word}) }()
		}
		s.ok(<-done)
		s.ok(<-done)
		s.h.Wait()
		if said := s.voice.words(); len(said) != 1 {
			t.Fatalf("said %d times", len(said))
		}
	}
}

// A command that was written just before the group moved, and is handled after that is
// known, means what it meant there.
func TestCommandBeforeTheGroupMoved(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.open("a1", in(group))
	_, _, err := s.store.Moved(t.Context(), group, -1009876543210)
	s.ok(err)
	s.handle(s.written(group, ann, "/reject "+s.read("a1").Row.Ref))
	s.state("a1", approval.Rejected)
}

func TestIDsAreComparedExactly(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	s.update = 900000
	s.handle(s.written(ann, ann, "/help"))
	s.update = 3 // Telegram begins anew after a quiet week
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterReject, 0)), cards.ToastRejected)
	s.state("a1", approval.Rejected)
}

func TestUpdatesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	bad := []rawUpdate{
		{ID: 0, Raw: json.RawMessage(`{"message":{}}`)},
		{ID: 0, Raw: json.RawMessage(`{"update_id":"x"}`)},
		{ID: 77, Raw: json.RawMessage(`{"update_id":77,"message":{"message_id":"x"}}`)},
		{ID: 78, Raw: json.RawMessage(`{"update_id":78,"message":{},"callback_query":{}}`)},
	}
	reject := s.tapped(c, ann, s.press("a1", c, cards.LetterReject, 0))
	batch := append(slices.Clone(bad), reject)
	s.handle(batch...)
	s.handle(batch...)
	s.is(s.answered(), cards.ToastRejected)
	s.handle(rawUpdate{ID: 0, Raw: json.RawMessage(`{"message":{"another":1}}`)})
	if n := s.counted.of("updates_aside"); n != 5 {
		t.Errorf("%d were set aside", n)
	}
	aside, err := s.server.Client().XRange(t.Context(), s.store.Keys().Prefix()+"bot:aside", "-", "+").Result()
	if err != nil || len(aside) != 5 {
		t.Fatalf("aside: %v, %v", aside, err)
	}
	seen := map[string]bool{}
	for _, e := range aside {
		seen[e.Values["raw"].(string)] = e.Values["reason"] != ""
	}
	for _, u := range bad {
		if !seen[string(u.Raw)] {
			t.Errorf("%s was not set aside with a reason", u.Raw)
		}
	}
}

func TestAPanicHoldsUpNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	panics := true
	s.h = handlers.New(handlers.Config{
		Store: s.store, Voice: s.voice, Now: s.now, Log: zerolog.Nop(), Count: s.counted.count,
		Username: func() string { return "countersign_bot" },
		Present: func() handlers.Present {
			if panics {
				panics = false
				panic("a fault")
			}
			return s.present
		},
	})
	s.handle(s.tapped(c, ann, s.press("a1", c, cards.LetterReject, 0)), s.written(ann, ann, "/pending"))
	s.is(s.answered(), cards.ToastBroken)
	if n := s.counted.of("updates_aside"); n != 1 {
		t.Errorf("%d were set aside", n)
	}
	if len(s.voice.words()) != 1 {
		t.Error("the next update was not handled")
	}
	s.state("a1", approval.Open)
}

// A Telegram that takes no words holds up no handling.
func TestSpeakingHoldsUpNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	asked := make(chan struct{})
	s.voice.ask = func(telegram.Outgoing) (telegram.Sent, error) { <-asked; return telegram.Sent{}, errors.New("gone") }
	for _, u := range []rawUpdate{
		s.written(group, ann, "approve", replying(c.Message)),
		s.tapped(c, ann, s.press("a1", c, cards.LetterReject, 0)),
	} {
		if err := s.h.Handle(t.Context(), []rawUpdate{u}); err != nil {
			t.Fatal(err)
		}
	}
	s.state("a1", approval.Rejected)
	close(asked)
	s.h.Wait()
}

// A tap that was told so is remembered for as long as it may come again.
func TestToldTapsAreRememberedLongEnough(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	data := s.press("a1", c, cards.LetterReject, 0)
	s.handle(s.tapped(c, ann, s.press("a1", c, cards.LetterExact, 0)))
	s.advance(handlers.TapMemory - time.Second)
	tap := s.tapped(c, ann, data)
	back := s.away()
	if err := s.h.Handle(t.Context(), []rawUpdate{tap}); err == nil {
		t.Fatal("taken while Redis is away")
	}
	back()
	s.advance(2 * time.Second)
	s.handle(s.tapped(c, ann, s.press("a1", c, cards.LetterExact, 0)))
	s.voice.forget()
	s.handle(tap)
	if got := s.voice.answered(); len(got) != 0 {
		t.Errorf("answered again: %q", got)
	}
	s.state("a1", approval.Rejected)
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	data := s.press("a1", c, cards.LetterExact, 0)
	for range 200 {
		s.handle(s.tapped(c, ann, data))
	}
	s.advance(handlers.TapMemory)
	s.handle(s.tapped(c, ann, data))
	s.advance(handlers.TapMemory)
	s.handle(s.tapped(c, ann, data))
	if taps, _, _ := s.h.Remembered(); taps > 2 {
		t.Errorf("%d taps are remembered", taps)
	}
	if _, updates, _ := s.h.Remembered(); updates != 0 {
		t.Errorf("%d updates are remembered", updates)
	}
}

// Everything at once, for the race detector: each approval gets one answer.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	var batch []rawUpdate
	for i := range 40 {
		who := []int64{ann, ben, rita, sam}[i%4]
		letter := []byte{cards.LetterReject, cards.LetterAction, cards.LetterCancel, cards.LetterPage}[i/4%4]
		batch = append(batch, s.tapped(c, who, s.press("a1", c, letter, 0)))
	}
	done := make(chan error)
	for part := range slices.Chunk(batch, 10) {
		go func() { done <- s.h.Handle(t.Context(), part) }()
	}
	for range 4 {
		s.ok(<-done)
	}
	s.h.Wait()
	if n := s.answers("a1"); n != 1 {
		t.Errorf("%d answers", n)
	}
	if n := len(s.voice.answered()); n != len(batch) {
		t.Errorf("%d of %d taps were answered", n, len(batch))
	}
	s.state("a1", approval.Rejected)
}
