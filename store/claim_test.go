package store_test

import (
	"fmt"
	"sync/atomic"

	"countersign/approval"
	"countersign/store"
)

// claim is what a runtime writes; fields override the good ones.
func (e *env) claim(id string, fields ...any) {
	e.Helper()
	good := []any{"by", "worker-1", "at", "1000", "pin", e.field(e.keys.Row(id), "pin")}
	e.ok(e.rdb.HSet(e.ctx, e.keys.Claim(id), append(good, fields...)...).Err())
}

// claimed takes a claim's event; whatever is not Done must change nothing.
func (e *env) claimed(id, stream string, want store.Status) {
	e.Helper()
	take := func() {
		status, err := e.store.Claimed(e.ctx, approval.ClaimEvent{ID: id, Pin: "sha256:forged", By: "worker-1"}, stream, e.now())
		e.ok(err)
		same(e, "status", status, want)
	}
	if want == store.Done {
		e.marked(id, take)
	} else {
		e.unchanged(take)
	}
}

// everAnswered brings approvals into every state that is not open, by its name.
func (e *env) everAnswered() map[approval.State]string {
	e.Helper()
	ids := map[approval.State]string{}
	open := func(s approval.State) *store.Reading {
		ids[s] = string(s)
		return e.open(string(s))
	}
	e.decides(open(approval.Approved), byOperator(approval.DecisionApproved), store.Done)
	e.decides(open(approval.Rejected), reject(ann), store.Done)
	e.decides(open(approval.Withdrawn), e.withdraw(), store.Done)
	e.decides(open(approval.Refused), unreachable(), store.Done)
	e.decides(open(approval.Claimed), byOperator(approval.DecisionApproved), store.Done)
	e.claim(string(approval.Claimed))
	e.claimed(string(approval.Claimed), e.keys.Requests(), store.Done)
	for _, s := range []approval.State{approval.Executed, approval.Failed, approval.Partial, approval.Undone} {
		e.decides(open(s), byOperator(approval.DecisionApproved), store.Done)
		e.reported(string(s), s, 100, store.Done)
	}
	o := answeredAtOnce(e.opening("lapsed"), approval.Lapsed, approval.Sweeper, "")
	e.opens(o, store.Opened)
	ids[approval.Lapsed] = "lapsed"
	return ids
}

func claimChecks() []check {
	return []check{
		{"claimed", "an approval becomes claimed by a claim with its pin", func(e *env) {
			r := e.approved("a1")
			e.claim("a1")
			e.advance(hour)
			e.claimed("a1", e.keys.Requests(), store.Done)
			after := e.read("a1")
			same(e, "state", after.Row.State, approval.Claimed)
			same(e, "revision", after.Row.Rev, r.Row.Rev+1)
			same(e, "by", after.Row.Claim.By, "worker-1")
			same(e, "at", e.field(e.keys.Row("a1"), "claimed_at"), e.field(e.keys.Claim("a1"), "at"))
			e.audited("a1 approved>claimed runtime/worker-1")
			same(e, "audited pin", e.audits()[2].Pin, r.Row.Pin)
			e.together("a1", 0)
		}},
		{"claimed", "without a claim, or with another pin, nothing is claimed", func(e *env) {
			e.approved("a1")
			e.claimed("a1", e.keys.Requests(), store.NoClaim)
			e.claim("a1", "pin", "sha256:other")
			e.claimed("a1", e.keys.Requests(), store.NoClaim)
			e.ok(e.rdb.HDel(e.ctx, e.keys.Claim("a1"), "pin").Err())
			e.claimed("a1", e.keys.Requests(), store.NoClaim)
		}},
		{"claimed", "a claim is taken only from the stream of its request", func(e *env) {
			e.approved("a1")
			e.claim("a1")
			e.claimed("a1", "elsewhere", store.WrongStream)
		}},
		{"claimed", "a claim of what was never seen is unknown", func(e *env) {
			e.claimed("never", e.keys.Requests(), store.Unknown)
		}},
		{"claimed", "a claim counts only for what was approved, and once", func(e *env) {
			ids := e.everAnswered()
			e.open("open")
			ids[approval.Open] = "open"
			for state, id := range ids {
				e.claim(id)
				switch {
				case state == approval.Approved:
					e.claimed(id, e.keys.Requests(), store.Done)
					e.claimed(id, e.keys.Requests(), store.Past)
				case state.WasApproved():
					e.claimed(id, e.keys.Requests(), store.Past)
				default:
					e.claimed(id, e.keys.Requests(), store.NoClaim)
				}
			}
			same(e, "states tried", len(ids), 11)
		}},
		{"claimed", "a claim without who and when is dated now", func(e *env) {
			e.approved("a1")
			e.claim("a1")
			e.ok(e.rdb.HDel(e.ctx, e.keys.Claim("a1"), "by", "at").Err())
			e.claimed("a1", e.keys.Requests(), store.Done)
			r := e.read("a1")
			e.at("claim", r.Row.Claim.At, e.now())
			same(e, "by", r.Row.Claim.By, "")
		}},
	}
}

func alarmChecks() []check {
	var entries atomic.Int64
	alarmAgain := func(e *env, id, runtime, entry string, want bool) {
		e.Helper()
		told, err := e.store.Alarm(e.ctx, id, runtime, entry)
		e.ok(err)
		same(e, fmt.Sprintf("alarm of %s by %s", id, runtime), told, want)
	}
	alarm := func(e *env, id, runtime string, want bool) {
		e.Helper()
		alarmAgain(e, id, runtime, fmt.Sprintf("%d-0", entries.Add(1)), want)
	}
	return []check{
		{"alarm", "the entry that was told is told again, another is not", func(e *env) {
			alarmAgain(e, "a1", "iris", "7-0", true)
			alarmAgain(e, "a1", "iris", "7-0", true)
			alarmAgain(e, "a1", "iris", "8-0", false)
			alarmAgain(e, "a2", "iris", "9-0", false)
			alarmAgain(e, "a2", "iris", "9-0", false)
			e.advance(alarmQuiet)
			alarmAgain(e, "a2", "iris", "9-0", false)
			e.livesFor(e.keys.Alarmed("a2"), 30*24*hour-alarmQuiet)
		}},
		{"alarm", "an approval alarms once", func(e *env) {
			alarm(e, "a1", "iris", true)
			e.advance(hour)
			alarm(e, "a1", "iris", false)
			alarm(e, "a1", "otto", false)
			e.livesFor(e.keys.Alarmed("a1"), 30*24*hour-hour)
		}},
		{"alarm", "a runtime alarms at most once in ten minutes", func(e *env) {
			alarm(e, "a1", "iris", true)
			alarm(e, "a2", "iris", false)
			alarm(e, "a3", "otto", true)
			e.livesFor(e.keys.Alarms(), alarmQuiet)
			e.advance(alarmQuiet - e.tick())
			alarm(e, "a4", "iris", false)
			e.advance(e.tick())
			alarm(e, "a5", "iris", true)
		}},
		{"alarm", "an alarm that was not told does not lengthen the quiet", func(e *env) {
			alarm(e, "a1", "iris", true)
			alarm(e, "b1", "otto", true)
			e.advance(alarmQuiet / 2)
			alarm(e, "a2", "iris", false)
			alarm(e, "b2", "ruth", true) // keeps the others' times alive
			e.advance(alarmQuiet / 2)
			alarm(e, "a3", "iris", true)
			alarm(e, "b3", "ruth", false)
		}},
	}
}
