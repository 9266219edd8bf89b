package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// rounds is how often each race is run.
const rounds = 200

// A race is two attempts that meet. when says when the deadline passes.
type race struct {
	when string // "", "before" the attempts, or "meanwhile"
	a, b func(e *env) store.Attempt
}

func races() map[string]race {
	yes := func(*env) store.Attempt { return approving(store.ByTap, ann) }
	no := func(*env) store.Attempt { return reject(ben) }
	operator := func(*env) store.Attempt { return byOperator(approval.DecisionRejected) }
	sweep := func(*env) store.Attempt { return lapse() }
	return map[string]race{
		"yes and reject":                {"", yes, no},
		"yes and the same yes":          {"", yes, yes},
		"yes and the operator":          {"", yes, operator},
		"withdrawal and reject":         {"", (*env).withdraw, no},
		"yes and sweep at the deadline": {"meanwhile", yes, sweep},
		"two sweeps":                    {"before", sweep, sweep},
	}
}

// TestRaces lets two attempts meet. Whatever wins, there is one answer.
func TestRaces(t *testing.T) {
	t.Parallel()
	for name, c := range races() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, s *storetest.Server) {
				e := newEnv(t, s, storetest.NewStore(t, s))
				for i := range rounds {
					id := fmt.Sprintf("a%d", i)
					r := e.openHalt(id)
					if c.when == "before" {
						e.advance(hour)
					}
					if won := e.meet(r, c); won != 1 {
						t.Fatalf("%s: %d attempts were told that theirs counts", id, won)
					}
					if n := len(e.events(e.keys.Answer(id))); n != 1 {
						t.Fatalf("%s: %d answers", id, n)
					}
				}
				if n := len(e.events(e.keys.Answers())); n != rounds {
					t.Errorf("%d answers in all, want one in each of %d rounds", n, rounds)
				}
			})
		})
	}
}

// meet makes two attempts at once, again until one counts, and returns how many
// were told that theirs does.
func (e *env) meet(r *store.Reading, c race) int {
	e.Helper()
	for round := range 100 {
		var done atomic.Int32
		var wg sync.WaitGroup
		for _, attempt := range []store.Attempt{c.a(e), c.b(e)} {
			wg.Go(func() {
				status, _, err := e.store.Decide(e.ctx, r, attempt)
				if err != nil {
					e.Errorf("%v: %v", attempt.Guard, err)
				}
				if status == store.Done {
					done.Add(1)
				}
			})
		}
		if c.when == "meanwhile" && round == 0 {
			wg.Go(func() { e.advance(hour) })
		}
		wg.Wait()
		if n := int(done.Load()); n > 0 {
			return n
		}
	}
	return 0
}

// TestViewsMeetAnswer lets an answer meet taps that change its card's view.
func TestViewsMeetAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		for i := range 20 {
			id := fmt.Sprintf("a%d", i)
			e.openHalt(id)
			cid := e.card(id)
			r := e.read(id)
			var wg sync.WaitGroup
			wg.Go(func() {
				for page := range 20 {
					if _, err := e.store.Look(e.ctx, id, cid, store.View{Page: &page}); err != nil {
						t.Error(err)
					}
				}
			})
			status, _, err := e.store.Decide(e.ctx, r, approving(store.ByTap, ann))
			wg.Wait()
			if err != nil || status != store.Done {
				t.Fatalf("%s: %v, %v", id, status, err)
			}
			e.answered(id, approval.DecisionApproved)
		}
	})
}
