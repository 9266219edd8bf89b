package delivery_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"countersign/delivery"
	"countersign/simulator"
	"countersign/telegram"
)

// TestMoreThanThereIsRoomFor wants what was left for want of room to be begun as soon as
// there is some, not when somebody next looks.
func TestMoreThanThereIsRoomFor(t *testing.T) {
	t.Parallel()
	const many = 1300
	inBubble(t, func(w *world) {
		for n := range many {
			w.open(fmt.Sprintf("a%d", n), in(chat(ann)))
		}
		var sent atomic.Int64
		w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, send: func(context.Context, telegram.Outgoing, func() (telegram.Sent, error)) (telegram.Sent, error) {
				return telegram.Sent{MessageID: int(sent.Add(1))}, nil
			}}
		}})
		settle() // no time passes
		if n := sent.Load(); n != many {
			w.Errorf("%d cards of %d without waiting", n, many)
		}
		due, err := w.store.Dirty(w.Context(), many)
		w.ok(err)
		if n := len(due.Approvals); n != 0 {
			w.Errorf("%d approvals are still due", n)
		}
	})
}

// TestAnOldMessageBringsNothingForward has a process read of changes that were put off
// since by another.
func TestAnOldMessageBringsNothingForward(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sim.Fault(simulator.Fault{Method: "sendMessage", Code: 502, Description: "Bad Gateway", Count: 1})
		first := w.start("first", start{})
		w.open("a1", in(chat(ann)))
		settle()
		first.stop()
		before, err := w.store.Dirty(w.Context(), 1)
		w.ok(err)
		w.start("second", start{})
		settle()
		after, err := w.store.Dirty(w.Context(), 1)
		w.ok(err)
		if before.Next <= 0 || after.Next != before.Next {
			w.Errorf("it was due in %v, and is due in %v", before.Next, after.Next)
		}
		pass(10 * time.Second) // until the first one's call must be over
		w.posts(ann, 1)
		quiet(w, "a1")
	})
}
