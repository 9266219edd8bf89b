package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"countersign/approval"
	"countersign/schemas"
	"countersign/store"
)

// tooShort is the time to its deadline below which a request lapses at once.
const tooShort = time.Second

// planRequest reads an approval.requested: a row to open or to refuse, or a
// dead letter where no usable id could be read.
func (r *reader) planRequest(j *job, data *approval.Data, now time.Time) {
	q, err := data.Request()
	if err == nil {
		err = r.in.conforms(schemas.Requested, q.ID, data)
	}
	if err == nil {
		err = r.admits(&q)
	}
	var deadline time.Time
	if err == nil {
		deadline, err = approval.Deadline(&q, j.entry.time(), now, r.in.cfg.Durations())
	}
	if err != nil {
		var rule *approval.Invalid
		if !errors.As(err, &rule) || rule.ID == "" {
			r.setAside(j, err.Error())
			return
		}
		r.refuse(j, &q, data, now, err.Error())
		return
	}
	ruling := r.rule(&q)
	route := r.in.cfg.Router().Route(&q, ruling.Tier)
	if len(route.Chats) == 0 {
		r.refuse(j, &q, data, now, approval.Refusal(approval.CodeUnroutable, "its route has no chats"))
		return
	}
	terms, err := data.Terms()
	if err != nil {
		panic("unreachable unless bug in approval: " + err.Error()) // decoded above
	}
	pin, err := approval.PinOf(q.Calls)
	if err != nil {
		panic("unreachable unless bug in approval: " + err.Error())
	}
	o := &store.Opening{
		ID: q.ID, Stream: r.stream.Key, Raw: data.Raw(), Ask: &q, Terms: terms, Pin: pin, Now: now,
		ExpiresAt: deadline, Owners: route.Owners, Quorum: route.Quorum, Chats: route.Chats,
		State: approval.Open, Tier: ruling.Shown, Code: ruling.Reason,
	}
	if remind := r.in.cfg.Remind(); remind > 0 && deadline.Sub(now) >= 2*remind {
		o.RemindAt = deadline.Add(-remind)
	}
	j.id, j.opening = o.ID, o
	j.open = func() *attempt {
		if ruling.Pass {
			return r.pass(j.entry, *o, ruling)
		}
		return r.open(j.entry, *o, ruling)
	}
}

// admits checks what the stream lets through.
func (r *reader) admits(q *approval.Request) error {
	if glob := r.stream.IDs; glob != "" && !r.in.cfg.Glob(glob, q.ID) {
		return &approval.Invalid{
			ID: q.ID, Code: approval.CodeInvalid, Field: "approval_id", Rule: "must fit " + glob + " on this stream",
		}
	}
	if len(r.stream.Runtimes) == 0 {
		return nil
	}
	for _, glob := range r.stream.Runtimes {
		if r.in.cfg.Glob(glob, q.Runtime) {
			return nil
		}
	}
	return &approval.Invalid{
		ID: q.ID, Code: approval.CodeInvalid, Field: "runtime", Rule: "not one that may ask on this stream",
	}
}

// refuse makes a job of a refused row. The answer repeats what could be read;
// where terms cannot be computed nobody could compare them, and nothing is
// repeated.
func (r *reader) refuse(j *job, q *approval.Request, data *approval.Data, now time.Time, reason string) {
	o := store.Opening{
		ID: q.ID, Stream: r.stream.Key, Raw: data.Raw(), Now: now, ExpiresAt: now,
		State: approval.Refused, Reason: reason,
		By: approval.By{Surface: approval.Intake, ID: r.stream.Key},
	}
	if terms, err := data.Terms(); err != nil {
		o.Terms = approval.RawDigest(data.Raw())
	} else {
		o.Terms, o.Ask = terms, q
		if q.Card.Title == "" {
			q.Card.Title = q.ID // the observation needs a name for it
		}
		if q.Calls != nil {
			if pin, err := approval.PinOf(q.Calls); err == nil {
				o.Pin = pin
			}
		}
	}
	j.id = o.ID
	j.open = func() *attempt { return r.open(j.entry, o, Ruling{}) }
}

// open writes a row. Where the request was withdrawn before it came, or its
// deadline has passed, the row opens with that answer.
func (r *reader) open(e entry, o store.Opening, ruling Ruling) *attempt {
	return &attempt{o, func(ctx context.Context, status store.OpenStatus, detail string) (*attempt, error) {
		switch status {
		case store.Opened:
			r.in.cfg.Count(openedAs(o.State), "")
			if o.State == approval.Open {
				r.in.cfg.Ruled(ruling)
			}
			return nil, nil
		case store.Same, store.RefusedBefore:
			r.in.cfg.Count(EventRepeated, "")
			return nil, nil
		case store.Differs:
			return nil, r.dead(ctx, e, deadTerms)
		case store.WithdrawnSoon:
			o.State, o.Reason, o.Quiet = approval.Withdrawn, detail, nil
			o.By = byRuntime(o.Ask, o.Stream)
			return r.open(e, o, ruling), nil
		case store.TooLate:
			o.State = approval.Lapsed
			o.By = approval.By{Surface: approval.Sweeper, ID: string(approval.Sweeper)}
			return r.open(e, o, ruling), nil
		}
		return nil, fmt.Errorf("queue: unknown outcome %q of opening %q", status, o.ID)
	}}
}

func openedAs(s approval.State) string {
	switch s {
	case approval.Refused:
		return EventRefused
	case approval.Lapsed:
		return EventLapsed
	case approval.Withdrawn:
		return EventWithdrawn
	case approval.Approved:
		return EventPassed
	}
	return EventOpened
}

// byRuntime names a runtime, or the stream of one that gave no name.
func byRuntime(q *approval.Request, stream string) approval.By {
	by := approval.By{Surface: approval.Runtime, ID: stream}
	if q != nil && q.Runtime != "" {
		by.ID, by.Name = q.Runtime, q.Runtime
	}
	return by
}
