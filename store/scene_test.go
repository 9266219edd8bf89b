package store_test

import (
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// message is the id of the first card's message.
const message = 10

// opening is a good request, with an undo, about to be opened.
func (e *env) opening(id string, options ...storetest.Option) store.Opening {
	e.Helper()
	raw := storetest.Request(id, append([]storetest.Option{storetest.WithUndo(days)}, options...)...)
	return storetest.NewOpening(e.TB, e.store, raw)
}

// open opens a good request with a reminder, after changes.
func (e *env) open(id string, changes ...func(*store.Opening)) *store.Reading {
	e.Helper()
	remind := func(o *store.Opening) { o.RemindAt = o.ExpiresAt.Add(-10 * time.Minute) }
	raw := storetest.Request(id, storetest.WithUndo(days))
	return storetest.Open(e.TB, e.store, raw, append([]func(*store.Opening){remind}, changes...)...)
}

// openHalt opens a halt, after changes.
func (e *env) openHalt(id string, changes ...func(*store.Opening)) *store.Reading {
	e.Helper()
	return storetest.Open(e.TB, e.store, storetest.Request(id, storetest.Halt()), changes...)
}

// quorum asks for so many of Ann, Ben and Cleo.
func quorum(n int) func(*store.Opening) {
	return func(o *store.Opening) { o.Owners, o.Quorum = []int64{ann, ben, cleo}, n }
}

func (e *env) read(id string) *store.Reading {
	e.Helper()
	return storetest.Read(e.TB, e.store, id)
}

// lease is the present one, taken for longer than any check goes on.
func (e *env) lease() store.Lease {
	e.Helper()
	if e.held != nil {
		return *e.held
	}
	l, held, err := e.store.TakeLease(e.ctx, "bot", 10000*time.Hour)
	e.ok(err)
	if !held {
		e.Fatalf("the lease is another's")
	}
	e.held = &l
	return l
}

// leases is the lease for what can do without.
func (e *env) leases() *store.Lease {
	l := e.lease()
	return &l
}

// card makes the card of an approval in Ann's chat, and has it sent.
func (e *env) card(id string) string {
	e.Helper()
	l := e.lease()
	cid, err := e.store.NewCard(e.ctx, id, store.Place{Chat: ann}, &l, false)
	e.ok(err)
	e.sent(id, cid, store.TheCard, message, 0)
	return cid
}

// sent records a send or an edit under the present lease.
func (e *env) sent(id, card, what string, message int, stepRev int64) {
	e.Helper()
	ok, err := e.store.Record(e.ctx, store.Record{ID: id, Card: card, What: what, Message: message, Drawn: "drawn", StepRev: stepRev}, e.lease())
	e.ok(err)
	if !ok {
		e.Fatalf("%s of %q was not recorded", what, id)
	}
}

// late has a holder whose lease is over record what it sent or edited.
func (e *env) late(id, card, what string, message int) {
	e.Helper()
	l := e.lease()
	l.Number--
	e.marked(id, func() {
		ok, err := e.store.Record(e.ctx, store.Record{ID: id, Card: card, What: what, Message: message, Drawn: "late"}, l)
		e.ok(err)
		same(e, "recorded", ok, false)
	})
}

// step opens a confirm step on a card.
func (e *env) step(id string, user int64, card string) *store.Reading {
	e.Helper()
	status, r, err := e.store.OpenStep(e.ctx, id, store.StepBy{User: user, Name: "Ann", Window: window, Chat: ann, Card: card})
	e.ok(err)
	if status != store.Done {
		e.Fatalf("open step of %d on %q: %s", user, id, status)
	}
	return r
}

// shown opens a step and shows it on the approval's card.
func (e *env) shown(id string, user int64) *store.Reading {
	e.Helper()
	cid := e.card(id)
	r := e.step(id, user, cid)
	e.sent(id, cid, "edit", message, r.Step.Rev)
	return e.read(id)
}

// ready is shown, and the dwell is over: this person's Yes counts.
func (e *env) ready(id string, user int64) *store.Reading {
	e.Helper()
	e.shown(id, user)
	e.advance(dwell)
	return e.read(id)
}

// decide attempts an answer.
func (e *env) decide(r *store.Reading, a store.Attempt) (store.Status, *store.Reading) {
	e.Helper()
	status, after, err := e.store.Decide(e.ctx, r, a)
	e.ok(err)
	if status == store.Done || status == store.Meddled {
		same(e, "no reading of what is answered", after, nil)
		after = e.read(r.ID)
	}
	if status == store.Voted && (after == nil || len(after.Votes) == 0) {
		e.Errorf("no vote in what is returned: %+v", after)
	}
	return status, after
}

// decides wants a status of an attempt.
func (e *env) decides(r *store.Reading, a store.Attempt, want store.Status) *store.Reading {
	e.Helper()
	status, after := e.decide(r, a)
	same(e, "status", status, want)
	return after
}

// refuses wants an attempt to come to nothing, and to change nothing.
func (e *env) refuses(r *store.Reading, a store.Attempt, want store.Status) *store.Reading {
	e.Helper()
	var after *store.Reading
	e.unchanged(func() { after = e.decides(r, a, want) })
	return after
}

// approved opens a request and approves it at the command line.
func (e *env) approved(id string) *store.Reading {
	e.Helper()
	e.open(id)
	return storetest.Approve(e.TB, e.store, id)
}

// executed is approved, run and reported, by an entry with id 100-0.
func (e *env) executed(id string) *store.Reading {
	e.Helper()
	e.approved(id)
	e.reported(id, approval.Executed, 100, store.Done)
	return e.read(id)
}

// The attempts. Those of a person name the step that the reading shows.

func yes(r *store.Reading, user int64) store.Attempt {
	a := approving(store.ByStep, user)
	if r.Step != nil {
		a.Card, a.StepRev = r.Step.CardID, r.Step.Rev
	}
	return a
}

// saidYes is a typed yes to the step of a reading.
func saidYes(r *store.Reading, user int64) store.Attempt {
	a := approving(store.ByWord, user)
	if r.Step != nil {
		a.StepRev = r.Step.Rev
	}
	return a
}

// byUpdate is an attempt by an update of which nobody has asked whether it is new.
func byUpdate(a store.Attempt, update int64) store.Attempt {
	a.Update = update
	return a
}

func approving(g store.Guard, user int64) store.Attempt {
	return store.Attempt{
		Decision: approval.DecisionApproved, Guard: g, User: user, By: telegram(user),
		Confirm: approval.Confirm{Window: window, Dwell: dwell},
	}
}

func reject(user int64) store.Attempt {
	return store.Attempt{Decision: approval.DecisionRejected, Guard: store.ByOwner, User: user, By: telegram(user)}
}

func byOperator(d approval.Decision) store.Attempt {
	return store.Attempt{
		Decision: d, Guard: store.ByOperator, By: approval.By{Surface: approval.CLI, ID: "root", Name: "root"},
	}
}

func lapse() store.Attempt {
	return store.Attempt{
		Decision: approval.DecisionLapsed, Guard: store.ByDeadline,
		By: approval.By{Surface: approval.Sweeper, ID: "sweeper"},
	}
}

func (e *env) withdraw() store.Attempt {
	return store.Attempt{
		Decision: approval.DecisionWithdrawn, Guard: store.ByRuntime, Stream: e.keys.Requests(),
		By: approval.By{Surface: approval.Runtime, ID: storetest.Runtime},
	}
}

func unreachable() store.Attempt {
	return store.Attempt{
		Decision: approval.DecisionRefused, Guard: store.Unreachable, Reason: "unreachable: blocked",
		By: approval.By{Surface: approval.Intake, ID: "delivery"},
	}
}
