package handlers_test

import (
	"strings"
	"testing"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/store/storetest"
)

// signed is a scene whose answers are signed.
func signed(t *testing.T) *scene {
	s := newScene(t)
	s.store = storetest.NewStore(t, s.server, func(o *store.Options) {
		o.Signing, o.Owners = storetest.SigningKeys(t, 1), func() []int64 { return []int64{ann, ben} }
	})
	s.restart()
	return s
}

// tamper changes a row as somebody would who may write rows.
func (s *scene) tamper(id string, fields ...any) {
	s.Helper()
	s.ok(s.server.Client().HSet(s.Context(), s.server.Keys().Row(id), fields...).Err())
}

// tampered wants an approval to have been refused, once, for its seal.
func (s *scene) tampered(id string) {
	s.Helper()
	r := s.state(id, approval.Refused)
	if n := s.answers(id); n != 1 || approval.ReasonCode(r.Row.Answer.Reason) != approval.CodeTampered {
		s.Errorf("%d answers, %s", n, r.Row.Answer.Reason)
	}
}

// Whatever somebody says to a row that was changed, it is refused.
func TestWhateverIsSaidToARowThatWasChanged(t *testing.T) {
	t.Parallel()
	other := string(storetest.Request("a1", storetest.With("tool", "delete_account")))
	for name, say := range map[string]func(s *scene, c store.Card) string{
		"the action":     func(s *scene, c store.Card) string { return s.taps(c, ann, s.press("a1", c, cards.LetterAction, 0)) },
		"yes":            func(s *scene, c store.Card) string { return s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)) },
		"cancel":         func(s *scene, c store.Card) string { return s.taps(c, ann, s.press("a1", c, cards.LetterCancel, 0)) },
		"reject":         func(s *scene, c store.Card) string { return s.taps(c, ann, s.press("a1", c, cards.LetterReject, 0)) },
		"approve, typed": func(s *scene, _ store.Card) string { return s.says(ann, ann, "approve") },
		"yes, typed":     func(s *scene, c store.Card) string { return s.says(ann, ann, "yes", replying(c.Message)) },
		"reject, typed":  func(s *scene, _ store.Card) string { return s.says(ann, ann, "reject wrong ones") },
	} {
		for what, request := range map[string]string{"another request": other, "no request that can be read": "{"} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				s := signed(t)
				c := s.open("a1", in(ann))
				if strings.HasPrefix(name, "yes") || name == "cancel" {
					s.confirming("a1", c, ann, "Ann")
				}
				s.tamper("a1", "request", request)
				s.is(say(s, c), cards.ToastMeddled)
				s.tampered("a1")
				s.contains(s.taps(c, ann, s.press("a1", c, cards.LetterReject, 0)), "refused")
			})
		}
	}
}

// The row is changed after the tap was read and before it is recorded: the
// transition itself finds it.
func TestRowChangedUnderATap(t *testing.T) {
	t.Parallel()
	s := signed(t)
	c := s.open("a1", in(ann))
	r := s.confirming("a1", c, ann, "Ann")
	s.tamper("a1", "owners", ",1001,1002,666,")
	status, _, err := s.store.Decide(t.Context(), r, store.Attempt{
		Decision: approval.DecisionApproved, Guard: store.ByStep, User: ann, Card: c.ID, StepRev: r.Step.Rev,
		By: approval.By{Surface: approval.Telegram, ID: "1001"}, Confirm: approval.Confirm{Window: window, Dwell: dwell},
	})
	if err != nil || status != store.Meddled {
		t.Errorf("came to %s, %v", status, err)
	}
	s.tampered("a1")
}

func TestNoUndoOfARowThatWasChanged(t *testing.T) {
	t.Parallel()
	s := signed(t)
	c := s.openAs(storetest.Request("a1", storetest.WithUndo(30)), in(ann))
	storetest.Approve(t, s.store, "a1")
	s.report("a1", approval.Executed)
	s.tamper("a1", "request", string(storetest.Request("a1", storetest.WithUndo(30), storetest.With("tool", "delete_account"))))
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterUndo, 0)), cards.ToastAltered)
	if n := s.answers("a1"); n != 1 {
		t.Errorf("%d events out, want the answer alone", n)
	}
}

// A list names a row that was changed by its id alone.
func TestPendingNamesNothingThatWasChanged(t *testing.T) {
	t.Parallel()
	s := signed(t)
	s.open("a1", in(ann))
	s.tamper("a1", "request", string(storetest.Request("a1", storetest.WithCard(map[string]any{"title": "Look at one email"}))))
	said := s.says(ann, ann, "/pending")
	if strings.Contains(said, "Look at") {
		t.Errorf("said %s", said)
	}
}
