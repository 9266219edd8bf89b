package store_test

import (
	"testing"
	"time"

	"countersign/store"
	"countersign/store/storetest"
)

// Who serves the namespace is told apart from who did.
func TestPresence(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		st := storetest.NewStore(t, s)
		expect := func(alive bool, holder string, streams ...string) {
			t.Helper()
			p, err := st.Presence(t.Context())
			if err != nil || p.Alive != alive || p.Holder != holder || len(p.Streams) != len(streams) {
				t.Errorf("%+v, %v; want alive %v, holder %q, streams %v", p, err, alive, holder, streams)
			}
		}
		expect(false, "")
		if err := st.Alive(t.Context(), []string{"a", "b"}); err != nil {
			t.Fatal(err)
		}
		expect(true, "", "a", "b")
		if _, ok, err := st.TakeLease(t.Context(), "bot-1/x", 10*time.Second); err != nil || !ok {
			t.Fatal(ok, err)
		}
		expect(true, "bot-1/x", "a", "b")
		s.Advance(t, 11*time.Second)
		expect(true, "", "a", "b")
		s.Advance(t, 5*time.Second)
		expect(false, "")
	})
}

// The newest id is known also where its entry was removed, and the highest of all for
// what it is.
func TestNewest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		st, rdb, stream := storetest.NewStore(t, s), s.Client(), s.Keys().Requests()
		expect := func(want time.Time, wantFull bool) {
			t.Helper()
			at, full, err := st.Newest(t.Context(), stream)
			if err != nil || !at.Equal(want) || full != wantFull {
				t.Errorf("%v, full %v, %v; want %v, full %v", at, full, err, want, wantFull)
			}
		}
		add := func(id string) {
			t.Helper()
			if err := rdb.Do(t.Context(), "xadd", stream, id, "f", "v").Err(); err != nil {
				t.Fatal(err)
			}
		}
		expect(time.Time{}, false)
		at := time.UnixMilli(storetest.Noon().UnixMilli()).UTC()
		add(store.EntryID(at, 3))
		expect(at, false)
		later := at.Add(1000 * time.Hour)
		add(store.EntryID(later, 0))
		if err := rdb.XGroupCreate(t.Context(), stream, "g", "$").Err(); err != nil {
			t.Fatal(err)
		}
		if err := rdb.XDel(t.Context(), stream, store.EntryID(later, 0)).Err(); err != nil {
			t.Fatal(err)
		}
		expect(later, false)
		add("18446744073709551615-18446744073709551615")
		at, full, err := st.Newest(t.Context(), stream)
		if err != nil || !full || at.Year() != 9999 {
			t.Errorf("%v, full %v, %v", at, full, err)
		}
	})
}
