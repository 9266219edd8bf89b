package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"countersign/approval"
)

// A Guard is by what right an attempt decides. The script checks it.
type Guard string

// The guards.
const (
	ByStep      Guard = "step"        // Yes on the card: step, person, dwell, window
	ByWord      Guard = "asked"       // a typed yes: step, person, window
	ByTap       Guard = "tap"         // a halt's one tap
	ByOwner     Guard = "owner"       // a rejection
	ByOperator  Guard = "operator"    // the command line
	ByDeadline  Guard = "due"         // the sweeper
	ByRuntime   Guard = "runtime"     // a withdrawal, by the request's own stream
	Unreachable Guard = "unreachable" // every card failed for good
	BySeal      Guard = "seal"        // the row's seal does not hold: refused, whatever was attempted
)

// An Attempt is what somebody or something wants to answer.
type Attempt struct {
	Decision approval.Decision
	Guard    Guard
	By       approval.By
	Reason   string
	User     int64            // who, for the guards of a person
	Card     string           // the card tapped, for ByStep
	StepRev  int64            // the revision of the step that it confirms, for ByStep and ByWord
	Confirm  approval.Confirm // window and dwell
	Stream   string           // for ByRuntime
	// Counts reports whether an earlier voter is still an owner in the present
	// configuration; nil counts everybody.
	Counts func(user int64) bool
	Shown  *approval.Shown
	Quiet  []int64 // chats that a shared notice speaks to, for a lapse
	// Notices are the ids of those notices: with the lapse, each of them comes to
	// speak for this approval.
	Notices []string
	// Update is the update that it comes by, where nobody has asked yet whether that is
	// new and the reading is one from before it, taken for now by [Reading.AsOf]. One that was
	// handled is [Handled]. What changed since, or is a second off Redis's time, is [Changed].
	Update int64
}

// AsOf is the reading at a later time by Redis's clock, as far as nothing has changed
// since.
func (r *Reading) AsOf(now time.Time) *Reading {
	later := *r
	later.Now = now.Truncate(time.Millisecond).UTC()
	return &later
}

// attemptLimit bounds how often a transition begins again because the row
// changed under it. Each round somebody else made progress.
const attemptLimit = 100

// How far the time that an answer is made for may be from Redis's when it is written,
// where it was reckoned and not read. What was read may lie in the past: it was true.
const (
	reckonedWithin = time.Second
	anyTime        = 100 * 365 * 24 * time.Hour
)

// Decide answers an approval, or records a vote where more are needed. The
// reading may be stale: the script decides, and with any refusal the result
// holds the approval as it stands. Of an answered one it holds nothing: with [Done]
// and [Meddled] the reading is nil. With Unreachable it has to be the latest one:
// what changed since may be that it can be asked after all.
func (s *Store) Decide(ctx context.Context, r *Reading, a Attempt) (Status, *Reading, error) {
	for range attemptLimit {
		if r.Row == nil {
			return Unknown, r, nil
		}
		a := a
		switch {
		case !r.Row.Seal.Good():
			// Also one that somebody gave another state: if it was not answered, it is
			// now, and if it was, the script finds that.
			a = r.meddled()
		case a.Guard == BySeal:
			return Changed, r, nil // it holds by now
		}
		to, payload, voters, err := s.compose(r, a)
		if err != nil {
			return "", r, err
		}
		audit := approval.Audit{
			ID: r.ID, From: approval.Open, To: to, At: r.Now, BySurface: a.By.Surface, ByID: a.By.ID,
			Pin: r.Row.Pin, Terms: r.Row.Terms, ReasonCode: approval.ReasonCode(a.codedReason()),
		}
		quiet := ""
		if len(a.Quiet) > 0 {
			quiet = jsonText(a.Quiet)
		}
		k := s.keys
		args := []any{
			k.Prefix(), r.ID, r.rev, string(to), string(a.Guard), a.User, a.Card, a.StepRev,
			a.Confirm.Dwell.Milliseconds(), a.Confirm.Window.Milliseconds(), voters, payload,
			r.ID + "/answered", stamp(r.Now), auditText(audit), s.retention.Milliseconds(), quiet, a.Stream,
			strings.Join(a.Notices, ","), r.covered, s.known(), "", r.Now.UnixMilli(), anyTime.Milliseconds(),
		}
		if a.Update != 0 {
			args[21], args[23] = a.Update, reckonedWithin.Milliseconds()
		}
		if a.Guard == BySeal {
			args = append(args, s.alarms(r)...)
		}
		v, err := s.run(ctx, "decide",
			[]string{
				k.Row(r.ID), k.memory(r.ID), k.Deadlines(), k.reminders(), k.dirty(), k.wake(), k.audit(),
				k.Answers(), k.Answer(r.ID), k.signing(), k.updates(),
			},
			args...)
		if err != nil {
			return "", r, err
		}
		status, fresh, err := s.parseResult(v)
		if err != nil {
			return "", r, err
		}
		r = fresh
		switch {
		case status == Changed && a.Guard != Unreachable && a.Update == 0:
			continue
		case status == unsigned:
			return "", r, fmt.Errorf("store: answer %q: %w", r.ID, ErrNamespaceSigns)
		case status == strangeKey:
			return "", r, fmt.Errorf("store: answer %q: %w", r.ID, ErrStrangeKey)
		case status == Done && a.Guard == BySeal:
			return Meddled, r, nil
		case status == Done && to == approval.Open:
			return Voted, r, nil
		}
		return status, r, nil
	}
	return "", r, fmt.Errorf("store: %q changed %d times while it was answered", r.ID, attemptLimit)
}

