package handlers_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/cards"
	"countersign/handlers"
	"countersign/store"
	"countersign/store/storetest"
)

var update = flag.Bool("update", false, "write what is said into the golden file")

// A standing is how an approval stands when it is tapped.
type standing struct {
	name  string
	stand func(s *scene, id string, c store.Card, user int64)
}

func decided(d approval.Decision, a store.Attempt) func(*scene, string, store.Card, int64) {
	return func(s *scene, id string, _ store.Card, _ int64) {
		a.Decision, a.Stream = d, s.store.Keys().Requests()
		status, _, err := s.store.Decide(s.Context(), s.read(id), a)
		s.ok(err)
		if status != store.Done {
			s.Fatalf("%s: %s", d, status)
		}
	}
}

func late(s *scene, _ string, _ store.Card, _ int64) { s.advance(2 * time.Hour) }

func standings() []standing {
	byAnn := approval.By{Surface: approval.Telegram, ID: "1001", Name: "Ann"}
	return []standing{
		{"open", func(*scene, string, store.Card, int64) {}},
		{"confirming by me", func(s *scene, id string, c store.Card, user int64) {
			s.confirming(id, c, user, "Me")
		}},
		{"confirming by another", func(s *scene, id string, c store.Card, user int64) {
			if user == ben {
				s.confirming(id, c, ann, "Ann")
				return
			}
			s.confirming(id, c, ben, "Ben")
		}},
		{"approved", decided(approval.DecisionApproved, store.Attempt{
			Guard: store.ByOperator, By: approval.By{Surface: approval.CLI, ID: "root", Name: "root"},
		})},
		{"rejected", decided(approval.DecisionRejected, store.Attempt{Guard: store.ByOwner, User: ann, By: byAnn})},
		{"late, not swept", late},
		{"lapsed", func(s *scene, id string, c store.Card, user int64) {
			late(s, id, c, user)
			decided(approval.DecisionLapsed, store.Attempt{
				Guard: store.ByDeadline, By: approval.By{Surface: approval.Sweeper, ID: "sweeper"},
			})(s, id, c, user)
		}},
		{"withdrawn", decided(approval.DecisionWithdrawn, store.Attempt{
			Guard: store.ByRuntime, By: approval.By{Surface: approval.Runtime, ID: "iris"},
		})},
		{"refused", decided(approval.DecisionRefused, store.Attempt{
			Guard: store.Unreachable, Reason: "unreachable: blocked", By: approval.By{Surface: approval.Telegram, ID: "delivery"},
		})},
		{"retired", func(s *scene, id string, c store.Card, _ int64) {
			_, err := s.store.NewCard(s.Context(), id, store.Place{Chat: c.Chat}, nil, true)
			s.ok(err)
		}},
	}
}

var tappers = []struct {
	name string
	id   int64
	owns bool // may answer
}{
	{"an owner", ann, true},
	{"an owner of other rows", dora, false},
	{"a reader", rita, false},
	{"a stranger", sam, false},
	{"an owner removed since", cleo, false},
}

var letters = []struct {
	name   string
	letter byte
	arg    int
}{
	{"the action", cards.LetterAction, 0},
	{"Yes", cards.LetterYes, 0},
	{"Cancel", cards.LetterCancel, 0},
	{"Reject", cards.LetterReject, 0},
	{"Exact call", cards.LetterExact, cards.ExactShow},
	{"a page", cards.LetterPage, 1},
	{"Whole list", cards.LetterWhole, 0},
	{"Undo", cards.LetterUndo, 0},
}

// TestEveryTap taps every button, as everybody, wherever an approval may stand.
// What is said is compared with a golden file; what may happen is not: only an
// owner's tap on an open approval does anything, and only Yes of one's own step
// approves.
func TestEveryTap(t *testing.T) {
	t.Parallel()
	said := make([]string, len(letters))
	t.Run("letters", func(t *testing.T) {
		for i, l := range letters {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				said[i] = tapEverywhere(t, l.name, l.letter, l.arg)
			})
		}
	})
	golden(t, "taps.txt", strings.Join(said, "\n"))
}

