package handlers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/store"
)

func TestPending(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.contains(s.says(ann, ann, "/pending"), "Nothing is open here.")
	s.open("ours", in(ann))
	s.open("theirs", in(ben), func(o *store.Opening) { o.Owners = []int64{ben} })
	s.open("team", in(group))
	s.open("gone", in(ann), func(o *store.Opening) { o.ExpiresAt = o.Now.Add(10 * time.Second) })
	s.advance(time.Minute)
	status, _, err := s.store.Decide(t.Context(), s.read("gone"), store.Attempt{
		Decision: approval.DecisionLapsed, Guard: store.ByDeadline, By: approval.By{Surface: approval.Sweeper, ID: "sweeper"},
	})
	if err != nil || status != store.Done {
		t.Fatal(status, err)
	}
	ref := func(id string) string { return "#" + s.read(id).Row.Ref }
	for _, c := range []struct {
		chat, from    int64
		open, lapsed  []string
		neverMentions []string
	}{
		{ann, ann, []string{"ours", "team"}, []string{"gone"}, []string{"theirs"}},
		{ben, ben, []string{"ours", "theirs", "team"}, []string{"gone"}, nil},
		{dora, dora, nil, nil, []string{"ours", "theirs", "team", "gone"}},
		{rita, rita, []string{"ours", "theirs", "team"}, []string{"gone"}, nil},
		{group, ann, []string{"team"}, nil, []string{"ours", "theirs", "gone"}},
		{group, rita, []string{"team"}, nil, []string{"ours", "theirs", "gone"}},
	} {
		said := s.says(c.chat, c.from, "/pending")
		open, lapsed, _ := strings.Cut(said, "Lapsed unanswered within a day:")
		for _, id := range c.open {
			s.contains(open, ref(id)+" Trash 3 emails · 59 min left")
		}
		for _, id := range c.lapsed {
			s.contains(lapsed, ref(id))
		}
		for _, id := range c.neverMentions {
			if strings.Contains(said, ref(id)) {
				t.Errorf("%d in %d was told of %s", c.from, c.chat, id)
			}
		}
	}
	s.says(group, ann, "/pending")
	link := fmt.Sprintf(`https://t.me/c/1234567890/%d`, s.read("team").At(group).Message)
	s.contains(s.voice.words()[0].HTML, link)
	s.advance(24*time.Hour + time.Second)
	if said := s.says(ann, ann, "/pending"); strings.Contains(said, ref("gone")) {
		t.Errorf("a day later: %s", said)
	}
}

func TestPendingCountsTheRest(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for i := range 120 {
		s.open(fmt.Sprintf("a%d", i), in(ann))
	}
	said := s.says(ann, ann, "/pending")
	named := strings.Count(said, "#")
	s.contains(said, fmt.Sprintf("… and %d more.", 120-named))
}

func TestShow(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.open("a1", in(ann, group))
	ref := s.read("a1").Row.Ref
	s.is(s.says(ann, ann, "/show "+ref), "")
	r := s.read("a1")
	if !r.Card(first.ID).Retired || r.At(ann) == nil || r.At(ann).ID == first.ID || r.At(group).Retired {
		t.Fatalf("cards %+v", r.Cards)
	}
	// A step is open on the new card: it is pointed at, not retired.
	shown := *r.At(ann)
	s.sent("a1", shown.ID, store.TheCard, 0)
	shown = *s.read("a1").Card(shown.ID)
	s.confirming("a1", shown, ben, "Ben")
	s.voice.forget()
	s.handle(s.written(ann, ann, "/show "+ref))
	if said := s.voice.words(); len(said) != 1 || said[0].Plain != "Here it is." || said[0].ReplyTo != shown.Message || said[0].Chat != ann {
		t.Errorf("said %+v", said)
	}
	if n := len(s.read("a1").Cards); n != 3 {
		t.Errorf("%d cards", n)
	}
	// Elsewhere there is nothing to point at.
	s.is(s.says(group, ann, "/show "+ref), "")
	if n := len(s.read("a1").Cards); n != 4 {
		t.Errorf("%d cards", n)
	}
	// After its window it is no step any more.
	s.advance(window)
	s.is(s.says(ann, ann, "/show "+ref), "")
	if n := len(s.read("a1").Cards); n != 5 {
		t.Errorf("%d cards", n)
	}
}

func TestShowInTheTopicOfTheStep(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", func(o *store.Opening) { o.Chats = []approval.Chat{{ID: group, Thread: 7}} })
	s.confirming("a1", c, ann, "Ann")
	s.voice.forget()
	s.handle(s.written(group, ann, "/show "+s.read("a1").Row.Ref, with("message_thread_id", 9), with("is_topic_message", true)))
	if said := s.voice.words(); len(said) != 1 || said[0].Thread != 7 || said[0].ReplyTo != c.Message {
		t.Errorf("said %+v", said)
	}
}

func TestShowToAReader(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	ref := s.read("a1").Row.Ref
	s.is(s.says(group, rita, "/show "+ref), "")
	s.is(s.says(rita, rita, "/show "+ref), "")
	r := s.read("a1")
	copies := 0
	for _, card := range r.Cards {
		if card.Retired {
			t.Errorf("retired %+v", card)
		}
		if card.Reader {
			copies++
		}
	}
	if copies != 2 {
		t.Errorf("%d copies", copies)
	}
	for _, card := range r.Cards {
		if card.Reader && card.Chat == group {
			s.sent("a1", card.ID, store.TheCard, 0)
		}
	}
	// The step opens where it can be confirmed, not on the reader's copy.
	s.contains(s.says(group, ann, "/approve "+ref), asks)
	if step := s.read("a1").Step; step == nil || step.CardID != c.ID {
		t.Errorf("step %+v, want it on %s", step, c.ID)
	}
}
