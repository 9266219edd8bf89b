package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/chaos/verdict"
	"countersign/queue"
	"countersign/simulator"
)

// A runtime asks for one approval, waits, claims, and says what happened.
type runtime struct {
	*run
	plan plan
	rng  *rand.Rand
}

// retry is how long a runtime waits before it tries again.
const retry = 300 * time.Millisecond

// open tells the ledger what is about to be asked.
func (r *runtime) open() (json.RawMessage, error) {
	request, err := r.plan.ask.Request()
	if err != nil {
		return nil, err
	}
	data := request.Data
	if r.plan.fate == malformed {
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			return nil, err
		}
		delete(fields, "card")
		if data, err = json.Marshal(fields); err != nil {
			return nil, err
		}
	}
	a := verdict.Asked{
		ID: r.plan.id, Halt: r.plan.halt, Runtime: r.plan.route.runtime, Chats: r.plan.route.chats, Owners: r.plan.route.owners,
		Quorum: r.plan.route.quorum, Data: string(data), Terms: approval.TermsOrRaw(data), Undo: r.plan.undo,
		Malformed: r.plan.fate == malformed, Shown: map[int64]int{},
	}
	if q, err := approval.Decode(data); err == nil {
		if a.Pin, err = approval.PinOf(q.Calls); err != nil {
			return nil, err
		}
	}
	r.ledger.ask(a)
	return data, nil
}

// ask publishes until Redis has taken it.
func (r *runtime) ask(ctx context.Context, data json.RawMessage) (queue.Pending, bool) {
	for ctx.Err() == nil {
		p, err := r.client.Request(ctx, queue.Request{Data: data, NoCheck: r.plan.fate == malformed || r.rng.IntN(2) == 0})
		switch {
		case err == nil:
			r.ledger.change(r.plan.id, func(a *verdict.Asked) { a.Published++ })
			return p, true
		case errors.Is(err, queue.ErrTaken):
			return p, false // somebody was here before: its answer is not ours
		case strings.Contains(err.Error(), "publish"):
			r.ledger.change(r.plan.id, func(a *verdict.Asked) { a.Unclear++ })
		}
		pause(ctx, retry)
	}
	return queue.Pending{}, false
}

// live goes through an approval's life from the runtime's side. answered is called
// once, when it no longer waits for an answer.
func (r *runtime) live(ctx context.Context, answered func()) {
	if p, ok := r.askAndWait(ctx, answered); ok {
		r.execute(ctx, p)
	}
}

// askAndWait reports whether the approval was approved.
func (r *runtime) askAndWait(ctx context.Context, answered func()) (queue.Pending, bool) {
	defer answered()
	data, err := r.open()
	if err != nil {
		panic("unreachable: what is planned can be written: " + err.Error())
	}
	if r.plan.fate == takenFirst {
		r.withdraw(ctx)
	}
	p, ok := r.ask(ctx, data)
	if !ok {
		return p, false
	}
	if r.plan.twice {
		r.ask(ctx, data)
	}
	if r.plan.other {
		r.askOther(ctx)
	}
	if r.plan.fate == takenBack {
		pause(ctx, time.Duration(r.rng.IntN(3000))*time.Millisecond)
		r.withdraw(ctx)
	}
	answer, err := r.await(ctx, p)
	if err != nil || answer.Decision != approval.DecisionApproved {
		if err == nil && r.rng.IntN(10) == 0 {
			r.claim(ctx, p, "greedy") // must be refused
		}
		return p, false
	}
	return p, true
}

// await waits for the answer, and reads it twice.
func (r *runtime) await(ctx context.Context, p queue.Pending) (queue.Answer, error) {
	for {
		a, err := r.client.Await(ctx, p)
		if err == nil {
			r.ledger.tell(verdict.Told{ID: p.ID, Data: string(a.Data)})
			if b, err := r.client.Await(ctx, p); err == nil {
				r.ledger.tell(verdict.Told{ID: p.ID, Data: string(b.Data)})
			}
			return a, nil
		}
		// Half a minute without an answer after the deadline, or without a row, is
		// where a program gives up. Here the outage may be longer: look again.
		if ctx.Err() != nil || errors.Is(err, queue.ErrNotMine) || !pause(ctx, retry) {
			return a, err
		}
	}
}

