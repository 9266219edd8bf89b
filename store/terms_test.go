package store_test

import (
	"testing"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// lasting are the fields of a row that never change after it opened.
func lasting() []string {
	return []string{
		"request", "terms", "pin", "stream", "owners", "quorum", "chats", "opened_at", "expires_at", "ref", "kind", "tier",
	}
}

// TestTermsNeverChange drives approvals through every transition there is.
func TestTermsNeverChange(t *testing.T) {
	t.Parallel()
	claimed := func(e *env) {
		storetest.Approve(e.TB, e.store, "a1")
		e.claim("a1")
		e.claimed("a1", e.keys.Requests(), store.Done)
	}
	reports := func(outcomes ...approval.State) func(e *env) {
		return func(e *env) {
			claimed(e)
			for i, o := range outcomes {
				e.reported("a1", o, int64(100+i), store.Done)
			}
		}
	}
	for name, lives := range map[string]func(e *env){
		"asked again": func(e *env) {
			e.opens(e.opening("a1"), store.Same)
			e.opens(e.opening("a1", storetest.With("runtime", "otto")), store.Differs)
			e.withdrawn("a1", "elsewhere", "", false)
		},
		"stepped, shown, seen, cancelled": func(e *env) {
			r := e.shown("a1", ann)
			page := 1
			e.look("a1", r.Step.CardID, store.View{User: ann, Pages: []string{"1"}, Page: &page, Message: 12, Chat: ann})
			e.asked("a1", r.Step.Rev, ann, 11, r.Step.CardID, true)
			e.cancels("a1", ben, r.Step.Rev, store.Done)
			e.ok(e.store.Remind(e.ctx, "a1"))
		},
		"voted":     func(e *env) { e.votes("a1", ann, store.Voted) },
		"approved":  func(e *env) { e.votes("a1", ann, store.Voted); e.votes("a1", ben, store.Done) },
		"rejected":  func(e *env) { e.decides(e.read("a1"), reject(ann), store.Done) },
		"withdrawn": func(e *env) { e.decides(e.read("a1"), e.withdraw(), store.Done) },
		"refused":   func(e *env) { e.decides(e.read("a1"), unreachable(), store.Done) },
		"lapsed":    func(e *env) { e.advance(hour); e.decides(e.read("a1"), lapse(), store.Done) },
		"claimed":   claimed,
		"executed":  reports(approval.Executed),
		"failed":    reports(approval.Failed),
		"partial":   reports(approval.Partial),
		"undone": func(e *env) {
			reports(approval.Executed)(e)
			e.asksUndo(e.read("a1"), ann, store.Done)
			e.reported("a1", approval.Undone, 200, store.Done)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, s *storetest.Server) {
				e := newEnv(t, s, storetest.NewStore(t, s))
				e.open("a1", quorum(2), func(o *store.Opening) { o.Tier = "destroy" })
				before := e.rdb.HMGet(e.ctx, e.keys.Row("a1"), lasting()...).Val()
				for i, v := range before {
					if v == nil {
						t.Fatalf("the row has no %s", lasting()[i])
					}
				}
				rev := e.read("a1").Row.Rev
				lives(e)
				after := e.rdb.HMGet(e.ctx, e.keys.Row("a1"), lasting()...).Val()
				if s.Moved() > 0 { // a real server's stored times were moved by the test
					for i, f := range lasting() {
						if f == "opened_at" || f == "expires_at" {
							before[i], after[i] = nil, nil
						}
					}
				}
				same(e, "lasting fields", after, before)
				if name != "asked again" && e.read("a1").Row.Rev <= rev {
					t.Errorf("revision %d after %d: nothing happened", e.read("a1").Row.Rev, rev)
				}
			})
		})
	}
}

// Scripts are known to Redis by their digest, which it may forget at any time.
func TestScriptFlush(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		flush := func() { e.ok(e.rdb.ScriptFlush(e.ctx).Err()) }
		e.open("a1")
		flush()
		e.ready("a1", ann)
		flush()
		r := e.read("a1")
		flush()
		e.decides(r, yes(r, ann), store.Done)
		e.answered("a1", approval.DecisionApproved)
	})
}
