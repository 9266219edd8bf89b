package handlers_test

import (
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/store/storetest"
)

func TestCommandsWithAReference(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	s.open("a2", in(group))
	s.open("a3", in(ben), func(o *store.Opening) { o.Owners = []int64{ben} })
	ref, other := s.read("a1").Row.Ref, s.read("a3").Row.Ref
	s.contains(s.says(group, ann, "/approve@countersign_bot "+ref), asks)
	s.is(s.says(group, ann, "/approve@other_bot "+ref), "")
	s.contains(s.says(group, ann, "/approve "+ref+" but not the second"), notAWord)
	s.is(s.says(group, rita, "/approve "+ref), cards.ToastReader)
	s.is(s.says(group, dora, "/approve "+ref), cards.ToastNotAllowed)
	s.is(s.says(group, ann, "yes", replying(s.voice.question())), "Approved.")
	s.contains(s.says(group, ann, "/reject "+ref), "Already approved by Ann")
	s.state("a2", approval.Open)
	s.is(s.says(group, ben, "/reject "+s.read("a2").Row.Ref+" wrong ones"), "Rejected.")
	if a := s.state("a2", approval.Rejected).Row.Answer; a.Reason != "wrong ones" {
		t.Errorf("reason %q", a.Reason)
	}
	// A wrong reference, a malformed one and one that may not be named here are all one.
	for _, said := range []string{"ZZZZZ", "K7", "К7QF2", "it please", strings.Repeat("K", 4000), other} {
		for _, command := range []string{"/approve ", "/reject ", "/show "} {
			s.is(s.says(ann, ann, command+said), isUnknown)
			if command != "/reject " { // see TestRejectInReply
				s.is(s.says(group, ann, command+said, replying(c.Message)), isUnknown)
			}
		}
	}
	s.is(s.says(dora, dora, "/show "+ref), isUnknown)
	s.state("a3", approval.Open)
}

// In a reply to a card, what follows /reject is the reason, unless it is a
// reference that is known here, or was meant as one.
func TestRejectInReply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said     string // REF and OTHER stand for references
		rejected string // "" for none
		reason   string
	}{
		{"/reject", "a1", ""},
		{"/reject wrong", "a1", "wrong"},
		{"/reject these are  wrong ones.", "a1", "these are  wrong ones."},
		{"/reject it please", "a1", "it please"},
		{"/reject@countersign_bot wrong", "a1", "wrong"},
		{"/reject 3 of them are wrong", "a1", "3 of them are wrong"},
		{"/reject REF", "a1", ""},
		{"/reject REF wrong", "a1", "wrong"},
		{"/reject OTHER", "a2", ""}, // named outright
		{"/reject OTHER wrong", "a2", "wrong"},
		{"/reject K7QF0", "", ""}, // a slip in a reference
		{"/reject #wrong", "", ""},
		{"/reject К7QF2 wrong", "", ""}, // a Cyrillic К
		{"/reject HIDDEN", "", ""},      // not to be named here
		{"/approve wrong", "", ""},
		{"/approve it please", "", ""},
	} {
		s := newScene(t)
		card := s.open("a1", in(group))
		s.open("a2", in(group))
		s.open("a3", in(ben), func(o *store.Opening) { o.Owners = []int64{ben} })
		said := strings.NewReplacer("REF", s.read("a1").Row.Ref, "OTHER", s.read("a2").Row.Ref, "HIDDEN", "#"+s.read("a3").Row.Ref).Replace(c.said)
		answer := s.says(group, ann, said, replying(card.Message))
		for _, id := range []string{"a1", "a2", "a3"} {
			want := approval.Open
			if id == c.rejected {
				want = approval.Rejected
			}
			if r := s.state(id, want); r.Row.Answer != nil && r.Row.Answer.Reason != c.reason {
				t.Errorf("%s: reason %q, want %q", c.said, r.Row.Answer.Reason, c.reason)
			}
		}
		if want := map[bool]string{true: "Rejected.", false: isUnknown}[c.rejected != ""]; answer != want {
			t.Errorf("%s: said %q, want %q", c.said, answer, want)
		}
		// In reply to anything else it is no reason.
		s.is(s.says(group, ann, "/reject wrong", replying(9999)), isUnknown)
		s.is(s.says(group, ann, "/reject wrong"), isUnknown)
	}
}

