package store_test

import (
	"time"

	"countersign/approval"
	"countersign/store"
)

// opensStep attempts to open a step where no card stands; whatever is not Done
// must change nothing.
func (e *env) opensStep(id string, user int64, want store.Status) (r *store.Reading) {
	e.Helper()
	attempt := func() {
		status, after, err := e.store.OpenStep(e.ctx, id, store.StepBy{User: user, Name: "Somebody", Window: window, Chat: user})
		e.ok(err)
		same(e, "status", status, want)
		r = after
	}
	if want == store.Done {
		e.marked(id, attempt)
	} else {
		e.unchanged(attempt)
	}
	return r
}

// cancels attempts to cancel a step, likewise.
func (e *env) cancels(id string, user, rev int64, want store.Status) {
	e.Helper()
	attempt := func() {
		status, _, err := e.store.CancelStep(e.ctx, id, user, window, rev)
		e.ok(err)
		same(e, "status", status, want)
	}
	if want == store.Done {
		e.marked(id, attempt)
	} else {
		e.unchanged(attempt)
	}
}

// asked records a question.
func (e *env) asked(id string, rev, chat int64, message int, card string, want bool) {
	e.Helper()
	ok, err := e.store.Asked(e.ctx, id, rev, chat, message, card)
	e.ok(err)
	same(e, "recorded", ok, want)
}