// askOther asks for something else under the same id.
func (r *runtime) askOther(ctx context.Context) {
	other := r.plan.ask
	other.Card.Title = "Something else of " + r.plan.id
	request, err := other.Request()
	if err != nil {
		return
	}
	request.NoCheck = true
	// It must not come before the first, or it would be the first.
	if !r.rowIsThere(ctx) {
		return
	}
	if _, err := r.client.Request(ctx, request); err == nil {
		r.ledger.change(r.plan.id, func(a *verdict.Asked) { a.Others++ })
	}
}

func (r *runtime) rowIsThere(ctx context.Context) bool {
	for ctx.Err() == nil {
		if _, err := r.client.Row(ctx, r.plan.id); err == nil {
			return true
		}
		if !pause(ctx, retry) {
			break
		}
	}
	return false
}

// withdrawal takes a request back, until Redis has taken that.
func (r *run) withdrawal(ctx context.Context, id string) {
	for ctx.Err() == nil {
		r.ledger.change(id, func(a *verdict.Asked) { a.Withdrawn++ })
		if err := r.client.Withdraw(ctx, id, "no longer needed"); err == nil {
			return
		}
		pause(ctx, retry)
	}
}

func (r *runtime) withdraw(ctx context.Context) { r.withdrawal(ctx, r.plan.id) }
func (p *person) withdraw(ctx context.Context)  { p.withdrawal(ctx, p.plan.id) }

// claim tries to claim once and writes down how it went.
func (r *runtime) claim(ctx context.Context, p queue.Pending, by string) string {
	c := verdict.Claim{ID: p.ID, By: by, Pin: p.Pin, At: time.Now()}
	err := r.client.Claim(ctx, p.ID, p.Pin, by)
	var refused *queue.ClaimRefused
	switch {
	case err == nil:
		c.Result = verdict.Granted
	case errors.As(err, &refused):
		c.Result = string(refused.Status)
	default:
		c.Result = verdict.Unclear
	}
	r.ledger.claim(c)
	return c.Result
}

// execute has rivals claim, and reports what the one that may run did.
func (r *runtime) execute(ctx context.Context, p queue.Pending) {
	if r.rng.IntN(6) == 0 {
		wrong := p
		wrong.Pin = "sha256:" + strings.Repeat("0", 64)
		r.claim(ctx, wrong, "thief")
	}
	var rivals sync.WaitGroup
	for i := range r.plan.rivals {
		rivals.Go(func() {
			for ctx.Err() == nil && r.claim(ctx, p, fmt.Sprintf("%s/%d", p.ID, i)) == verdict.Unclear {
				pause(ctx, retry)
			}
		})
	}
	rivals.Wait()
	pause(ctx, time.Duration(r.rng.IntN(500))*time.Millisecond)
	for i, outcome := range r.plan.reports {
		r.report(ctx, outcome, i)
	}
	if r.plan.undo && r.plan.reports[0] == approval.Executed {
		r.undo(ctx)
	}
}

// report says what happened, until Redis has taken it.
func (r *runtime) report(ctx context.Context, outcome approval.State, n int) {
	report := verdict.Report{ID: r.plan.id, Outcome: string(outcome), Message: fmt.Sprintf("report %d of %s", n, r.plan.id)}
	for ctx.Err() == nil && !report.Taken {
		err := r.client.Report(ctx, approval.Report{ID: r.plan.id, Outcome: outcome, Message: report.Message})
		report.Taken = err == nil
		r.ledger.report(report)
		if err != nil {
			pause(ctx, retry)
		}
	}
}

// undo has an owner ask for the undo, and does it.
func (r *runtime) undo(ctx context.Context) {
	asked := make(chan struct{})
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	go func() {
		defer close(asked)
		for {
			if _, err := r.client.AwaitUndo(ctx, r.plan.id); err == nil || !pause(ctx, retry) {
				return
			}
		}
	}()
	for {
		m, ok := r.hub.find(ctx, r.plan.id, glance, func(m simulator.Message) bool { return button(m, cards.LetterUndo) != "" })
		if ok {
			who := r.plan.route.owners[0]
			if m.Chat.ID > 0 {
				who = m.Chat.ID
			}
			r.press(who, m, button(m, cards.LetterUndo), false)
		}
		select {
		case <-asked:
			if ctx.Err() == nil {
				r.report(ctx, approval.Undone, 99)
			}
			return
		default:
			if !pause(ctx, time.Second) {
				return
			}
		}
	}
}