func TestCommandsWithoutAReference(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.contains(s.says(group, ann, "/approve"), "Nothing is open here.")
	c := s.open("a1", in(group))
	s.contains(s.says(group, ann, "/approve"), s.read("a1").Row.Ref)
	if s.state("a1", approval.Open).Step != nil {
		t.Error("a command that named nothing opened a step")
	}
	s.contains(s.says(group, ann, "/approve", replying(c.Message)), asks)
	s.is(s.says(group, ben, "/reject", replying(c.Message)), "Rejected.")
	s.advance(time.Second)
	s.open("a2", in(ann))
	s.contains(s.says(ann, ann, "/approve"), asks)
	s.is(s.says(ann, ann, "/reject"), "Rejected.")
}

// A command that names a bot is for nobody yet while this one does not know its name.
func TestCommandBeforeTheNameIsKnown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.open("a1", in(group))
	s.username = ""
	u := s.written(group, ann, "/reject@countersign_bot "+s.read("a1").Row.Ref)
	if err := s.h.Handle(t.Context(), []rawUpdate{u}); err == nil {
		t.Fatal("the command was taken")
	}
	s.state("a1", approval.Open)
	s.username = "countersign_bot"
	s.handle(u)
	s.state("a1", approval.Rejected)
}

func TestTypedHaltAlwaysAsks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.openAs(storetest.Request("h1", storetest.Halt()))
	s.contains(s.says(ann, ann, "approve", replying(c.Message)), asks)
	s.state("h1", approval.Open)
	s.is(s.says(ann, ann, "yes"), "Approved.")
}

func TestTypedQuorum(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group), func(o *store.Opening) { o.Quorum = 2 })
	s.says(group, ann, "approve", replying(c.Message))
	s.is(s.says(group, ann, "yes", replying(s.voice.question())), "Your approval counts: 1 of 2.")
	s.is(s.says(group, ann, "approve", replying(c.Message)), "Your approval counts already: 1 of 2.")
	s.says(group, ben, "approve", replying(c.Message))
	s.is(s.says(group, ben, "yes", replying(s.voice.question())), "Approved.")
	if n := len(s.state("a1", approval.Approved).Row.Answer.Approvals); n != 2 {
		t.Errorf("%d approvals", n)
	}
}

func TestTypedAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	s.advance(time.Hour)
	for _, text := range []string{"approve", "reject", "yes"} {
		s.is(s.says(ann, ann, text, replying(c.Message)), "This lapsed at 13:00 UTC. Nothing was changed, sent or deleted.")
	}
	s.contains(s.says(ann, ann, "approve"), helpWords)
	s.state("a1", approval.Open) // until it is swept
}

// A word in the topic of a forum names the topic's first message where it
// replies to nothing.
func TestTopics(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	inTopic := func(f fields) { f["message_thread_id"], f["is_topic_message"] = 7, true }
	start := func(f fields) {
		f["reply_to_message"] = fields{"message_id": 7, "chat": f["chat"], "forum_topic_created": fields{"name": "T"}}
	}
	s.open("a1", in(ann))
	s.is(s.says(ann, ann, "reject", inTopic, start), "Rejected.")
	if m := s.voice.words()[0]; m.Thread != 7 {
		t.Errorf("said in topic %d", m.Thread)
	}
	c := s.open("a2", in(group))
	s.is(s.says(group, ann, "reject", inTopic, start), "")
	s.is(s.says(group, ann, "/show "+s.read("a2").Row.Ref, inTopic, start), "")
	r := s.read("a2")
	if at := r.At(group); at == nil || at.Thread != 7 || at.ID == c.ID || !r.Card(c.ID).Retired {
		t.Errorf("cards %+v", r.Cards)
	}
	// The number of a chain of replies outside forums is no topic.
	s.is(s.says(group, ann, "/show "+s.read("a2").Row.Ref, with("message_thread_id", 9)), "")
	if at := s.read("a2").At(group); at == nil || at.Thread != 0 {
		t.Errorf("card %+v", at)
	}
}
