package main

import (
	"strconv"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// TestModel drives random interleavings of requests, taps by several people,
// words, sweeps, withdrawals, claims, reports, the operator, the clock and
// restarts through the whole bot, and compares every step with a model of what
// may happen (rules_test.go) that shares no code with it. At the end everything
// is let come to rest, and rows, answers and cards must agree.
func TestModel(t *testing.T) {
	var steps, runs atomic.Int64
	ends := tally{}
	rapid.Check(t, func(t *rapid.T) {
		w := newScene(t)
		defer w.close()
		t.Repeat(often(map[string]func(*rapid.T){
			"again":    w.requestAgain,
			"malform":  w.malformed,
			"intake":   w.intake,
			"deliver":  w.deliver,
			"tap":      w.tap,
			"press":    w.press,
			"word":     w.word,
			"sweep":    w.sweep,
			"withdraw": w.withdraw,
			"claim":    w.claim,
			"report":   w.report,
			"operator": w.operator,
			"advance":  w.advance,
			"restart":  w.restart,
			"undo":     w.undo,
			"":         w.check,
		}, 3, map[string]func(*rapid.T){"request": w.request, "handle": w.handle, "walk": w.walk}))
		w.rest(t)
		steps.Add(int64(w.steps))
		runs.Add(1)
		for _, f := range w.fates {
			ends.count(f)
		}
	})
	t.Logf("%d steps in %d runs; approvals ended as %v", steps.Load(), runs.Load(), ends)
}

// often adds some actions several times, so that they are drawn more often.
func often(actions map[string]func(*rapid.T), times int, more map[string]func(*rapid.T)) map[string]func(*rapid.T) {
	for name, action := range more {
		for i := range times {
			actions[name+strconv.Itoa(i)] = action
		}
	}
	return actions
}

// A tally counts how approvals ended, to see that every end is reached.
type tally map[string]int

func (c tally) count(f *fate) {
	c[string(f.state)]++
	if f.undoBy != 0 {
		c["undo asked"]++
	}
	if len(f.votes) > 0 {
		c["voted in Telegram"]++
	}
}
