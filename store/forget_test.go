package store_test

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// forgets wants forgetting to come to a status.
func (e *env) forgets(id string, want store.Status) {
	e.Helper()
	status, _, err := e.store.ForgetText(e.ctx, id, approval.By{Surface: approval.CLI, ID: "root", Name: "root"})
	e.ok(err)
	same(e, "status", status, want)
}

// holds reports whether any key of the namespace holds a text.
func (e *env) holds(text string) bool {
	e.Helper()
	for key, v := range e.dump() {
		if key != "" && strings.Contains(strings.ToLower(fmt.Sprint(v)), strings.ToLower(text)) {
			return true
		}
	}
	return false
}

func forgetChecks() []check {
	return []check{
		{"forget", "the text of an answered approval goes, and its digests stay", func(e *env) {
			e.executed("a1")
			before := e.read("a1")
			audits := len(e.audits())
			ttl := e.rdb.PTTL(e.ctx, e.keys.Row("a1")).Val()
			e.ok(e.rdb.HSet(e.ctx, e.keys.WithdrawnKey("a1"), "s", "Trash").Err())
			e.marked("a1", func() { e.forgets("a1", store.Done) })
			r := e.read("a1")
			same(e, "request", r.Row.Raw, nil)
			same(e, "forgotten", r.Row.Forgotten.IsZero(), false)
			same(e, "digests", r.Row.Terms+r.Row.Pin, before.Row.Terms+before.Row.Pin)
			same(e, "state", r.Row.State, approval.Executed)
			same(e, "revision", r.Row.Rev, before.Row.Rev+1)
			same(e, "decision", r.Row.Answer.Decision, approval.DecisionApproved)
			same(e, "by", r.Row.Answer.By, before.Row.Answer.By)
			same(e, "outcome", r.Row.Report.Outcome, approval.Executed)
			e.audited("a1 executed>executed cli/root")
			same(e, "code", e.audits()[audits].Code, "forgotten")
			events := e.events(e.keys.Answer("a1"))
			same(e, "events", len(events), 1)
			same(e, "the answer", events[0]["data"].(string), e.field(e.keys.Row("a1"), "answer"))
			e.livesFor(e.keys.Answer("a1"), ttl)
			same(e, "withdrawal", e.there(e.keys.WithdrawnKey("a1")), false)
			n, err := e.store.ForgetEntries(e.ctx, e.keys.Answers(), "a1")
			e.ok(err)
			same(e, "of the stream of all", n, 1)
			for _, text := range []string{"Trash", "Invoice", "m1", "w-1", "detail of a line"} {
				same(e, text, e.holds(text), false)
			}
			e.opensNothing(e.opening("a1"), store.Same)
			e.refuses(e.read("a1"), byOperator(approval.DecisionApproved), store.NotOpen)
		}},
		{"forget", "an open approval is not forgotten, nor one that is not there", func(e *env) {
			e.open("a1")
			e.unchanged(func() { e.forgets("a1", store.StillOpen); e.forgets("a2", store.Unknown) })
		}},
		{"forget", "what was forgotten bears its seal, and cannot be opened again", func(e *env) {
			e = e.signing(1)
			e.executed("a1")
			e.forgets("a1", store.Done)
			r := e.read("a1")
			same(e, "seal", r.Row.Seal, approval.SealHolds)
			_, err := storetest.SigningKeys(e.TB, 1).Check([]byte(e.field(e.keys.Row("a1"), "answer")))
			e.ok(err)
			e.ok(e.rdb.HDel(e.ctx, e.keys.Row("a1"), "answer").Err())
			e.tamper("a1", "state", "open")
			same(e, "opened", e.read("a1").Row.Seal, approval.SealBroken)
			e.refuses(e.read("a1"), byOperator(approval.DecisionApproved), store.NotOpen)
		}},
		{"forget", "nothing is forgotten without a key where the namespace is signed", func(e *env) {
			e.executed("a1")
			e.ok(e.signing(1).store.BeginSigning(e.ctx))
			e.unchanged(func() {
				_, _, err := e.store.ForgetText(e.ctx, "a1", approval.By{Surface: approval.CLI, ID: "root"})
				wantSigns(e, err)
			})
		}},
		{"forget", "a row that changes while it is forgotten is read again", func(e *env) {
			e = e.signing(1)
			e.executed("a1")
			good, err := e.store.ForgetRow(e.ctx, e.read("a1"))
			e.ok(err)
			same(e, "status", good, store.Done)
			e.executed("a2")
			old := e.read("a2")
			e.asksUndo(old, ann, store.Done)
			e.executed("a3")
			altered := e.read("a3")
			e.tamper("a3", "terms", "sha256:x")
			e.unchanged(func() {
				for _, r := range []*store.Reading{old, altered} {
					status, err := e.store.ForgetRow(e.ctx, r)
					e.ok(err)
					same(e, "status", status, store.Changed)
				}
			})
			e.forgets("a3", store.Done)
		}},
		{"forget", "what was not reported, or never asked, is forgotten too", func(e *env) {
			e.approved("a1")
			e.opens(e.unreadable("a2"), store.Opened)
			for _, id := range []string{"a1", "a2"} {
				e.forgets(id, store.Done)
				has, err := e.rdb.HExists(e.ctx, e.keys.Row(id), "report").Result()
				e.ok(err)
				same(e, "report of "+id, has, false)
			}
			same(e, "reason", e.read("a2").Row.Answer.Reason, "invalid: forgotten")
		}},
		{"forget", "an answer that nobody gave is forgotten, and none put in its place", func(e *env) {
			e = e.signing(1)
			e.approved("a1")
			e.tamper("a1", "answer", e.field(e.keys.Row("a1"), "terms"))
			e.forgets("a1", store.Done)
			has, err := e.rdb.HExists(e.ctx, e.keys.Row("a1"), "answer").Result()
			e.ok(err)
			same(e, "answer", has, false)
			same(e, "events", len(e.events(e.keys.Answer("a1"))), 0)
		}},
		{"forget", "an answer stream that was gone expires with its row", func(e *env) {
			e.approved("a1")
			e.ok(e.rdb.Del(e.ctx, e.keys.Answer("a1")).Err())
			e.forgets("a1", store.Done)
			e.livesFor(e.keys.Answer("a1"), storetest.Retention)
		}},
		{"forget", "of a stream goes what is about the approval and is acknowledged, nothing else", func(e *env) {
			stream := e.keys.Requests()
			add := func(key string, values ...string) string {
				id, err := e.rdb.XAdd(e.ctx, &redis.XAddArgs{Stream: key, Values: values}).Result()
				e.ok(err)
				return id
			}
			add(stream, "type", "approval.requested", "data", string(storetest.Request("a1")))
			kept := add(stream, "type", "approval.requested", "data", string(storetest.Request("a2")))
			add(stream, "type", "approval.reported", "data", `{"approval_id":"a1","outcome":"executed"}`)
			e.ok(e.rdb.XGroupCreate(e.ctx, stream, "countersign", "0").Err())
			n, err := e.store.ForgetEntries(e.ctx, stream, "a1")
			e.ok(err)
			same(e, "not acknowledged", n, 0)
			_, err = e.rdb.XReadGroup(e.ctx, &redis.XReadGroupArgs{Group: "countersign", Consumer: "c", Streams: []string{stream, ">"}, NoAck: true}).Result()
			e.ok(err)
			unread := add(stream, "type", "approval.reported", "data", `{"approval_id":"a1","outcome":"undone"}`)
			n, err = e.store.ForgetEntries(e.ctx, stream, "a1")
			e.ok(err)
			same(e, "acknowledged", n, 2)
			left, err := e.rdb.XRange(e.ctx, stream, "-", "+").Result()
			e.ok(err)
			same(e, "left", []string{left[0].ID, left[1].ID}, []string{kept, unread})

			dead := e.keys.Dead()
			add(dead, "reason", "terms_differ", "fields", `{"data":"{\"approval_id\":\"a1\",\"x\":1}"}`)
			add(dead, "reason", "too_large", "fields", `{"data":"{\"approval_id\":\"a1\",\"x\":\"cut…"}`)
			add(dead, "reason", "terms_differ", "fields", `{"data":"{\"approval_id\":\"a12\"}"}`)
			n, err = e.store.ForgetEntries(e.ctx, dead, "a1")
			e.ok(err)
			same(e, "dead", n, 2)
			n, err = e.store.ForgetEntries(e.ctx, "elsewhere", "a1")
			e.ok(err)
			same(e, "elsewhere", n, 0)
			n, err = e.store.ForgetEntries(e.ctx, e.keys.Prefix()+"nothing", "a1")
			e.ok(err)
			same(e, "nothing there", n, 0)
		}},
	}
}
