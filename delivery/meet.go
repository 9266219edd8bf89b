package delivery

import (
	"context"
	"maps"
	"slices"
	"time"

	"countersign/store"
)

// A task is one need of an approval, and all that it was planned by.
type task struct {
	id      string
	need    need
	reading *store.Reading
	lease   store.Lease // taken before the reading
	present Present
	drawn   drawings
	job     *job
}

// An outcome is what a task came to.
type outcome struct {
	wait    time.Duration // how long to leave the chat alone
	settled bool          // the approval needs nothing more, and was settled
	again   time.Duration // then it is to be looked at again; negative: never
}

// meet does one thing, and has the approval planned again unless it needs nothing more.
func (r *Reconciler) meet(ctx context.Context, t task) {
	out := r.guarded(ctx, t)
	r.mu.Lock()
	defer r.mu.Unlock()
	j, chat := t.job, t.need.chat
	delete(j.busy, chat)
	if next := r.leave(chat); next != "" && ctx.Err() == nil {
		r.wake(ctx, next)
	}
	j.rest(chat, t.reading.Row, out.wait)
	switch {
	case j.planning:
		j.again = true
	case len(j.busy) == 0 && (out.settled || ctx.Err() != nil):
		r.close(t.id, j, out.again)
	case ctx.Err() == nil:
		r.plan(ctx, t.id, j)
	}
}

// planned is the plan of an approval. One that cannot be made is tried again
// later, and keeps no other from its own.
func (r *Reconciler) planned(reading *store.Reading, p Present) (todo plan) {
	defer r.recovered(reading.ID, func() { todo = plan{next: afterPanic} })
	return planFor(reading, p, nil)
}

// guarded keeps a fault in drawing one card from ending the process.
func (r *Reconciler) guarded(ctx context.Context, t task) (out outcome) {
	defer r.recovered(t.id, func() { out = outcome{wait: afterPanic} })
	return r.perform(ctx, t)
}

// record writes down what Telegram took, as often as it takes while this process
// leads: what is not written down would be sent again. Where the approval needs nothing
// more then, it is settled in the same step.
func (r *Reconciler) record(ctx context.Context, t task, c *store.Card, rec store.Record, lease store.Lease) outcome {
	var out outcome
	var last bool
	out.again, last = r.last(t, c, rec, lease)
	out.wait = r.recorded(ctx, t.id, func(ctx context.Context) (kept bool, err error) {
		if !last {
			return r.cfg.Store.Record(ctx, rec, lease)
		}
		kept, out.settled, err = r.cfg.Store.RecordLast(ctx, rec, t.reading, out.again, lease)
		return kept, err
	})
	return out
}

// last reports whether an approval needs nothing more once a record is written, and
// when to look at it again then. What changed since it was read is for the store to
// see.
func (r *Reconciler) last(t task, c *store.Card, rec store.Record, lease store.Lease) (again time.Duration, ok bool) {
	defer r.recovered(t.id, func() { ok = false }) // it has yet to be recorded
	r.mu.Lock()
	alone := len(t.job.busy) == 1 && !t.job.planning
	r.mu.Unlock()
	if !alone || lease.Number != t.lease.Number || !t.reading.Row.Seal.Good() || t.reading.Strayed() {
		return 0, false
	}
	drawn := t.drawn
	if rec.What == store.TheCard || rec.What == store.AnEdit {
		drawn = maps.Clone(drawn)
		drawn[c.ID] = drawing{hash: rec.Drawn}
	}
	then := recordedIn(t.reading, c, rec)
	todo := planFor(then, t.present, drawn)
	return todo.next, len(todo.needs) == 0 && unreachable(then) == ""
}

// recordedIn is a reading with what is about to be recorded of a card.
func recordedIn(r *store.Reading, c *store.Card, rec store.Record) *store.Reading {
	next := *r
	next.Cards = slices.Clone(r.Cards)
	i := slices.IndexFunc(next.Cards, func(o store.Card) bool { return o.ID == c.ID })
	if i < 0 {
		i = len(next.Cards)
		next.Cards = append(next.Cards, *c)
	}
	switch card := &next.Cards[i]; {
	case rec.What == store.TheCard:
		card.Sent, card.Message, card.Drawn = true, rec.Message, rec.Drawn
	case rec.What == store.TheNotice:
		card.Notice = rec.Message
	case rec.What == store.TheReminder:
		card.Reminder = rec.Message
	case card.Message == rec.Message:
		card.Drawn = rec.Drawn
	default:
		card.Copies = maps.Clone(card.Copies)
		card.Copies[rec.Message] = rec.Drawn
	}
	return &next
}
