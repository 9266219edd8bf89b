package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"countersign/approval"
)

// A Ledger is what a runtime remembers of its own side effects, so that it does
// not repeat them: notes that are written once and kept. It belongs to the
// runtime and must outlive its process. It must be safe for concurrent use.
type Ledger interface {
	// Read returns a note; ok is false where there is none.
	Read(ctx context.Context, id string, step Step) (note string, ok bool, err error)
	// Add writes a note, durably. Of any number of writers one gets true; where
	// the note is there already, it is left as it is, and the answer is false.
	Add(ctx context.Context, id string, step Step, note string) (bool, error)
}

// A Step names one of the notes on an approval.
type Step string

// The steps, in their order.
const (
	StepAsked    Step = "asked"
	StepStarted  Step = "started"
	StepUnsure   Step = "unsure" // reported as broken off; what follows may still come
	StepDone     Step = "done"
	StepReported Step = "reported"
)

// Errors of [Once.Run], beside those of [Client].
var (
	// ErrUnsure: the call was started and not finished, here or elsewhere.
	// Whether it took effect is not known, and it is not run again.
	ErrUnsure = errors.New("this was started and then broken off: whether it took effect is not known, so it is not run again")
	// ErrUnreported: the call ran, and its report could not be sent. It is sent
	// when the call is asked again.
	ErrUnreported = errors.New("the call ran, but was not reported")
)

// Declined is the error where the answer was a no: nothing was run.
type Declined struct{ Answer Answer }

// Error is the observation, one plain sentence for the model.
func (e *Declined) Error() string { return e.Answer.Observation }

// Once runs calls that an owner approved, each at most once.
//
// [Once.Run] asks, waits, claims, runs and reports. What prevents the question,
// the answer or the claim is an error, and then nothing was run.
//
// Asking again with the same id goes on where it was, also in another process: a
// call that was approved but not started runs, one that ran gives its report,
// and nothing runs twice. What no ledger can know is whether a call that was
// started and not finished took effect: it is not run again, the error is
// [ErrUnsure], and it is reported as partly done. So it is with a call that is
// still running elsewhere. To find out, ask the system that the call changes;
// best is a call that is given the approval's id as its idempotency key.
//
// It is safe for concurrent use.
type Once struct {
	Client *Client
	Ledger Ledger
	By     string // who claims, at most 150 bytes, such as the host's name
}

// Run runs the call of one request, or its calls in their order, after they were
// approved. The calls that run is given are those that were asked; what it
// reports needs no id, and no outcome where that is executed. An error of run is
// reported as failed, and returned beside the report. Where the call had run
// before, run is not called, and its report is returned.
func (o Once) Run(ctx context.Context, a Ask, run func(context.Context, []approval.Call) (approval.Report, error)) (approval.Report, error) {
	r, err := a.Request()
	if err != nil {
		return approval.Report{}, err
	}
	q, err := approval.Decode(r.Data)
	if err != nil {
		return approval.Report{}, fmt.Errorf("queue: request: %w", err)
	}
	p, started, err := o.pending(ctx, r)
	if err != nil || started {
		return o.settled(ctx, a.ID, err)
	}
	answer, err := o.Client.Await(ctx, p)
	if err != nil {
		return approval.Report{}, err
	}
	if answer.Decision != approval.DecisionApproved {
		return approval.Report{}, &Declined{Answer: answer}
	}
	if err := o.claim(ctx, p); err != nil {
		return approval.Report{}, err
	}
	first, err := o.Ledger.Add(ctx, a.ID, StepStarted, "")
	if err != nil || !first {
		return o.settled(ctx, a.ID, err)
	}
	report, failure := run(ctx, q.Calls)
	return o.finish(ctx, a.ID, report, failure)
}

// pending finds what was asked before, or asks.
func (o Once) pending(ctx context.Context, r Request) (p Pending, started bool, err error) {
	q, err := approval.Decode(r.Data)
	if err != nil {
		return p, false, fmt.Errorf("queue: request: %w", err)
	}
	note, ok, err := o.Ledger.Read(ctx, q.ID, StepAsked)
	if err == nil && !ok {
		if p, err = o.Client.Request(ctx, r); err != nil {
			return p, false, err
		}
		kept, err := json.Marshal(p)
		if err != nil {
			return p, false, fmt.Errorf("queue: keep %q: %w", q.ID, err)
		}
		if ok, err = o.Ledger.Add(ctx, q.ID, StepAsked, string(kept)); err != nil || ok {
			return p, false, err
		}
		note, _, err = o.Ledger.Read(ctx, q.ID, StepAsked) // another process was faster
		if err != nil {
			return p, false, err
		}
	}
	if err != nil {
		return p, false, err
	}
	if err := json.Unmarshal([]byte(note), &p); err != nil {
		return p, false, fmt.Errorf("queue: ledger of %q: %w", q.ID, err)
	}
	if p.Terms != approval.TermsOrRaw(r.Data) {
		return p, false, fmt.Errorf("queue: %q was asked before: %w", q.ID, ErrTaken)
	}
	_, started, err = o.Ledger.Read(ctx, q.ID, StepStarted)
	return p, started, err
}

