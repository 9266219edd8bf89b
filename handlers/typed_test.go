package handlers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/store/storetest"
)

const (
	asks      = "to this message within"
	helpWords = "Agents ask here before they act."
	notAWord  = "That decides nothing"
	isUnknown = cards.ToastUnknown
	noStep    = "No confirm step is open any more. Tap the action again."
)

func TestTypedApproval(t *testing.T) {
	t.Parallel()
	for _, chat := range []int64{ann, group} {
		s := newScene(t)
		c := s.open("a1", in(chat))
		s.contains(s.says(chat, ann, "approve", replying(c.Message)), asks)
		q := s.voice.questions()[0]
		if !q.ForceReply || q.Silent {
			t.Errorf("question %+v", q)
		}
		question := s.voice.question()
		s.is(s.says(chat, ben, "yes", replying(question)), "Ann is confirming this. Cancel it to confirm it yourself.")
		s.state("a1", approval.Open)
		s.is(s.says(chat, ann, "YES!", replying(question)), "Approved.")
		by := s.state("a1", approval.Approved).Row.Answer.By
		want := approval.By{Surface: approval.Telegram, ID: "1001", Name: "Ann", Chat: chat, Message: s.message, Method: approval.Typed}
		if diff := cmp.Diff(want, by); diff != "" {
			t.Errorf("by (-want +got):\n%s", diff)
		}
		s.contains(s.says(chat, ben, "approve", replying(question)), "Already approved by Ann at 12:00")
	}
}

func TestTypedRejection(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const markup = "wrong *ones* <b>& \\_all_ "
	reason := strings.TrimSpace(strings.Repeat(markup, 150)) // 3.7 kB
	c := s.open("a1", in(group))
	s.is(s.says(group, ben, "Reject "+reason, replying(c.Message)), "Rejected.")
	a := s.state("a1", approval.Rejected).Row.Answer
	if a.Reason != reason {
		t.Errorf("reason %q", a.Reason)
	}
	if a.By.ID != "1002" || a.By.Method != approval.Typed {
		t.Errorf("by %+v", a.By)
	}
	s.contains(a.Observation, "the owner rejected this: Trash 3 emails")
}

func TestRepliesToCardsQuestionsAndNotices(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	reminder := s.sent("a1", c.ID, store.TheReminder, 0)
	s.contains(s.says(group, ann, "approve", replying(reminder)), asks)
	first := s.voice.question()
	s.contains(s.says(group, ann, "approve", replying(c.Message)), asks) // asked again
	s.contains(s.says(group, ann, "yes please", replying(first)), notAWord)
	s.contains(s.says(group, ann, "why?", replying(c.Message)), notAWord)
	s.state("a1", approval.Open)
	s.is(s.says(group, ann, "yes", replying(first)), "Approved.")

	// A reply to something else means nothing, in whatever chat.
	c = s.open("a2", in(ann))
	s.contains(s.says(ann, ann, "reject", replying(99999)), helpWords)
	s.is(s.says(group, ann, "reject", replying(c.Message)), "")
	s.is(s.says(group, ann, "reject", replying(99999)), "")
	s.state("a2", approval.Open)
}

func TestGroupsHearNothingOfChatter(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.open("a1", in(group))
	for _, text := range []string{"approve", "reject", "yes", "ok", "👍", "hello", "reject wrong ones"} {
		s.is(s.says(group, ann, text), "")
	}
	s.state("a1", approval.Open)
}

func TestPlainWords(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.contains(s.says(ann, ann, "approve"), helpWords) // nothing is open
	s.open("a1", in(ann))
	for _, text := range []string{"ok", "👍", "no, don't approve", "approve?", "approve it please", "hello"} {
		s.contains(s.says(ann, ann, text), helpWords)
	}
	s.is(s.says(ann, ann, "yes"), noStep)
	s.contains(s.says(ann, ann, "approve"), asks)
	s.is(s.says(ann, ann, "yes"), "Approved.")
	s.state("a1", approval.Approved)

	s.open("a2", in(ann))
	s.advance(time.Second) // a1 was open in the second before
	s.is(s.says(ann, ann, "deny"), "Rejected.")
	s.state("a2", approval.Rejected)

	s.advance(time.Second)
	first := s.open("a3", in(ann))
	s.open("a4", in(ann))
	for _, text := range []string{"approve", "reject", "yes", "/approve", "/reject"} {
		said := s.says(ann, ann, text)
		s.contains(said, "Several are open.")
		s.contains(said, s.read("a3").Row.Ref)
		s.contains(said, s.read("a4").Row.Ref)
	}
	s.state("a3", approval.Open)
	s.is(s.says(ann, ann, "reject", replying(first.Message)), "Rejected.")
	s.state("a3", approval.Rejected)
	s.state("a4", approval.Open)
}

