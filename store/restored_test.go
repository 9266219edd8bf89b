package store_test

import (
	"errors"

	"countersign/approval"
	"countersign/store"
)

// restoredChecks are the rules of rows that somebody put back, gave another state or
// another's reference, which no seal covers.
func restoredChecks() []check {
	return []check{
		{"read", "a row that was answered and is made an open one again is found, and asked no more", func(e *env) {
			e = e.signing(1)
			e.open("a1")
			before, err := e.rdb.HGetAll(e.ctx, e.keys.Row("a1")).Result()
			e.ok(err)
			e.decides(e.read("a1"), reject(ann), store.Done)
			e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1")).Err())
			e.tamper("a1", before)
			r := e.read("a1")
			same(e, "state", r.Row.State, approval.Open)
			same(e, "seal", r.Row.Seal, approval.SealBroken)
			e.unchanged(func() { e.decides(r, byOperator(approval.DecisionApproved), store.NotOpen) })
		}},
		{"read", "a row that bears the reference of another is found", func(e *env) {
			e = e.signing(1)
			e.open("a1")
			e.tamper("a1", "ref", e.open("a2").Row.Ref)
			same(e, "seal", e.read("a1").Row.Seal, approval.SealBroken)
			same(e, "the other's", e.read("a2").Row.Seal, approval.SealHolds)
			e.decides(e.read("a1"), byOperator(approval.DecisionApproved), store.Meddled)
			e.refusedFor("a1", "tampered")
		}},
		{"read", "a row without a reference is found", func(e *env) {
			e = e.signing(1)
			e.open("a1")
			e.ok(e.rdb.HDel(e.ctx, e.keys.Row("a1"), "ref").Err())
			same(e, "seal", e.read("a1").Row.Seal, approval.SealBroken)
		}},
		{"decide", "an open row that somebody gave another state is refused by whatever comes, its deadline too", func(e *env) {
			e = e.signing(1)
			for id, a := range map[string]store.Attempt{
				"a1": lapse(), "a2": byOperator(approval.DecisionApproved), "a3": reject(ann), "a4": e.withdraw(),
			} {
				e.open(id)
				e.tamper(id, "state", "approved")
				e.decides(e.read(id), a, store.Meddled)
				e.refusedFor(id, "tampered")
			}
		}},
		{"decide", "who lacks the key that signs by now refuses no row, since it cannot tell", func(e *env) {
			old, now := e.signing(1), e.signing(2, 1)
			e.ok(old.store.BeginSigning(e.ctx))
			e.ok(now.store.BeginSigning(e.ctx))
			old.open("a3")
			old.decides(old.read("a3"), byOperator(approval.DecisionApproved), store.Done)
			now.open("a1")
			now.open("a2")
			now.decides(now.read("a2"), byOperator(approval.DecisionApproved), store.Done)
			e.unchanged(func() {
				_, _, err := old.store.Refuse(e.ctx, old.read("a1"))
				wantStrange(e, err)
				_, err = old.store.TellTampered(e.ctx, old.read("a2"))
				wantStrange(e, err)
			})
			now.tamper("a1", "quorum", "7")
			status, _, err := now.store.Refuse(e.ctx, now.read("a1"))
			e.ok(err)
			same(e, "with the key", status, store.Meddled)
		}},
		{"open", "an id that was answered is asked no more once somebody took its row away", func(e *env) {
			e.open("a1")
			e.decides(e.read("a1"), byOperator(approval.DecisionRejected), store.Done)
			e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1")).Err())
			e.opensNothing(e.opening("a1"), store.RefusedBefore)
		}},
		{"report", "what ran by a state that somebody gave the row ran unapproved", func(e *env) {
			e = e.signing(1)
			e.open("a1")
			e.tamper("a1", "state", "approved")
			status, _, err := e.store.Reported(e.ctx, e.reporting("a1", approval.Executed, 1))
			e.ok(err)
			same(e, "status", status, store.NotApproved)
			e.refusedFor("a1", "tampered")

			e.open("a2")
			e.decides(e.read("a2"), byOperator(approval.DecisionRejected), store.Done)
			e.tamper("a2", "state", "approved")
			e.reported("a2", approval.Executed, 1, store.NotApproved)

			e.approved("a3")
			e.tamper("a3", "quorum", "7")
			e.reported("a3", approval.Executed, 1, store.Done)
		}},
		{"claimed", "what somebody made approved is not claimed", func(e *env) {
			e = e.signing(1)
			e.open("a1")
			e.tamper("a1", "state", "approved")
			e.claim("a1")
			status, err := e.store.Claimed(e.ctx, approval.ClaimEvent{ID: "a1", By: "worker-1"}, e.keys.Requests(), e.now())
			e.ok(err)
			same(e, "status", status, store.NoClaim)
			e.refusedFor("a1", "tampered")
		}},
	}
}

func wantStrange(e *env, err error) {
	e.Helper()
	if !errors.Is(err, store.ErrStrangeKey) {
		e.Errorf("got %v, want %v", err, store.ErrStrangeKey)
	}
}
