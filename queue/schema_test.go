package queue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/queue"
	"countersign/schemas"
	"countersign/store/storetest"
)

// What no schema allows is not taken, though the decoders would: a request is
// refused, and every other event set aside.
func TestSchemasCount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("a1")
		b.step()
		b.intake.SetSchemas(&schemas.Set{}) // has none, so nothing conforms
		b.request("a2")
		b.add("type", "approval.withdrawn", "data", `{"approval_id":"a1"}`)
		b.add("type", "approval.claimed", "data", `{"approval_id":"a1","pin":"p","by":"me"}`)
		b.add("type", "approval.reported", "data", `{"approval_id":"a1","outcome":"executed"}`)
		b.step()
		if got := b.state("a1"); got != approval.Open {
			t.Errorf("a1 is %s", got)
		}
		row := b.row("a2")
		if row.State != approval.Refused || row.Answer.Reason != `invalid: data: schemas: "approval.requested" has none` {
			t.Errorf("a2 is %s: %s", row.State, row.Answer.Reason)
		}
		want := []string{
			`invalid: data: schemas: "approval.withdrawn" has none`,
			`invalid: data: schemas: "approval.claimed" has none`,
			`invalid: data: schemas: "approval.reported" has none`,
		}
		if diff := cmp.Diff(want, b.dead()); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
		if got := b.count.of(queue.EventFailed); got != 0 {
			t.Errorf("%d failed", got)
		}
	})
}
