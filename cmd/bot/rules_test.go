package main

import (
	"time"

	"countersign/approval"
)

// The model: what may happen to an approval, in plain Go, as the rules say it.

// The model's own copy of the confirm step's times. The dwell is long, since the
// clock moves a second between an update and its handling.
const (
	modelWindow = time.Minute
	modelDwell  = 2500 * time.Millisecond
)

// A fate is one approval in the model.
type fate struct {
	id       string
	terms    string // what tells two requests with one id apart
	halt     bool
	undo     bool
	quorum   int
	chats    []int64
	entry    time.Time // when Redis took the request
	expires  time.Time
	state    approval.State // "" before there is a row
	approved bool           // it ever was
	votes    map[int64]bool
	step     *modelStep
	claimed  bool
	undoBy   int64
	undoTill time.Time
}

// A modelStep is an open confirm step in the model.
type modelStep struct {
	by    int64
	rev   int64 // read off the button
	card  string
	at    time.Time
	shown time.Time // when the card first showed its Yes, by the clock of the delivery
	asked bool      // a question for a typed yes was sent
}

func (f *fate) live(now time.Time) bool { return f.state == approval.Open && now.Before(f.expires) }

// stepOpen is the step that is open now, or nil.
func (f *fate) stepOpen(now time.Time) *modelStep {
	if f.step == nil || now.After(f.step.at.Add(modelWindow)) {
		return nil
	}
	return f.step
}

// openStep is what tapping the action, or typing the approve word, does.
func (f *fate) openStep(by int64, card string, now time.Time) {
	if !f.live(now) || f.votes[by] || f.stepOpen(now) != nil {
		return
	}
	f.step = &modelStep{by: by, card: card, at: now, rev: -1}
}

// approve is what a Yes that counts does.
func (f *fate) approve(by int64) {
	if f.votes[by] {
		return
	}
	f.votes[by] = true
	f.step = nil
	if len(f.votes) >= f.quorum {
		f.end(approval.Approved)
	}
}

func (f *fate) end(s approval.State) {
	f.state, f.step = s, nil
	f.approved = f.approved || s == approval.Approved
}

// yes is a tap on Yes.
func (f *fate) yes(by int64, card string, rev int64, now time.Time) {
	s := f.stepOpen(now)
	if !f.live(now) || s == nil || s.by != by || s.card != card || s.rev != rev {
		return
	}
	if s.shown.IsZero() || now.Before(s.shown.Add(modelDwell)) {
		return
	}
	f.approve(by)
}

// typedYes is a typed yes that names this approval.
func (f *fate) typedYes(by int64, now time.Time) {
	s := f.stepOpen(now)
	if f.live(now) && s != nil && s.by == by && (!s.shown.IsZero() || s.asked) {
		f.approve(by)
	}
}

func (f *fate) reject(now time.Time) {
	if f.live(now) {
		f.end(approval.Rejected)
	}
}

// cancel is a tap on Cancel; it counts for the step it was drawn for.
func (f *fate) cancel(rev int64, now time.Time) {
	if f.live(now) && f.step != nil && f.step.rev == rev {
		f.step = nil
	}
}

// report is what happened, by a newer entry than the last.
func (f *fate) report(outcome approval.State, now time.Time) {
	if !f.approved || f.state == approval.Undone {
		return
	}
	f.state = outcome
	f.undoTill = time.Time{}
	if f.undo && (outcome == approval.Executed || outcome == approval.Partial) {
		f.undoTill = now.Add(30 * 24 * time.Hour)
	}
}

func (f *fate) askUndo(by int64, now time.Time) {
	if (f.state == approval.Executed || f.state == approval.Partial) && f.undoBy == 0 && now.Before(f.undoTill) {
		f.undoBy = by
	}
}
