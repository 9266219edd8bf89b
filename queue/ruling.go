package queue

import (
	"context"
	"slices"

	"countersign/approval"
	"countersign/store"
)

// A Policy rules on a request by the operator's policies as they are now. It must
// be safe for concurrent use.
type Policy func(q *approval.Request) Ruling

// A Ruling is what the operator's policies say of a request.
type Ruling struct {
	Pass   bool   // it may pass unasked
	Tier   string // the derived risk word, for routes; "" of a halt
	Shown  string // that word as cards show it
	Reason string // why it passes or asks: a stable code
	Detail string // the same in plain words, of a pass
	Policy string // which policy lets it pass
	Hidden bool   // a pass gets no card
}

// rule asks the policy. Where it cannot be had, the request is asked, as one of
// which nothing is known.
func (r *reader) rule(q *approval.Request) (ruling Ruling) {
	if r.in.cfg.Policy == nil {
		return Ruling{}
	}
	if err := recovered(func() error { ruling = r.in.cfg.Policy(q); return nil }); err != nil {
		r.in.noise.failed.Error().Err(err).Str("approval", q.ID).Msg("the policies could not be applied; the request is asked")
		return Ruling{Tier: "destroy", Shown: "unvetted"}
	}
	// What always asks does so here too, whatever a policy may think.
	if ruling.Pass && (q.Kind != approval.ToolCall || q.Effect != approval.Write || ruling.Policy == "" || ruling.Reason == "") {
		return Ruling{Tier: ruling.Tier, Shown: ruling.Shown}
	}
	return ruling
}

// pass writes a row that the policy approves, with its answer, in one step. A
// request that was taken before keeps the fate it has. Where it was withdrawn
// before it came, or is too late, nothing passes: it goes the way of one that is
// asked, which ends in the same place.
func (r *reader) pass(e entry, asked store.Opening, ruling Ruling) *attempt {
	o := asked
	o.State, o.By = approval.Approved, approval.By{Surface: approval.Policy, ID: ruling.Policy}
	o.Reason = approval.Refusal(ruling.Reason, ruling.Detail)
	if o.Quiet = nil; ruling.Hidden {
		for _, c := range o.Chats {
			if !slices.Contains(o.Quiet, c.ID) {
				o.Quiet = append(o.Quiet, c.ID)
			}
		}
	}
	return &attempt{o, func(_ context.Context, status store.OpenStatus, _ string) (*attempt, error) {
		if status == store.Opened {
			r.in.cfg.Count(openedAs(o.State), "")
			r.in.cfg.Ruled(ruling)
			return nil, nil
		}
		return r.open(e, asked, ruling), nil
	}}
}
