package store_test

import (
	"testing"
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// What needs no script of its own.

func TestUpdates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		fresh := func(want map[int64]bool, ids ...int64) {
			t.Helper()
			in, err := e.store.Incoming(e.ctx, ids, nil)
			e.ok(err)
			same(e, "new", in.Fresh, want)
			same(e, "tapped", len(in.Tapped), 0)
			if late := e.now().Sub(in.Now); late < 0 || late > time.Minute {
				t.Errorf("now is %v late", late)
			}
		}
		fresh(map[int64]bool{})
		fresh(map[int64]bool{7: true, 8: true}, 7, 8)
		e.ok(e.store.UpdateHandled(e.ctx, 8, e.now()))
		fresh(map[int64]bool{7: true, 8: false, 9: true}, 7, 8, 9)

		e.ok(e.store.Forget(e.ctx, e.now().Add(47*time.Hour)))
		fresh(map[int64]bool{8: false}, 8)
		e.ok(e.store.Forget(e.ctx, e.now().Add(49*time.Hour)))
		fresh(map[int64]bool{8: true}, 8)

		for _, want := range []int64{0, 42} {
			if want != 0 {
				e.ok(e.store.SetOffset(e.ctx, want))
			}
			got, err := e.store.Offset(e.ctx)
			e.ok(err)
			same(e, "offset", got, want)
		}
		e.ok(e.store.SetAside(e.ctx, 9, []byte(`{"update_id":9,`), "unexpected end"))
		same(e, "aside", e.events(e.keys.Aside()), []map[string]any{
			{"update": "9", "reason": "unexpected end", "raw": `{"update_id":9,`},
		})
	})
}

// What a tap is about comes with whether it is new, unless Redis does not know the
// script just then: then it is left to be read.
func TestIncomingTap(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		e.open("a1")
		card, err := e.store.NewCard(e.ctx, "a1", store.Place{Chat: ann}, nil, false)
		e.ok(err)
		e.read("a1") // Redis knows the script from now on
		in, err := e.store.Incoming(e.ctx, []int64{5}, []string{card, "nobody's"})
		e.ok(err)
		if r := in.Tapped[card]; r == nil || r.Row == nil || r.Row.ID != "a1" || r.Card(card) == nil {
			t.Errorf("the card's approval is %+v", r)
		}
		if r := in.Tapped["nobody's"]; r == nil || r.Row != nil {
			t.Errorf("of no card: %+v", r)
		}
		e.ok(e.store.UpdateHandled(e.ctx, 5, in.Now))
		e.ok(e.rdb.ScriptFlush(e.ctx).Err())
		in, err = e.store.Incoming(e.ctx, []int64{5, 6}, []string{card})
		e.ok(err)
		same(e, "new", in.Fresh, map[int64]bool{5: false, 6: true})
		same(e, "after a flush", len(in.Tapped), 0)
	})
}

func TestSettingsAndSignOfLife(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		for _, want := range []string{"", "v1"} {
			if want != "" {
				e.ok(e.store.SetSetting(e.ctx, "commands", want))
			}
			got, err := e.store.Setting(e.ctx, "commands")
			e.ok(err)
			same(e, "setting", got, want)
		}
		e.ok(e.store.Alive(e.ctx, []string{"{a}:requests"}))
		same(e, "alive", e.rdb.Get(e.ctx, e.keys.Alive()).Val(), `["{a}:requests"]`)
		if ttl := e.rdb.PTTL(e.ctx, e.keys.Alive()).Val(); ttl <= 10*time.Second || ttl > 15*time.Second {
			t.Errorf("a sign of life lasts %v, want 15s", ttl)
		}
	})
}

func TestLists(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		for id, left := range map[string]time.Duration{"late": 3 * hour, "soon": 2 * hour, "first": hour} {
			e.open(id, func(o *store.Opening) { o.ExpiresAt = e.now().Add(left) })
		}
		ids, n, err := e.store.OpenIDs(e.ctx, 2)
		e.ok(err)
		same(e, "open", ids, []string{"first", "soon"})
		same(e, "open in all", n, int64(3))

		for _, id := range []string{"first", "soon"} {
			e.advance(hour)
			e.decides(e.read(id), lapse(), store.Done)
		}
		lapsed := func(since time.Duration, limit int, want ...string) {
			t.Helper()
			ids, err := e.store.LapsedIDs(e.ctx, e.now().Add(-since), limit)
			e.ok(err)
			same(e, "lapsed", ids, want)
		}
		lapsed(2*hour, 10, "soon", "first")
		lapsed(2*hour, 1, "soon")
		lapsed(hour/2, 10, "soon")
		e.ok(e.store.Forget(e.ctx, e.now().Add(47*hour+hour/2)))
		lapsed(2*hour, 10, "soon")
		same(e, "state", e.read("late").Row.State, approval.Open)
	})
}