func stepChecks() []check {
	return []check{
		{"step", "a step says who opened it, where, when and at which revision", func(e *env) {
			before := e.open("a1")
			cid := e.card("a1")
			r := e.step("a1", ann, cid)
			e.at("opening", r.Step.OpenedAt, e.now())
			r.Step.OpenedAt = time.Time{}
			same(e, "step", *r.Step, approval.Step{By: ann, Name: "Ann", Rev: before.Row.Rev + 1, Chat: ann, CardID: cid})
			same(e, "row's revision", r.Row.Rev, before.Row.Rev+1)
			same(e, "audit lines", len(e.audits()), 1)
		}},
		{"step", "with a step counts as seen what its person has in front of them", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			for _, page := range []struct {
				front string
				seen  []string
			}{{"", nil}, {"2", []string{"2"}}, {"", []string{"2"}}, {"2", []string{"2"}}, {"12", []string{"2", "12"}}} {
				by := store.StepBy{User: ann, Window: window, Chat: ann, Card: cid, Page: page.front}
				status, r, err := e.store.OpenStep(e.ctx, "a1", by)
				e.ok(err)
				same(e, "status", status, store.Done)
				same(e, "seen", r.Card(cid).Seen[ann], page.seen)
				by.Page = "7"
				e.unchanged(func() {
					status, _, err := e.store.OpenStep(e.ctx, "a1", by)
					e.ok(err)
					same(e, "status", status, store.AlreadyOpen)
				})
				e.cancels("a1", ann, r.Step.Rev, store.Done)
			}
		}},
		{"step", "a second tap by the same person changes nothing", func(e *env) {
			e.open("a1")
			e.opensStep("a1", ann, store.Done)
			e.opensStep("a1", ann, store.AlreadyOpen)
		}},
		{"step", "another owner is told who is confirming, until the window is over", func(e *env) {
			e.open("a1")
			e.shown("a1", ann)
			e.advance(window - e.slack())
			same(e, "who", e.opensStep("a1", ben, store.OtherPerson).Step.By, ann)
			e.opensStep("a1", ann, store.AlreadyOpen)
			e.advance(time.Millisecond + e.slack())
			r := e.opensStep("a1", ben, store.Done)
			same(e, "who", r.Step.By, ben)
			same(e, "shown", r.Step.ShownAt, time.Time{})
		}},
		{"step", "a question belongs to its step alone", func(e *env) {
			e.open("a1")
			r := e.opensStep("a1", ann, store.Done)
			e.asked("a1", r.Step.Rev, ann, 11, "", true)
			e.advance(window + time.Millisecond)
			r = e.opensStep("a1", ann, store.Done)
			same(e, "question", r.Step.Question, 0)
			same(e, "its chat", r.Step.QuestionChat, 0)
		}},
		{"step", "who is no owner opens and cancels nothing", func(e *env) {
			e.open("a1")
			e.opensStep("a1", cleo, store.NotOwner)
			r := e.opensStep("a1", ann, store.Done)
			e.cancels("a1", cleo, r.Step.Rev, store.NotOwner)
		}},
		{"step", "from the deadline on no step opens or ends", func(e *env) {
			r := e.open("a1")
			e.advance(r.Row.ExpiresAt.Sub(r.Now))
			e.opensStep("a1", ann, store.Late)
			e.cancels("a1", ann, 0, store.Late)
		}},
		{"step", "an answered approval has no steps", func(e *env) {
			e.approved("a1")
			e.opensStep("a1", ann, store.NotOpen)
			e.cancels("a1", ann, 0, store.NotOpen)
		}},
		{"step", "an unknown approval has no steps", func(e *env) {
			same(e, "row", e.opensStep("never", ann, store.Unknown).Row, nil)
			e.cancels("never", ann, 0, store.Unknown)
		}},
		{"step", "whoever has voted opens no further step", func(e *env) {
			e.openHalt("a1", quorum(2))
			e.decides(e.read("a1"), approving(store.ByTap, ann), store.Voted)
			e.opensStep("a1", ann, store.HasVoted)
		}},
		{"step", "any owner may cancel the step, once", func(e *env) {
			before := e.open("a1")
			r := e.shown("a1", ann)
			e.asked("a1", r.Step.Rev, ann, 11, r.Step.CardID, true)
			e.cancels("a1", ben, r.Step.Rev, store.Done)
			r = e.read("a1")
			same(e, "step", r.Step, nil)
			same(e, "memory", e.rdb.HKeys(e.ctx, e.keys.Memory("a1")).Val(), []string{"asked:1001"})
			same(e, "revision", r.Row.Rev, before.Row.Rev+2)
			e.cancels("a1", ben, 0, store.NoStep)
		}},
		{"step", "Cancel on an earlier step's card does not end the present one", func(e *env) {
			e.open("a1")
			first := e.opensStep("a1", ann, store.Done)
			e.cancels("a1", ann, 0, store.Done)
			second := e.opensStep("a1", ann, store.Done)
			if second.Step.Rev <= first.Step.Rev {
				e.Errorf("step revision %d after %d", second.Step.Rev, first.Step.Rev)
			}
			e.cancels("a1", ann, first.Step.Rev, store.OldStep)
			e.cancels("a1", ann, second.Step.Rev, store.Done)
		}},
		{"asked", "a question is found by its message, and is on the step", func(e *env) {
			e.open("a1")
			r := e.opensStep("a1", ann, store.Done)
			e.asked("a1", r.Step.Rev, -100, 11, "", true)
			same(e, "a card without a name", e.there(e.keys.CardKey("")), false)
			found, err := e.store.ReadByMessage(e.ctx, -100, 11)
			e.ok(err)
			same(e, "approval", found.ID, "a1")
			same(e, "card", found.CardID, "")
			same(e, "question", found.Step.Question, 11)
			same(e, "chat", found.Step.QuestionChat, -100)
		}},
		{"asked", "a question under a card is found as that card's", func(e *env) {
			e.open("a1")
			r := e.shown("a1", ann)
			e.asked("a1", r.Step.Rev, ann, 11, r.Step.CardID, true)
			found, err := e.store.ReadByMessage(e.ctx, ann, 11)
			e.ok(err)
			same(e, "card", found.CardID, r.Step.CardID)
			same(e, "card's question", e.field(e.keys.CardKey(r.Step.CardID), "question"), "11")
		}},
		{"asked", "a question to a step that is over is not recorded", func(e *env) {
			e.open("a1")
			r := e.opensStep("a1", ann, store.Done)
			e.unchanged(func() { e.asked("a1", r.Step.Rev-1, ann, 11, "", false) })
			e.cancels("a1", ann, 0, store.Done)
			e.unchanged(func() { e.asked("a1", r.Step.Rev, ann, 11, "", false) })
		}},
	}
}
