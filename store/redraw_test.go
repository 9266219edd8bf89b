package store_test

import (
	"time"

	"countersign/approval"
	"countersign/store"
)

func redrawChecks() []check {
	return []check{
		{"redraw", "what is open is drawn anew, every message of it, and nothing else of its cards changes", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.look("a1", cid, store.View{User: ann, Pages: []string{"0"}, Message: 12, Chat: ann})
			e.sent("a1", cid, "edit", 12, 0)
			want := *e.read("a1").Card(cid)
			want.Drawn, want.Copies = "", map[int]string{12: ""}
			e.marked("a1", func() { e.redraws(1) })
			same(e, "card", *e.read("a1").Card(cid), want)
		}},
		{"redraw", "so is what was answered within the hour, and no longer", func(e *env) {
			e.open("a1")
			e.decides(e.read("a1"), byOperator(approval.DecisionRejected), store.Done)
			e.marked("a1", func() { e.redraws(1) })
			if e.server.IsEmbedded() { // the ids of answers cannot be moved back
				e.advance(hour + time.Minute)
				e.unchanged(func() { e.redraws(0) })
			}
		}},
		{"redraw", "an approval that cannot be read is passed over", func(e *env) {
			e.open("a1")
			e.open("a2")
			e.card("a2")
			e.ok(e.rdb.Set(e.ctx, e.keys.Prefix()+"bot:cards:a1", "no set", 0).Err())
			e.marked("a2", func() { e.redraws(2) })
		}},
	}
}

// redraws has cards drawn anew, of so many approvals.
func (e *env) redraws(want int) {
	e.Helper()
	n, err := e.store.Redraw(e.ctx)
	e.ok(err)
	same(e, "approvals", n, want)
}