// meddled is what becomes of any attempt on a row whose seal does not hold.
func (r *Reading) meddled() Attempt {
	return Attempt{
		Decision: approval.DecisionRefused, Guard: BySeal, Reason: r.Row.Seal.Refusal(),
		By: approval.By{Surface: approval.Intake, ID: "seal"},
	}
}

// codedReason is a reason of ours that begins with a code; an owner's words,
// whatever they begin with, are none.
func (a Attempt) codedReason() string {
	if a.Decision == approval.DecisionRefused {
		return a.Reason
	}
	return ""
}

// compose makes what the script is to write: the answer, or a vote.
func (s *Store) compose(r *Reading, a Attempt) (to approval.State, payload, voters string, err error) {
	approving := a.Decision == approval.DecisionApproved && a.Guard != ByOperator
	var approvals []approval.By
	if approving {
		var counted []string
		for _, v := range r.Votes {
			if v.User != a.User && (a.Counts == nil || a.Counts(v.User)) {
				counted = append(counted, strconv.FormatInt(v.User, 10))
				approvals = append(approvals, v.By)
			}
		}
		voters = strings.Join(counted, ",")
		if len(counted)+1 < r.Row.Quorum {
			vote := castVote{Vote: approval.Vote{By: a.By, User: a.User, At: r.Now}, Rev: r.Row.Rev}
			return approval.Open, jsonText(vote), voters, nil
		}
		if r.Row.Quorum > 1 {
			approvals = append(approvals, a.By)
		} else {
			approvals = nil
		}
	}
	answer := &approval.Answer{
		ID: r.ID, Decision: a.Decision, Reason: a.Reason,
		Observation: approval.Observation(a.Decision, r.Row.Title(), a.Reason),
		By:          a.By, Approvals: approvals, Shown: a.Shown, At: r.Now.Truncate(time.Millisecond),
	}
	if r.Row.Seal.Good() { // else it is somebody else's, and a no for whoever reads it
		answer.Terms, answer.Pin = r.Row.Terms, r.Row.Pin
	}
	if q := r.Row.Request; q != nil && r.Row.Seal.Good() {
		answer.Runtime, answer.RunID, answer.Calls, answer.Context = q.Runtime, q.RunID, q.Calls, q.Context
	}
	data, err := s.encode(answer)
	return approval.State(a.Decision), string(data), voters, err
}

// parseResult reads {status, reading}; the reading may be left out.
func (s *Store) parseResult(v any) (Status, *Reading, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 || len(list) > 2 {
		return "", nil, fmt.Errorf("store: unexpected result %T", v)
	}
	if len(list) == 1 {
		return Status(asString(list[0])), nil, nil
	}
	r, err := s.parseReading(list[1])
	return Status(asString(list[0])), r, err
}
