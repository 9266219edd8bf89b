package handlers_test

import (
	"strings"
	"testing"

	"countersign/approval"
	"countersign/cards"
)

// What a phrase does to the one approval that it is said about.
type meaning int

const (
	decidesNothing meaning = iota
	opensStep
	rejects
	confirms // with a step of this person open; without one it says that there is none
)

// phrases are what people were seen to write where an approval waits for a word,
// in reports about this and other bots.
var phrases = map[string]meaning{
	// Taken for a yes by whoever looks for a word within the message.
	"no, don't approve": decidesNothing, "disallow": decidesNothing, "disapprove": decidesNothing, "not approved": decidesNothing,
	"I can't approve this": decidesNothing, "approve?": decidesNothing, "who can approve": decidesNothing, "unapprove": decidesNothing,
	"please do not approve": decidesNothing, "approve nothing": decidesNothing, "approve 1": decidesNothing,
	// Agreement that is none of the declared words.
	"ok": decidesNothing, "okay": decidesNothing, "not ok": decidesNothing, "not okay": decidesNothing, "👍": decidesNothing, "👎": decidesNothing,
	"y": decidesNothing, "n": decidesNothing, "no": decidesNothing, "no problem": decidesNothing, "sure": decidesNothing, "go ahead": decidesNothing, "lgtm": decidesNothing,
	// Taken for an approval with a note, or for a rejection with a reason.
	"no, stop": decidesNothing, "approve it please": decidesNothing, "why?": decidesNothing, "stop": decidesNothing, "wait": decidesNothing,
	"approve, but only the first": decidesNothing, "approved": decidesNothing, "approved the other one": decidesNothing,
	// A word with an id, meant for another bot or protocol.
	"yes abcdf": decidesNothing, "yes abcde": decidesNothing, "approve abcde": decidesNothing, "always": decidesNothing, "approve always": decidesNothing,
	// The declared words.
	"approve": opensStep, "Approve.": opensStep, "APPROVE!": opensStep, " approve ": opensStep,
	"reject": rejects, "deny": rejects, "Reject.": rejects, "reject wrong ones": rejects, "deny not these": rejects, "reject approve": rejects,
	"yes": confirms, "Yes.": confirms, "YES!": confirms,
}

// TestPhrases says every phrase everywhere, and wants it to mean the same there, or
// nothing.
func TestPhrases(t *testing.T) {
	t.Parallel()
	for phrase, want := range phrases {
		t.Run(phrase, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.sayNoneOpen(phrase)
			s.sayTo("direct", phrase, want, ann, false, helpWords)
			s.sayTo("direct-reply", phrase, want, ann, true, notAWord)
			s.sayTo("group-reply", phrase, want, group, true, notAWord)
			s.sayUnaddressed(phrase)
			s.saySeveralOpen(phrase, want)
			s.sayUnheard(phrase)
		})
	}
}

// sayNoneOpen: with nothing open a phrase gets help in a direct chat, and silence
// in a group.
func (s *scene) sayNoneOpen(phrase string) {
	s.Helper()
	s.contains(s.says(ann, ann, phrase), helpWords)
	s.is(s.says(group, ann, phrase), "")
}

// sayTo says a phrase about the one approval that is open in a chat.
func (s *scene) sayTo(id, phrase string, want meaning, chat int64, reply bool, short string) {
	s.Helper()
	c := s.open(id, in(chat))
	var changes []func(fields)
	if reply {
		changes = append(changes, replying(c.Message))
	}
	said := s.says(chat, ann, phrase, changes...)
	switch want {
	case decidesNothing:
		s.contains(said, short)
		s.state(id, approval.Open)
	case opensStep:
		s.contains(said, asks)
		if r := s.state(id, approval.Open); r.Step == nil || r.Step.By != ann {
			s.Errorf("%q opened the step %+v", phrase, r.Step)
		}
	case rejects:
		s.is(said, cards.ToastRejected)
		s.state(id, approval.Rejected)
	case confirms:
		s.is(said, noStep)
		s.state(id, approval.Open)
		s.contains(s.says(chat, ann, "approve", replying(c.Message)), asks)
		s.is(s.says(chat, ann, phrase, replying(s.voice.question())), cards.ToastApproved)
		s.state(id, approval.Approved)
	}
	if want != rejects && want != confirms {
		s.is(s.says(chat, ben, "reject", replying(c.Message)), cards.ToastRejected) // out of the way
	}
	s.advance(window)
}

// sayUnaddressed: in a group, a phrase that replies to no card of ours is not for
// the bot.
func (s *scene) sayUnaddressed(phrase string) {
	s.Helper()
	s.open("unaddressed", in(group))
	s.is(s.says(group, ann, phrase), "")
	s.is(s.says(group, ann, phrase, replying(9999)), "")
	s.state("unaddressed", approval.Open)
}

// saySeveralOpen: with several open a word is not guessed about.
func (s *scene) saySeveralOpen(phrase string, want meaning) {
	s.Helper()
	s.open("one", in(ann))
	s.open("two", in(ann))
	said := s.says(ann, ann, phrase)
	if want == decidesNothing {
		s.contains(said, helpWords)
	} else {
		s.contains(said, "Several are open.")
	}
	for _, id := range []string{"one", "two"} {
		if r := s.state(id, approval.Open); r.Step != nil {
			s.Errorf("%q opened a step on %s", phrase, id)
		}
	}
}

// sayUnheard: whoever may not answer changes nothing with any phrase.
func (s *scene) sayUnheard(phrase string) {
	s.Helper()
	c := *s.read("unaddressed").At(group)
	for _, who := range []int64{dora, rita, sam, cleo} {
		if said := s.says(group, who, phrase, replying(c.Message)); strings.Contains(said, asks) {
			s.Errorf("%d was asked: %q", who, said)
		}
	}
	if r := s.state("unaddressed", approval.Open); r.Step != nil {
		s.Errorf("a step by %d", r.Step.By)
	}
}