// claim claims the call, or finds that it was this very request that has claimed
// it. The entry's id is nobody else's, so a claim in that name by a process that
// died, or whose reply was lost, is known again. Only the ledger says that it
// was not started.
func (o Once) claim(ctx context.Context, p Pending) error {
	err := o.Client.Claim(ctx, p.ID, p.Pin, o.By+" "+p.Entry, p.Stream)
	var refused *ClaimRefused
	if !errors.As(err, &refused) || refused.Status != ClaimTaken {
		return err
	}
	by, lookup := o.Client.claimant(ctx, p.ID)
	if lookup != nil {
		return errors.Join(err, lookup)
	}
	if by[strings.LastIndexByte(by, ' ')+1:] != p.Entry {
		return err
	}
	return nil
}

// A doneNote is the note that a call ran.
type doneNote struct {
	Report approval.Report `json:"report"`
	Error  string          `json:"error,omitempty"` // what it returned
}

// settled tells of a call that was started before.
func (o Once) settled(ctx context.Context, id string, err error) (approval.Report, error) {
	if err != nil {
		return approval.Report{}, err
	}
	done, ok, err := o.done(ctx, id)
	if err != nil {
		return approval.Report{}, err
	}
	if !ok {
		unsure := approval.Report{ID: id, Outcome: approval.Partial, Message: ErrUnsure.Error()}
		failure := o.report(ctx, unsure, StepUnsure)
		if done, ok, err = o.done(ctx, id); err != nil || !ok {
			return unsure, errors.Join(fmt.Errorf("queue: %q: %w", id, ErrUnsure), failure, err)
		}
		// It was still running, and its own report may have gone before the other
		// one: it is said again, since the last one counts.
		err = o.send(ctx, done.Report)
	}
	err = errors.Join(err, o.report(ctx, done.Report, StepReported))
	if done.Error != "" {
		err = errors.Join(errors.New(done.Error), err)
	}
	return done.Report, err
}

// done reads the note that a call ran.
func (o Once) done(ctx context.Context, id string) (done doneNote, ok bool, err error) {
	text, ok, err := o.Ledger.Read(ctx, id, StepDone)
	if err != nil || !ok {
		return done, false, err
	}
	if err := json.Unmarshal([]byte(text), &done); err != nil {
		return done, false, fmt.Errorf("queue: ledger of %q: %w", id, err)
	}
	return done, true, nil
}

// finish keeps what a call came to, and reports it.
func (o Once) finish(ctx context.Context, id string, report approval.Report, failure error) (approval.Report, error) {
	report.ID = id
	done := doneNote{}
	switch {
	case failure != nil:
		done.Error = failure.Error()
		report.Outcome = approval.Failed
		if report.Message == "" {
			report.Message = shortened(done.Error)
		}
	case report.Outcome == "":
		report.Outcome = approval.Executed
	}
	done.Report = report
	text, err := json.Marshal(done)
	if err == nil {
		// The call ran: that is kept and told even if the caller gave up meanwhile.
		ctx = context.WithoutCancel(ctx)
		_, err = o.Ledger.Add(ctx, id, StepDone, string(text))
	}
	if err == nil {
		err = o.report(ctx, report, StepReported)
	}
	return report, errors.Join(failure, err)
}

// report reports once, and keeps that under a step.
func (o Once) report(ctx context.Context, r approval.Report, step Step) error {
	if _, ok, err := o.Ledger.Read(ctx, r.ID, step); err != nil || ok {
		return err
	}
	if err := o.send(ctx, r); err != nil {
		return err
	}
	_, err := o.Ledger.Add(ctx, r.ID, step, "")
	return err
}

func (o Once) send(ctx context.Context, r approval.Report) error {
	if err := o.Client.Report(ctx, r); err != nil {
		return errors.Join(ErrUnreported, err)
	}
	return nil
}

// shortened cuts a message to what a report may hold.
func shortened(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if r := []rune(s); len(r) > approval.MaxText {
		return string(r[:approval.MaxText])
	}
	return s
}

// claimant is who has claimed an approval, "" if nobody has.
func (c *Client) claimant(ctx context.Context, id string) (string, error) {
	v, err := c.rdb.HMGet(ctx, c.keys.Claim(id), "by").Result()
	if err != nil {
		return "", fmt.Errorf("queue: who claimed %q: %w", id, err)
	}
	by, _ := v[0].(string)
	return by, nil
}
