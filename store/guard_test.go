package store_test

import (
	"fmt"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// A guardCase is a guard, and an approval that it has every right to decide.
type guardCase struct {
	guard store.Guard
	may   []approval.Decision
	// prepare opens the approval, and returns an attempt that only has to be
	// given a decision.
	prepare func(e *env) (*store.Reading, store.Attempt)
}

func guards() []guardCase {
	opened := func(a func(e *env) store.Attempt) func(e *env) (*store.Reading, store.Attempt) {
		return func(e *env) (*store.Reading, store.Attempt) { return e.open("a1"), a(e) }
	}
	yesNo := []approval.Decision{approval.DecisionApproved}
	return []guardCase{
		{store.ByStep, yesNo, func(e *env) (*store.Reading, store.Attempt) {
			e.open("a1")
			r := e.ready("a1", ann)
			return r, yes(r, ann)
		}},
		{store.ByWord, yesNo, func(e *env) (*store.Reading, store.Attempt) {
			e.open("a1")
			r := e.shown("a1", ann)
			return r, saidYes(r, ann)
		}},
		{store.ByTap, yesNo, func(e *env) (*store.Reading, store.Attempt) {
			return e.openHalt("a1"), approving(store.ByTap, ann)
		}},
		{store.ByOwner, []approval.Decision{approval.DecisionRejected}, opened(func(*env) store.Attempt { return reject(ann) })},
		{
			store.ByOperator,
			[]approval.Decision{approval.DecisionApproved, approval.DecisionRejected},
			opened(func(*env) store.Attempt { return byOperator("") }),
		},
		{store.ByDeadline, []approval.Decision{approval.DecisionLapsed}, func(e *env) (*store.Reading, store.Attempt) {
			e.open("a1")
			e.advance(hour)
			return e.read("a1"), lapse()
		}},
		{store.ByRuntime, []approval.Decision{approval.DecisionWithdrawn}, opened((*env).withdraw)},
		{store.Unreachable, []approval.Decision{approval.DecisionRefused}, opened(func(*env) store.Attempt { return unreachable() })},
		{"anybody", nil, opened(func(*env) store.Attempt { return approving("anybody", ann) })},
		{"", nil, opened(func(*env) store.Attempt { return approving("", ann) })},
	}
}

func decisions() []approval.Decision {
	return []approval.Decision{
		approval.DecisionApproved, approval.DecisionRejected, approval.DecisionLapsed,
		approval.DecisionWithdrawn, approval.DecisionRefused, "executed", "",
	}
}

// guardChecks try every guard with every decision, and every guard where it is
// too late, too early or over.
func guardChecks() []check {
	var all []check
	for _, g := range guards() {
		all = append(all, check{"decide", fmt.Sprintf("guard %q decides %v and nothing else", g.guard, g.may), func(e *env) {
			r, a := g.prepare(e)
			may := map[approval.Decision]bool{}
			for _, d := range g.may {
				may[d] = true
			}
			for _, d := range decisions() {
				if a.Decision = d; !may[d] {
					e.refuses(r, a, store.Forbidden)
				}
			}
			if len(g.may) == 0 {
				return
			}
			a.Decision = g.may[len(g.may)-1]
			e.marked("a1", func() { e.decides(r, a, store.Done) })
			e.answered("a1", a.Decision)
			e.audited(fmt.Sprintf("a1 open>%s %s/%s", a.Decision, a.By.Surface, a.By.ID))
		}})
		if len(g.may) == 0 {
			continue
		}
		all = append(all, check{"decide", fmt.Sprintf("guard %q decides nothing that is answered, or gone", g.guard), func(e *env) {
			r, a := g.prepare(e)
			a.Decision = g.may[0]
			first := byOperator(approval.DecisionRejected)
			if g.guard == store.ByDeadline {
				first = lapse()
			}
			e.decides(r, first, store.Done)
			after := e.refuses(r, a, store.NotOpen)
			same(e, "told who answered", after.Row.Answer.By, first.By)
			e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1")).Err())
			e.refuses(r, a, store.Unknown)
		}})
		if g.guard == store.ByDeadline {
			continue
		}
		all = append(all, check{"decide", fmt.Sprintf("guard %q is late from the deadline on, swept or not", g.guard), func(e *env) {
			r, a := g.prepare(e)
			a.Decision = g.may[0]
			e.advance(r.Row.ExpiresAt.Sub(r.Now))
			e.refuses(r, a, store.Late)
			e.refuses(e.read("a1"), a, store.Late)
			e.decides(r, lapse(), store.Done)
			e.answered("a1", approval.DecisionLapsed)
		}})
	}
	return append(all,
		check{"decide", "the sweeper is early until the deadline", func(e *env) {
			r := e.open("a1")
			e.advance(r.Row.ExpiresAt.Sub(r.Now) - e.tick())
			e.refuses(r, lapse(), store.Early)
			e.advance(e.tick())
			e.decides(r, lapse(), store.Done)
			e.at("lapse", e.score(e.keys.LapsedKey(), "a1"), e.now())
		}},
		check{"decide", "until the deadline an owner is in time", func(e *env) {
			r := e.open("a1")
			e.advance(r.Row.ExpiresAt.Sub(r.Now) - e.tick())
			e.decides(r, reject(ann), store.Done)
		}},
		check{"decide", "one tap approves a halt, and no call", func(e *env) {
			e.refuses(e.open("a1"), approving(store.ByTap, ann), store.Forbidden)
		}},
		check{"decide", "a withdrawal is taken only from the stream of its request", func(e *env) {
			a := e.withdraw()
			a.Stream = "elsewhere"
			e.refuses(e.open("a1"), a, store.WrongStream)
		}},
		check{"decide", "who is not one of the row's owners decides nothing", func(e *env) {
			e.open("a1")
			r := e.ready("a1", ann)
			halt := e.openHalt("a2")
			for _, user := range []int64{cleo, 0, 100, 10, 1, 11001} {
				e.refuses(r, yes(r, user), store.NotOwner)
				e.refuses(r, saidYes(r, user), store.NotOwner)
				e.refuses(halt, approving(store.ByTap, user), store.NotOwner)
				e.refuses(r, reject(user), store.NotOwner)
			}
		}},
		check{"decide", "a row without owners is nobody's to answer", func(e *env) {
			r := e.open("a1", func(o *store.Opening) { o.Owners = nil })
			e.refuses(r, reject(ann), store.NotOwner)
			e.refuses(r, reject(0), store.NotOwner)
		}},
		check{"decide", "an id that was never seen is unknown", func(e *env) {
			e.refuses(e.read("never"), byOperator(approval.DecisionApproved), store.Unknown)
			r := storetest.Open(e.TB, e.store, storetest.Request("a1"))
			r.ID = "never"
			e.refuses(r, byOperator(approval.DecisionApproved), store.Unknown)
		}},
	)
}
