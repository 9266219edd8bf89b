package store_test

import (
	"fmt"
	"strings"
	"time"

	"countersign/approval"
	"countersign/store"
)

// decideChecks are about confirm steps, and about what an answer says.
func decideChecks() []check {
	return []check{
		{"decide", "Yes without a step confirms nothing", func(e *env) {
			r := e.open("a1")
			e.refuses(r, yes(r, ann), store.NoStep)
			e.refuses(r, saidYes(r, ann), store.NoStep)
		}},
		{"decide", "Yes counts from the dwell on, and not before", func(e *env) {
			e.open("a1")
			r := e.shown("a1", ann)
			e.refuses(r, yes(r, ann), store.TooSoon)
			e.advance(dwell - e.tick())
			e.refuses(r, yes(r, ann), store.TooSoon)
			e.advance(e.tick())
			e.decides(r, yes(r, ann), store.Done)
		}},
		{"decide", "Yes counts to the end of the window, and not after", func(e *env) {
			e.open("a1")
			r := e.shown("a1", ann)
			e.open("a2")
			late := e.step("a2", ann, "")
			e.advance(window + time.Millisecond)
			e.refuses(late, saidYes(late, ann), store.WindowOver)
			e.refuses(r, yes(r, ann), store.WindowOver)
		}},
		{"decide", "at the window's last instant Yes counts", func(e *env) {
			e.open("a1")
			r := e.shown("a1", ann)
			e.advance(window - e.slack())
			e.decides(r, yes(r, ann), store.Done)
		}},
		{"decide", "Yes of another owner than who opened the step confirms nothing", func(e *env) {
			e.open("a1")
			r := e.ready("a1", ann)
			e.refuses(r, yes(r, ben), store.OtherPerson)
			e.refuses(r, saidYes(r, ben), store.OtherPerson)
		}},
		{"decide", "Yes of an earlier step, or on another card, confirms nothing", func(e *env) {
			e.open("a1")
			r := e.ready("a1", ann)
			a := yes(r, ann)
			a.StepRev--
			e.refuses(r, a, store.OldStep)
			a = yes(r, ann)
			a.Card = "another"
			e.refuses(r, a, store.OldStep)
		}},
		{"decide", "Yes before the step is on the card confirms nothing", func(e *env) {
			e.open("a1")
			r := e.step("a1", ann, e.card("a1"))
			e.advance(dwell)
			e.refuses(r, yes(r, ann), store.NotShown)
			e.refuses(r, saidYes(r, ann), store.NotShown)
		}},
		{"decide", "a typed yes counts once it was asked for, without a dwell", func(e *env) {
			e.open("a1")
			r := e.step("a1", ann, "")
			e.asked("a1", r.Step.Rev, ann, 11, "", true)
			e.decides(r, saidYes(r, ann), store.Done)
		}},
		{"decide", "a typed yes confirms no step but the one it was read with", func(e *env) {
			none := e.open("a1")
			first := e.step("a1", ann, "")
			e.cancels("a1", ann, first.Step.Rev, store.Done)
			second := e.step("a1", ann, "")
			e.asked("a1", second.Step.Rev, ann, 11, "", true)
			e.refuses(none, saidYes(none, ann), store.OldStep)
			e.refuses(first, saidYes(first, ann), store.OldStep)
			e.decides(second, saidYes(second, ann), store.Done)
		}},
		{"decide", "a step that was cancelled confirms nothing", func(e *env) {
			e.open("a1")
			r := e.ready("a1", ann)
			e.cancels("a1", ann, r.Step.Rev, store.Done)
			e.refuses(r, yes(r, ann), store.NoStep)
		}},
		{"decide", "a stale reading is read again, and the answer made anew", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			stale := e.read("a1")
			e.look("a1", cid, store.View{Page: new(int), User: ann, Pages: []string{"0"}})
			if e.read("a1").Row.Rev == stale.Row.Rev {
				e.Fatalf("the view changed nothing")
			}
			after := e.decides(stale, reject(ann), store.Done)
			same(e, "revision", after.Row.Rev, stale.Row.Rev+2)
			e.answered("a1", approval.DecisionRejected)
		}},
		{"decide", "what has changed since it was read is not refused as unreachable", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.ok(e.store.FailCard(e.ctx, cid, "blocked", e.lease()))
			stale := e.read("a1")
			e.ok(e.store.ChatBack(e.ctx, ann))
			e.refuses(stale, unreachable(), store.Changed)
			e.decides(e.read("a1"), unreachable(), store.Done)
		}},
		{"decide", "an answer says what was asked, who decided, why and what was shown", func(e *env) {
			r := e.open("a1")
			a := reject(ann)
			a.Reason, a.Shown, a.Quiet = "wrong ones", &approval.Shown{Lines: 2, Of: 3}, []int64{7, 8}
			after := e.decides(r, a, store.Done)
			got := e.answered("a1", approval.DecisionRejected)
			got.At, got.Calls = r.Now, nil
			same(e, "answer", *got, approval.Answer{
				ID: "a1", Runtime: "iris", RunID: "run-1", Decision: approval.DecisionRejected,
				Terms: r.Row.Terms, Pin: r.Row.Pin, Context: []byte(`{"wait":"w-1"}`), Reason: "wrong ones",
				Observation: approval.Observation(approval.DecisionRejected, "Trash 3 emails", "wrong ones"),
				By:          telegram(ann), Shown: &approval.Shown{Lines: 2, Of: 3}, At: r.Now,
			})
			same(e, "calls", fmt.Sprint(e.read("a1").Row.Answer.Calls), fmt.Sprint(r.Row.Request.Calls))
			same(e, "quiet chats", after.Row.Quiet, []int64{7, 8})
		}},
		{"decide", "an owner's words in the form of a code are no code", func(e *env) {
			a := reject(ann)
			a.Reason = "invalid: not mine"
			e.decides(e.open("a1"), a, store.Done)
			same(e, "code", e.audits()[1].Code, "")
			e.decides(e.open("a2"), unreachable(), store.Done)
			same(e, "code", e.audits()[3].Code, "unreachable")
		}},
		{"decide", "no answer is without who decided", func(e *env) {
			r := e.open("a1")
			a := reject(ann)
			a.By = approval.By{}
			e.unchanged(func() {
				if _, _, err := e.store.Decide(e.ctx, r, a); err == nil || !strings.Contains(err.Error(), "nobody") {
					e.Errorf("got %v, want a refusal", err)
				}
			})
		}},
		{"decide", "an update that was handled decides nothing", func(e *env) {
			e.open("a1")
			r := e.ready("a1", ann)
			e.ok(e.store.UpdateHandled(e.ctx, 7, e.now()))
			e.refuses(r, byUpdate(yes(r, ann), 7), store.Handled)
			e.decides(r.AsOf(e.now()), byUpdate(yes(r, ann), 8), store.Done)
		}},
		{"decide", "by an update nothing is begun again that has changed since", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			r := e.read("a1")
			e.look("a1", cid, store.View{Page: new(int), User: ann, Pages: []string{"0"}})
			fresh := e.refuses(r.AsOf(e.now()), byUpdate(reject(ann), 8), store.Changed)
			e.decides(fresh, byUpdate(reject(ann), 8), store.Done)
		}},
		{"decide", "by an update an answer is made for the time at which it is written", func(e *env) {
			r := e.open("a1")
			for _, off := range []time.Duration{-time.Second - e.tick(), time.Second + e.tick()} {
				e.refuses(r.AsOf(e.now().Add(off)), byUpdate(reject(ann), 8), store.Changed)
			}
			at := e.now()
			if e.server.IsEmbedded() {
				at = at.Add(-time.Second)
			}
			e.decides(r.AsOf(at), byUpdate(reject(ann), 8), store.Done)
			same(e, "time", e.answered("a1", approval.DecisionRejected).At, at.Truncate(time.Millisecond))
		}},
		{"decide", "what was read and not reckoned may be as old as it is", func(e *env) {
			r := e.open("a1")
			e.advance(hour / 2)
			e.decides(r, reject(ann), store.Done)
			same(e, "time", e.answered("a1", approval.DecisionRejected).At, r.Now)
		}},
		{"decide", "an answer leaves other approvals alone", func(e *env) {
			e.open("a2")
			before := e.dump()[e.keys.Row("a2")]
			e.decides(e.open("a1"), reject(ann), store.Done)
			same(e, "the other row", e.dump()[e.keys.Row("a2")], before)
			if e.score(e.keys.Deadlines(), "a2").IsZero() {
				e.Errorf("the other deadline is gone")
			}
		}},
	}
}
