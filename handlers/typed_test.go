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
