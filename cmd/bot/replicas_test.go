package main

import (
	"fmt"
	"testing"
	"time"

	"countersign/approval"
)

// The next bot leads within ten seconds of the death of the one that did,
// whenever that is, and taps of the meantime count.
func TestTakeoverWithinTenSeconds(t *testing.T) {
	t.Parallel()
	const beat = 2 * time.Second // both look after the lease that often
	for i := range 16 {
		joins, dies := time.Duration(i/4)*beat/4, time.Duration(i%4)*beat/4+beat/8
		t.Run(fmt.Sprintf("joins %v, dies %v", joins, dies), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *bubble) {
				first := w.run("one", &life{})
				w.pass(beat + joins)
				second := w.run("two", &life{})
				w.ask("a1", "iris", time.Hour)
				m := w.has(5*time.Second, annID, "a1", "Trash it")
				w.pass(5*beat + dies)
				first.kill()
				w.ann.Tap(m, "Trash it")
				w.until(10*time.Second, "the second leads", func() bool {
					_, left := second.leader.Lease()
					return left > 0
				})
				w.has(2*time.Second, annID, "a1", "Yes")
				w.confirms("a1")
				w.once("a1", "approved")
				w.state("a1", approval.Approved)
				if n := len(w.cards(annID, "a1")); n != 1 {
					t.Errorf("%d cards", n)
				}
			})
		})
	}
}
