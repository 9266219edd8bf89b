package store_test

import (
	"testing"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// TestSeveralAtOnce: several approvals are read in one exchange, whether Redis
// knows the script or not, and what is broken keeps no other from the list.
func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		for _, id := range []string{"a1", "a2", "spoilt"} {
			e.open(id)
		}
		e.ok(e.rdb.HSet(e.ctx, e.keys.Row("spoilt"), "request", "{", "chats", "{").Err())
		e.ok(e.rdb.Set(e.ctx, e.keys.Row("other"), "no hash", 0).Err())
		ids := []string{"a2", "spoilt", "gone", "other", "a1"}
		for range 2 { // the second time as after a restart
			all, err := e.store.Readings(e.ctx, ids)
			e.ok(err)
			for i, r := range all {
				same(e, "id", r.ID, ids[i])
				same(e, ids[i]+" is there", r.Row != nil, i == 0 || i == 4)
			}
			e.at("read", all[0].Now, e.now())
			e.ok(e.rdb.ScriptFlush(e.ctx).Err())
		}
		outlines, err := e.store.Outlines(e.ctx, ids)
		e.ok(err)
		row := e.read("a2").Row
		same(e, "outline", outlines[0], store.Outline{ID: "a2", State: approval.Open, Owners: row.Owners, Chats: row.Chats})
		for i, o := range outlines[1:4] {
			same(e, "outline", o, store.Outline{ID: ids[i+1]})
		}
		none, err := e.store.Readings(e.ctx, nil)
		e.ok(err)
		same(e, "none", len(none), 0)
	})
}
