package delivery_test

import (
	"testing"
	"time"

	"countersign/approval"
	"countersign/delivery"
	"countersign/simulator"
	"countersign/store"
)

// stopWithin is how long a process may take to stop.
const stopWithin = 10 * time.Second

// TestStopInTheMiddleOfASend stops a process while Telegram takes its time, and
// starts another: what was taken is known, and is not sent once more.
func TestStopInTheMiddleOfASend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		fault simulator.Fault
		open  func(w *world)
	}{
		{"a card", simulator.Fault{Kind: simulator.Late, Delay: 5 * time.Second}, func(w *world) { w.open("a1") }},
		{"a card that is never taken", simulator.Fault{Kind: simulator.Hang}, func(w *world) { w.open("a1") }},
		{"a notice", simulator.Fault{Kind: simulator.Late, Delay: 5 * time.Second}, func(w *world) { w.unapproved("a1") }},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				c.fault.Method, c.fault.Count = "sendMessage", 1
				fault := w.sim.Fault(c.fault)
				p := w.start("a", start{})
				c.open(w)
				pass(time.Second)
				if fault.Hits() != 1 {
					w.Fatalf("%d sends are under way", fault.Hits())
				}
				began := w.now()
				p.stop()
				if took := w.now().Sub(began); took > stopWithin {
					w.Errorf("the stop took %v", took)
				}
				w.start("b", start{})
				pass(2 * delivery.LeaseTTL)
				w.post(ann)
				quiet(w, "a1")
			})
		})
	}
}

// TestStopInTheMiddleOfAnEdit wants the confirm step that Telegram took to count
// as shown.
func TestStopInTheMiddleOfAnEdit(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		p := w.start("a", start{})
		w.open("a1")
		settle()
		w.sim.Fault(simulator.Fault{Method: "editMessageText", Kind: simulator.Late, Delay: 5 * time.Second})
		w.openStep("a1", ann)
		pass(time.Second)
		p.stop()
		if r := w.read("a1"); r.Step.ShownAt.IsZero() {
			w.Error("the step was shown, and the store does not know")
		}
		w.inLine("a1")
	})
}

// unapproved opens an approval without cards, and has it told of to Ann that it
// ran unapproved.
func (w *world) unapproved(id string) (nid string) {
	w.Helper()
	w.open(id, in())
	nid, err := w.store.NewNotice(w.Context(), store.Notice{
		Kind: store.Unapproved, Chat: ann, IDs: []string{id}, Total: 1, Outcome: approval.Executed,
	}, 0)
	w.ok(err)
	return nid
}