func tapEverywhere(t *testing.T, name string, letter byte, arg int) string {
	s := newScene(t)
	var out strings.Builder
	n := 0
	for _, who := range tappers {
		fmt.Fprintf(&out, "%s taps %s\n", who.name, name)
		var names, lines []string
		for _, st := range standings() {
			if st.name == "confirming by me" && who.id != ann && who.id != cleo {
				continue
			}
			n++
			id := fmt.Sprintf("a%d", n)
			c := s.open(id, in(group))
			st.stand(s, id, c, who.id)
			before := s.read(id)
			text := s.taps(c, who.id, s.press(id, c, letter, arg))
			after := s.read(id)
			did := effect(before, after, who.id)
			if did != "" && !who.owns {
				t.Errorf("%s, %s: %s did %s", st.name, name, who.name, did)
			}
			if after.Row.State == approval.Approved && before.Row.State == approval.Open &&
				(letter != cards.LetterYes || st.name != "confirming by me") {
				t.Errorf("%s: %s approved", st.name, name)
			}
			if len(s.voice.words()) != 0 || len(s.voice.questions()) != 0 {
				t.Errorf("%s: %s was answered by a message", st.name, name)
			}
			names, lines = append(names, st.name), append(lines, fmt.Sprintf("%-14s %q\n", did, text))
		}
		if len(slices.Compact(slices.Clone(lines))) == 1 {
			fmt.Fprintf(&out, "  %-22s %s", "always", lines[0])
			continue
		}
		for i, line := range lines {
			fmt.Fprintf(&out, "  %-22s %s", names[i], line)
		}
	}
	return out.String()
}

// effect is what changed, beside what was looked at.
func effect(before, after *store.Reading, user int64) string {
	switch {
	case after.Row.State != before.Row.State:
		return string(after.Row.State)
	case after.Row.Undo != nil && before.Row.Undo == nil:
		return "undo"
	case len(after.Votes) != len(before.Votes):
		return "vote"
	case before.Step == nil && after.Step == nil:
		return ""
	case before.Step == nil && after.Step.By == user:
		return "step opened"
	case after.Step == nil:
		return "step left"
	case after.Step.Rev != before.Step.Rev:
		return "step changed"
	}
	return ""
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestTheWayToApprove(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1")
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterAction, 0)), "")
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterAction, 0)), cards.ToastSameStep)
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), "Wait until the card shows the question, then tap Yes.")
	s.drawn("a1", c)
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), "That was too quick. Read it, then tap Yes again.")
	s.advance(dwell)
	s.is(s.taps(c, ben, s.press("a1", c, cards.LetterYes, 0)), "Ann is confirming this. Cancel it to confirm it yourself.")
	s.state("a1", approval.Open)
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), "Approved.")

	a := s.state("a1", approval.Approved).Row.Answer
	want := approval.By{
		Surface: approval.Telegram, ID: "1001", Name: "Ann", Chat: ann, Message: c.Message, Method: approval.Button,
	}
	if diff := cmp.Diff(want, a.By); diff != "" {
		t.Errorf("by (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&approval.Shown{Lines: 3, Of: 3}, a.Shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	s.contains(s.taps(c, ben, s.press("a1", c, cards.LetterAction, 0)), "Already approved by Ann at 12:00")
	if n := s.answers("a1"); n != 1 {
		t.Errorf("%d answers", n)
	}
}

func TestYesOfAnOldStep(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	s.confirming("a1", c, ann, "Ann")
	old := s.press("a1", c, cards.LetterYes, 0)
	oldCancel := s.press("a1", c, cards.LetterCancel, 0)
	s.is(s.taps(c, ben, oldCancel), cards.ToastCancelled)
	s.is(s.taps(c, ann, old), "No confirm step is open any more. Tap the action again.")
	s.confirming("a1", c, ann, "Ann")
	s.is(s.taps(c, ann, old), "This button is of an earlier step. Use the newest one.")
	s.is(s.taps(c, ann, oldCancel), "This button is of an earlier step. Use the newest one.")
	if s.state("a1", approval.Open).Step == nil {
		t.Error("an old Cancel left the new step")
	}
	s.advance(window)
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), "The time to confirm is over. Tap the action again.")
	s.state("a1", approval.Open)
}

