package storetest_test

import (
	"testing"
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

func TestAdvance(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		st := storetest.NewStore(t, s)
		r := storetest.Open(t, st, storetest.Request("a1"))
		before := r.Row.ExpiresAt.Sub(r.Now)

		s.Advance(t, time.Minute)

		r = storetest.Read(t, st, "a1")
		after := r.Row.ExpiresAt.Sub(r.Now)
		if gone := before - after; gone < time.Minute || gone > 2*time.Minute {
			t.Errorf("a minute's advance took %v of the time left", gone)
		}
		s.Advance(t, time.Hour)
		if ids, err := st.Overdue(t.Context(), 10); err != nil || len(ids) != 1 {
			t.Errorf("overdue after the deadline: %v, %v", ids, err)
		}
	})
}

func TestAdvanceShortensTimesToLive(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		key := s.Keys().Prefix() + "key"
		if err := s.Client().Set(t.Context(), key, "v", time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
		s.Advance(t, 59*time.Minute)
		if n := s.Client().Exists(t.Context(), key).Val(); n != 1 {
			t.Error("gone a minute early")
		}
		s.Advance(t, time.Minute)
		if n := s.Client().Exists(t.Context(), key).Val(); n != 0 {
			t.Error("still there after its time")
		}
	})
}

func TestNamespacesAreApart(t *testing.T) {
	t.Parallel()
	a, b := storetest.Servers(t), storetest.Servers(t)
	for i := range a {
		storetest.Open(t, storetest.NewStore(t, a[i]), storetest.Request("a1"))
		if r := storetest.Read(t, storetest.NewStore(t, b[i]), "a1"); r.Row != nil {
			t.Errorf("%s: one test's approval is in another's namespace", a[i].Name())
		}
	}
}

func TestGoodRequests(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"plain": storetest.Request("a1"),
		"undo":  storetest.Request("a1", storetest.WithUndo(30)),
		"halt":  storetest.Request("a1", storetest.Halt()),
		"bare":  storetest.Request("a1", storetest.With("context", nil), storetest.With("expires_in", nil)),
	} {
		if q := storetest.Decode(t, raw); q.ID != "a1" {
			t.Errorf("%s: id %q", name, q.ID)
		}
	}
}

func TestApprove(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		st := storetest.NewStore(t, s)
		storetest.Open(t, st, storetest.Request("a1"), func(o *store.Opening) { o.Quorum = 2 })
		if r := storetest.Approve(t, st, "a1"); r.Row.State != approval.Approved {
			t.Errorf("state %s", r.Row.State)
		}
	})
}
