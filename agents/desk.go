package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"countersign/approval"
	"countersign/queue"
)

// A Verdict is what became of a call that was asked.
type Verdict string

// What can become of a call.
const (
	Allowed    Verdict = "allowed"    // approved and claimed: it may run, once
	Declined   Verdict = "declined"   // a person said no
	Unanswered Verdict = "unanswered" // neither: it must not run on our word
)

// A Result is a verdict and why, in a sentence for the model.
type Result struct {
	Verdict  Verdict
	Reason   string
	Approval string            // the id, "" where none was made
	Decision approval.Decision // the answer's, "" where there was none
	By       string            // who answered, as cards name them
}

// Bounds of what is done beside waiting for an owner.
const (
	// Grace is how long after the deadline an answer is still waited for: a lapse
	// is an answer too, and comes with the bot's next sweep.
	Grace = 15 * time.Second
	// tidyWithin bounds a withdrawal or a report after the wait has ended.
	tidyWithin = 3 * time.Second
)

// A Desk asks owners. It is safe for concurrent use.
type Desk struct {
	Client  *queue.Client // one with a stream of its own, or a request that was not read yet could not be withdrawn
	Runtime string        // who asks, as routes and policies match it
	By      string        // who claims: a host and a process, say
	Stream  string        // by which it asks
	Within  time.Duration // how long an owner has to answer
	Read    ReadFile      // nil: files are not looked at
	Prefix  string        // of every approval's id, where the stream takes no other
	// NewID names an approval whose call has no name.
	NewID func() (string, error)
}

// AskCall asks about one call of an agent, and claims it. It returns within
// Within and [Grace] and a few seconds.
func (d *Desk) AskCall(ctx context.Context, c Call) Result {
	ask, err := Describe(c, d.Read)
	if err != nil {
		return unanswered("", err)
	}
	ask.ID = d.id(c)
	return d.Ask(ctx, ask)
}

// id names the approval of a call, "" where the call has no name.
func (d *Desk) id(c Call) string {
	if id := c.approvalID(d.Runtime); id != "" {
		return d.Prefix + id
	}
	return ""
}

// Ask asks what a desk's owner is to approve, and claims it. Runtime and deadline
// are the desk's, and so is the id where there is none. The end of ctx, a time-out
// or a failure withdraws what was asked.
func (d *Desk) Ask(ctx context.Context, ask queue.Ask) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res = unanswered(ask.ID, fmt.Errorf("a fault of this program: %v", p))
		}
	}()
	ask.Runtime = d.Runtime
	if ask.ExpiresIn == 0 {
		ask.ExpiresIn = d.Within.Seconds()
	}
	if ask.ID == "" {
		id, err := d.NewID()
		if err != nil {
			return unanswered("", err)
		}
		ask.ID = d.Prefix + id
	}
	waiting, stop := context.WithTimeoutCause(ctx, time.Duration(ask.ExpiresIn*float64(time.Second))+Grace, errTooLong)
	defer stop()
	pending, answer, err := d.answer(waiting, ask)
	if err != nil {
		return unanswered(ask.ID, err)
	}
	res = Result{Approval: ask.ID, Reason: answer.Observation, Decision: answer.Decision, By: answer.By.Name}
	switch answer.Decision {
	case approval.DecisionApproved:
		return d.claim(ctx, pending, res)
	case approval.DecisionRejected:
		res.Verdict = Declined
	default:
		res.Verdict = Unanswered
	}
	return res
}

// errTooLong is why a wait ends by itself.
var errTooLong = errors.New("no answer came in time, not even that it lapsed")

// answer publishes a request and waits for its answer. Where that fails after the
// request may have been published, it is withdrawn, unless it is another's.
func (d *Desk) answer(ctx context.Context, ask queue.Ask) (queue.Pending, queue.Answer, error) {
	var answer queue.Answer
	request, err := ask.Request()
	if err != nil {
		return queue.Pending{}, answer, err
	}
	request.Stream = d.Stream
	published := false
	defer func() {
		if published && answer.Decision == "" { // also in a panic
			d.withdraw(ctx, ask.ID)
		}
	}()
	pending, err := d.Client.Request(ctx, request)
	published = pending.ID != ""
	if err != nil {
		return pending, answer, err
	}
	answer, err = d.await(ctx, pending)
	if errors.Is(err, queue.ErrNotMine) {
		published = false // what stands under the id is not ours to withdraw
	}
	return pending, answer, err
}

// await waits for an answer, and returns at once when ctx ends: whoever stops us may
// not wait until a blocking read comes back.
func (d *Desk) await(ctx context.Context, p queue.Pending) (queue.Answer, error) {
	type outcome struct {
		answer queue.Answer
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: errors.New("a fault of this program while it waited")}
		defer func() {
			_ = recover() // err says so
			done <- out
		}()
		out.answer, out.err = d.Client.Await(ctx, p)
	}()
	select {
	case out := <-done:
		return out.answer, out.err
	case <-ctx.Done():
		return queue.Answer{}, context.Cause(ctx)
	}
}

// withdraw takes a request back as well as it can be: its deadline does the rest.
func (d *Desk) withdraw(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyWithin)
	defer cancel()
	_ = d.Client.Withdraw(ctx, id, "nobody waits for the answer any more")
}

// claim claims an approved call. A claim of which it is not known whether it was
// made is none, and is reported as not run.
func (d *Desk) claim(ctx context.Context, p queue.Pending, res Result) Result {
	err := d.Client.Claim(ctx, p.ID, p.Pin, d.By, p.Stream)
	if err == nil {
		res.Verdict = Allowed
		return res
	}
	if refused, ok := errors.AsType[*queue.ClaimRefused](err); ok && refused.Status == queue.ClaimTaken {
		err = fmt.Errorf("this was approved and taken before; ask again as a new call: %w", err)
	} else {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyWithin)
		defer cancel()
		_ = d.Client.Report(ctx, approval.Report{
			ID: p.ID, Outcome: approval.Failed, Message: "It was not run: it could not be claimed.",
		})
	}
	res.Verdict, res.Reason = Unanswered, "approved, but not to be run: "+err.Error()
	return res
}

// unanswered is the result of what failed.
func unanswered(id string, err error) Result {
	return Result{Verdict: Unanswered, Approval: id, Reason: "there is no approval: " + err.Error() + "; nothing was run"}
}
