package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/store/storetest"
)

// Only consumers that are idle and hold nothing are removed. The embedded
// server does not say how long a consumer was idle, so there nobody is.
func TestTidy(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.step()
		b.request("a1")
		b.readAs("holds")
		b.request("a2")
		if _, err := b.newIntake("empty").Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.request("a3")
		b.step()
		idle(t, s)
		if n, err := b.intake.Tidy(t.Context(), time.Minute); n != 0 || err != nil {
			t.Fatalf("removed %d at once (%v), want none", n, err)
		}
		removed, want := 1, []string{"holds", "one"}
		if s.IsEmbedded() {
			removed, want = 0, []string{"empty", "holds", "one"}
		}
		if n, err := b.intake.Tidy(t.Context(), time.Millisecond); n != removed || err != nil {
			t.Fatalf("removed %d (%v), want %d", n, err, removed)
		}
		consumers, err := s.Client().XInfoConsumers(t.Context(), s.Keys().Requests(), "countersign").Result()
		must(t, err)
		var left []string
		for _, c := range consumers {
			left = append(left, c.Name)
		}
		slices.Sort(left)
		if diff := cmp.Diff(want, left); diff != "" || b.pending() != 1 {
			t.Errorf("%d pending; consumers (-want +got):\n%s", b.pending(), diff)
		}
	})
}
