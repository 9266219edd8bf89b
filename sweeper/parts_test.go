package sweeper_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/store/storetest"
)

// TestSharedNoticesOverParts sweeps three at a time. Whether a chat's lapses share a
// notice is a matter of the whole sweep: Ann's, of which only the last part brings the
// sixth, share one from the first, and Ben's five have one each.
func TestSharedNoticesOverParts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		crowd, anns, bens := f.open(8, team), f.open(7, ann), f.open(5, ben)
		s.Advance(t, time.Hour)
		f.ok(f.sweeper(f.store).InPartsOf(3).Sweep(t.Context()))
		if n := f.answers(); n != 20 {
			t.Errorf("%d answers, want 20", n)
		}
		if diff := cmp.Diff(map[int64][]int{team: {8}, ann: {7}}, f.told()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		for chat, ids := range map[int64][]string{team: crowd, ann: anns, 0: bens} {
			for _, id := range ids {
				if r := storetest.Read(t, f.store, id); slices.Contains(r.Row.Quiet, chat) != (chat != 0) || len(r.Row.Quiet) > 1 {
					t.Errorf("%s is quiet in %v", id, r.Row.Quiet)
				}
			}
		}
	})
}

// TestBadRowsInParts wants what cannot be read to stop neither its part nor the next.
func TestBadRowsInParts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		ids := f.open(9, ann)
		for _, id := range []string{ids[0], ids[4]} {
			f.ok(s.Client().HSet(t.Context(), s.Keys().Row(id), "request", "{").Err())
		}
		s.Advance(t, time.Hour)
		err := f.sweeper(f.store).InPartsOf(3).Sweep(t.Context())
		if err == nil || !contains(err, ids[0]) || !contains(err, ids[4]) {
			t.Errorf("error %v, want one that names %s and %s", err, ids[0], ids[4])
		}
		if n := f.answers(); n != 7 {
			t.Errorf("%d answers, want 7", n)
		}
	})
}
