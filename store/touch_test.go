package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/store/storetest"
)

// What cards depend on beside the rows may change, as a reload does.
func TestTouchOpenMarksWhatIsOpen(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		st := storetest.NewStore(t, s)
		lease, _, err := st.TakeLease(t.Context(), "bot", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"a1", "a2", "a3"} {
			storetest.Open(t, st, storetest.Request(id))
		}
		storetest.Approve(t, st, "a2")
		for _, id := range []string{"a1", "a2", "a3"} {
			if ok, err := st.Settle(t.Context(), storetest.Read(t, st, id), -1, lease); !ok || err != nil {
				t.Fatalf("settle %s: %v, %v", id, ok, err)
			}
		}
		if err := st.TouchOpen(t.Context()); err != nil {
			t.Fatal(err)
		}
		due, err := st.Dirty(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a1", "a3"}, due.Approvals); diff != "" {
			t.Errorf("due (-want +got):\n%s", diff)
		}
	})
}