// A plain word means what stood above it when it was written.
func TestPlainWordsByPlaceAndTime(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	early := s.nextMessage()
	s.open("a1", in(ann))
	s.contains(s.says(ann, ann, "reject", with("message_id", early)), helpWords) // written above the card
	s.state("a1", approval.Open)

	late := s.nextMessage()
	s.open("a2", in(ann)) // came below the word, while it was on its way
	s.is(s.says(ann, ann, "reject", with("message_id", late)), "Rejected.")
	s.state("a1", approval.Rejected)
	s.state("a2", approval.Open)

	// Two were open when it was written; that one was answered since decides nothing.
	s.advance(time.Second)
	c := s.open("a3", in(ann))
	word := s.written(ann, ann, "reject")
	s.advance(time.Second)
	s.taps(c, ann, s.press("a3", c, cards.LetterReject, 0))
	s.advance(time.Second)
	s.voice.forget()
	s.handle(word)
	s.state("a2", approval.Open)

	// It was the only one open, but was answered since: said, not done.
	s.advance(time.Second)
	s.open("a4", in(ben))
	word = s.written(ben, ben, "approve")
	s.advance(time.Second)
	storetest.Approve(t, s.store, "a4")
	s.advance(time.Second)
	s.voice.forget()
	s.handle(word)
	s.contains(s.voice.words()[0].Plain, "Already approved by root")

	// Older than the window when it is handled.
	word = s.written(ann, ann, "reject")
	s.advance(window + time.Second)
	s.voice.forget()
	s.handle(word)
	s.is(s.voice.words()[0].Plain, cards.ToastOldWord)
	s.state("a2", approval.Open)
	// A reply names its card, so that its age does not matter.
	s.is(s.says(ann, ann, "reject", with("date", s.now().Add(-time.Hour).Unix()), replying(s.read("a2").At(ann).Message)), "Rejected.")
}

func TestPlainYes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	s.taps(c, ann, s.press("a1", c, cards.LetterAction, 0))
	s.advance(time.Second)
	s.is(s.says(ann, ann, "yes"), "Wait until the card shows the question, then tap Yes.") // not drawn yet
	s.drawn("a1", c)
	s.is(s.says(ann, ann, "yes"), "Wait until the card shows the question, then tap Yes.") // written in the same second
	s.advance(time.Second)
	yes := s.written(ann, ann, "yes")
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterCancel, 0)), cards.ToastCancelled)
	s.voice.forget()
	s.handle(yes)
	s.is(s.voice.words()[0].Plain, noStep)
	s.state("a1", approval.Open)

	// A word opens the step, a button confirms; and the other way round.
	s.contains(s.says(ann, ann, "approve"), asks)
	s.drawn("a1", c)
	s.advance(dwell)
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), "Approved.")
	s.advance(time.Second)
	c = s.open("a2", in(ann))
	s.confirming("a2", c, ann, "Ann")
	s.advance(time.Second)
	s.is(s.says(ann, ann, "yes"), "Approved.")

	// A question that could not be asked confirms nothing.
	s.advance(time.Second)
	s.open("a3", in(ann))
	s.voice.ask = refuseQuestion
	s.says(ann, ann, "approve")
	s.voice.ask = nil
	s.is(s.says(ann, ann, "yes"), "Wait until the card shows the question, then tap Yes.")
	s.contains(s.says(ann, ann, "approve"), asks)
	s.advance(window + time.Second)
	s.is(s.says(ann, ann, "yes"), "The time to confirm is over. Tap the action again.")
	s.state("a3", approval.Open)
}

// A plain yes answers the question that stands above it in its own chat.
func TestPlainYesToAQuestionElsewhere(t *testing.T) {
	t.Parallel()
	const wait = "Wait until the card shows the question, then tap Yes."
	s := newScene(t)
	s.open("a1", in(ann, group))
	shared := *s.read("a1").At(group)
	early := s.nextMessage()
	s.contains(s.says(group, ann, "approve", replying(shared.Message)), asks)
	s.is(s.says(ann, ann, "yes"), wait)
	s.is(s.taps(shared, ann, s.press("a1", shared, cards.LetterCancel, 0)), cards.ToastCancelled)
	s.confirming("a1", shared, ann, "Ann")
	s.advance(time.Second)
	s.is(s.says(ann, ann, "yes"), wait)
	s.is(s.taps(shared, ann, s.press("a1", shared, cards.LetterCancel, 0)), cards.ToastCancelled)

	s.contains(s.says(ann, ann, "approve"), asks)
	s.is(s.says(ann, ann, "yes", with("message_id", early)), wait) // written above the question
	s.state("a1", approval.Open)
	s.is(s.says(ann, ann, "yes"), "Approved.")
}

// A question may stand where no card does.
func TestTypedWhereNoCardStands(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.open("a1", in(group))
	ref := s.read("a1").Row.Ref
	s.contains(s.says(ann, ann, "/approve "+strings.ToLower(ref)), asks)
	s.is(s.says(ann, ann, "yes"), "Approved.")
	s.state("a1", approval.Approved)

	c := s.open("a2", in(group))
	s.contains(s.says(ann, ann, "/approve #"+s.read("a2").Row.Ref), asks)
	question := s.voice.question()
	s.is(s.taps(c, ben, s.press("a2", c, cards.LetterAction, 0)), "Ann is confirming this. Cancel it to confirm it yourself.")
	s.is(s.says(ann, ann, "yes", replying(question)), "Approved.")
}

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
