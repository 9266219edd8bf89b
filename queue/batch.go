package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/schemas"
	"countersign/store"
)

// Event types.
const (
	typeRequested = string(schemas.Requested)
	typeWithdrawn = string(schemas.Withdrawn)
	typeClaimed   = string(schemas.Claimed)
	typeReported  = string(schemas.Reported)
	typeAnswered  = string(schemas.Answered)
)

// Reasons of dead letters beside those of a rule broken, which begin with
// invalid: or too_large:.
const (
	deadType       = "unknown_type"
	deadOld        = "too_old"
	deadTerms      = "terms_differ"
	deadStream     = "wrong_stream"
	deadUnknown    = "unknown_approval"
	deadClaim      = "no_claim"
	deadUnapproved = "ran_unapproved"
	deadNoApproval = "not_approved"
	deadFailed     = "failed"
)

const (
	// effectTimeout bounds the handling of one entry, or of those that go abreast,
	// which goes on when the intake is told to stop.
	effectTimeout = 3 * time.Second
	// deliveryLimit is how often an entry that cannot be handled is tried.
	deliveryLimit = 3
)

// A job is one entry and what is to be done about it.
type job struct {
	entry   entry
	id      string                      // of the approval, where its effect is a row to open
	opening *store.Opening              // of a good request, else nil
	open    func() *attempt             // its effect, where that is a row to open
	do      func(context.Context) error // its effect otherwise; both are nil only for a lost entry
}

// take handles a batch in two passes: first every entry is read, so that the
// requests that lapse at once can share a notice, and then each has its effect,
// in order. Entries with their effect in Redis are settled, also where a later one
// failed. now is Redis's clock, told with the batch.
func (r *reader) take(ctx context.Context, entries []entry, now time.Time) error {
	if len(entries) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	jobs := make([]*job, len(entries))
	for i, e := range entries {
		jobs[i] = r.plan(e, now)
	}
	if err := r.shareLapses(ctx, jobs, now); err != nil {
		return err
	}
	for len(jobs) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := abreast(jobs)
		if err := r.handleAll(ctx, jobs[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// abreast is how many jobs, from the first on, may have their effect at the same
// time: openings of different approvals, since which of them opens first makes no
// difference to anybody.
func abreast(jobs []*job) int {
	seen := make(map[string]bool, len(jobs))
	for i, j := range jobs {
		if j.open == nil || seen[j.id] {
			return max(i, 1)
		}
		seen[j.id] = true
	}
	return len(jobs)
}

// handleAll lets jobs that may go abreast have their effect, which goes on when the
// intake is told to stop.
func (r *reader) handleAll(ctx context.Context, jobs []*job) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), effectTimeout)
	defer cancel()
	if jobs[0].open != nil {
		return r.openAll(ctx, jobs)
	}
	return r.handle(ctx, jobs[0])
}

// shareLapses finds what shares a notice. Where that panics each has its own: one
// entry must not hold up the others.
func (r *reader) shareLapses(ctx context.Context, jobs []*job, now time.Time) error {
	err := recovered(func() error { return r.in.shareLapses(ctx, jobs, now) })
	if fault := (*panicked)(nil); errors.As(err, &fault) {
		r.in.fault(err).Str("stream", r.stream.Key).Msg("lapses share no notice")
		return nil
	}
	return err
}

// handle lets one job have its effect.
func (r *reader) handle(ctx context.Context, j *job) error {
	if j.do == nil {
		r.lost(j.entry.id)
		return r.settle(ctx, j, nil)
	}
	return r.settle(ctx, j, recovered(func() error { return j.do(ctx) }))
}

// settle has an entry acknowledged whose effect is in Redis. One that is itself to
// blame for a failure is left pending, to be taken over and tried again, or set aside.
func (r *reader) settle(ctx context.Context, j *job, err error) error {
	settled := err == nil
	switch {
	case settled:
	case isOwnFault(err):
		settled, err = r.failed(ctx, j.entry, err)
	default:
		err = fmt.Errorf("queue: entry %s of %s: %w", j.entry.id, r.stream.Key, err)
	}
	if settled {
		r.settled = append(r.settled, j.entry.id)
	}
	return err
}

// failed leaves an entry that could not be handled for another try, or sets it
// aside after the last.
func (r *reader) failed(ctx context.Context, e entry, fault error) (settled bool, err error) {
	r.in.cfg.Count(EventFailed, "")
	event := r.in.noise.failed.Error().Err(fault).Str("stream", r.stream.Key).Str("entry", e.id)
	var p *panicked
	if errors.As(fault, &p) {
		event = event.Bytes("stack", p.stack)
	}
	event.Msg("an event could not be handled")
	deliveries, err := r.deliveries(ctx, e.id)
	if err != nil || deliveries < deliveryLimit {
		return false, err
	}
	return true, r.dead(ctx, e, deadFailed+": "+fault.Error())
}

// plan reads an entry. A panic here is one of its effect.
func (r *reader) plan(e entry, now time.Time) *job {
	j := &job{entry: e}
	if e.lost() {
		return j
	}
	err := recovered(func() error {
		r.planEntry(j, now)
		return nil
	})
	if err != nil {
		j.do = func(context.Context) error { return err }
	}
	return j
}

// planEntry reads what every event has, and passes it on by its type.
func (r *reader) planEntry(j *job, now time.Time) {
	kind, rule := j.entry.attribute("type")
	if rule != "" {
		r.setAside(j, "invalid: type: "+rule)
		return
	}
	if j.entry.time().Before(now.Add(-r.in.cfg.Retention)) {
		r.setAside(j, deadOld)
		return
	}
	var plan func(*job, *approval.Data, time.Time)
	switch kind {
	case typeRequested:
		plan = r.planRequest
	case typeWithdrawn:
		plan = r.planWithdrawal
	case typeClaimed:
		plan = r.planClaim
	case typeReported:
		plan = r.planReport
	default:
		r.setAside(j, deadType)
		return
	}
	data, rule := j.entry.attribute("data")
	if rule != "" {
		r.setAside(j, "invalid: data: "+rule)
		return
	}
	plan(j, approval.ReadData([]byte(data)), now)
}

// setAside makes a job of a dead letter.
func (r *reader) setAside(j *job, reason string) {
	j.do = func(ctx context.Context) error { return r.dead(ctx, j.entry, reason) }
}

// dead sets an entry aside, and acknowledges it in the same step.
func (r *reader) dead(ctx context.Context, e entry, reason string) error {
	if err := r.in.cfg.Store.Dead(ctx, r.stream.Key, r.group, e.id, reason, e.asMap()); err != nil {
		return err
	}
	code, _, _ := strings.Cut(reason, ":")
	r.in.cfg.Count(EventDead, code)
	log := r.in.noise.dead.Warn()
	if reason == deadTerms {
		log = r.in.noise.differ.Warn()
	}
	log.Str("stream", r.stream.Key).Str("entry", e.id).Str("reason", reason).Msg("an event was set aside")
	return nil
}

// deliveries is how often Redis has handed an entry out.
func (r *reader) deliveries(ctx context.Context, id string) (int64, error) {
	pending, err := r.in.cfg.Redis.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: r.stream.Key, Group: r.group, Start: id, End: id, Count: 1,
	}).Result()
	if err != nil {
		return 0, fmt.Errorf("queue: deliveries of %s: %w", id, err)
	}
	if len(pending) == 0 {
		return 0, nil
	}
	return pending[0].RetryCount, nil
}

// recovered calls f and makes an error of a panic in it.
func recovered(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return f()
}