func TestStepOfAnotherCard(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.open("a1", in(ann, group))
	second := *s.read("a1").At(group)
	s.confirming("a1", first, ann, "Ann")
	s.is(s.taps(second, ann, s.press("a1", second, cards.LetterYes, 0)), "This button is of an earlier step. Use the newest one.")
	other := s.open("a2", in(ann))
	yes := cards.Press{Letter: cards.LetterYes, Card: other.ID, Rev: s.read("a1").Step.Rev}.Data()
	s.is(s.taps(other, ann, yes), "No confirm step is open any more. Tap the action again.")
	s.state("a1", approval.Open)
	s.state("a2", approval.Open)
}

func TestHalt(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.openAs(storetest.Request("h1", storetest.Halt()))
	s.is(s.taps(c, ann, s.press("h1", c, cards.LetterAction, 0)), "Approved.")
	s.state("h1", approval.Approved)

	s.change(func(p *handlers.Present) { p.Cards.Confirm.OneTap = false })
	c = s.openAs(storetest.Request("h2", storetest.Halt()))
	s.is(s.taps(c, ann, s.press("h2", c, cards.LetterAction, 0)), "")
	if s.state("h2", approval.Open).Step == nil {
		t.Error("no step was opened")
	}
}

func TestQuorum(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	two := func(o *store.Opening) { o.Quorum = 2 }
	c := s.open("a1", in(group), two)
	s.confirming("a1", c, ann, "Ann")
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), "Your approval counts: 1 of 2.")
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterAction, 0)), "Your approval counts already: 1 of 2.")
	s.state("a1", approval.Open)
	s.confirming("a1", c, ben, "Ben")
	s.is(s.taps(c, ben, s.press("a1", c, cards.LetterYes, 0)), "Approved.")
	a := s.state("a1", approval.Approved).Row.Answer
	if len(a.Approvals) != 2 || a.Approvals[0].Name != "Ann" || a.Approvals[1].Name != "Ben" || a.By.Name != "Ben" {
		t.Errorf("approvals %+v by %+v", a.Approvals, a.By)
	}

	// A vote counts while its owner is one: Ann's goes with her.
	c = s.open("a2", in(group), two)
	s.confirming("a2", c, ann, "Ann")
	s.taps(c, ann, s.press("a2", c, cards.LetterYes, 0))
	s.change(func(p *handlers.Present) { delete(p.People, ann) })
	s.confirming("a2", c, ben, "Ben")
	s.is(s.taps(c, ben, s.press("a2", c, cards.LetterYes, 0)), "Your approval counts: 1 of 2.")
	s.state("a2", approval.Open)
	s.is(s.taps(c, ben, s.press("a2", c, cards.LetterReject, 0)), "Rejected.")
	s.state("a2", approval.Rejected)
}

func TestUndo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	storetest.Approve(t, s.store, "a1")
	undo := s.press("a1", c, cards.LetterUndo, 0)
	s.is(s.taps(c, ann, undo), cards.ToastNoUndo)
	s.report("a1", approval.Executed)
	s.is(s.taps(c, rita, undo), cards.ToastReader)
	s.is(s.taps(c, ann, undo), "")
	s.is(s.taps(c, ben, undo), "Ann has asked for the undo.")
	if n := s.answers("a1"); n != 2 { // the answer, and one undo request
		t.Errorf("%d events", n)
	}

	c = s.open("a2", in(group))
	storetest.Approve(t, s.store, "a2")
	s.report("a2", approval.Executed)
	s.advance(31 * 24 * time.Hour)
	s.is(s.taps(c, ann, s.press("a2", c, cards.LetterUndo, 0)), cards.ToastNoUndo)
}

// report has the runtime report an outcome.
func (s *scene) report(id string, outcome approval.State) {
	s.Helper()
	status, _, err := s.store.Reported(s.Context(), store.Reporting{
		Report: approval.Report{ID: id, Outcome: outcome}, Data: []byte(`{"approval_id":"` + id + `","outcome":"` + string(outcome) + `"}`),
		Stream: s.store.Keys().Requests(), EntryMS: s.now().UnixMilli(),
	})
	s.ok(err)
	if status != store.Done {
		s.Fatalf("report: %s", status)
	}
}
