package delivery_test

import (
	"strings"
	"testing"
	"time"

	"countersign/approval"
)

// TestCardsSayThatARuntimeIsLate: with no further input, an approved call that is
// not claimed for long, or claimed and not reported, says so on its card.
func TestCardsSayThatARuntimeIsLate(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.open("a1")
		w.start("a", start{})
		settle()
		w.decide("a1", byOperator(approval.DecisionApproved))
		says := func(text string, want bool) {
			t.Helper()
			if got := w.post(ann).Text; strings.Contains(got, text) != want {
				t.Errorf("%q on the card is %v, want %v:\n%s", text, !want, want, got)
			}
		}
		pass(4 * time.Minute)
		says("Not claimed", false)
		pass(2 * time.Minute)
		says("Not claimed within 5 minutes", true)
		quiet(w, "a1")

		r := w.read("a1")
		_, err := w.client().HSet(w.Context(), w.store.Keys().Claim("a1"), "by", "worker", "at", w.now().UnixMilli(), "pin", r.Row.Pin).Result()
		w.ok(err)
		_, err = w.store.Claimed(w.Context(), approval.ClaimEvent{ID: "a1", Pin: r.Row.Pin, By: "worker"}, r.Row.Stream, r.Now)
		w.ok(err)
		pass(14 * time.Minute)
		says("Running", true)
		pass(2 * time.Minute)
		says("but not reported since", true)
		quiet(w, "a1")
	})
}
