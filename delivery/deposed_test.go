package delivery_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"countersign/approval"
	"countersign/delivery"
	"countersign/telegram"
)

// TestDeposedLeaderLosesNoMessage has a process learn late, when another leads, that
// the message it meant to edit is gone. By then a new one stands there: it is not
// dropped, and no third one is sent.
func TestDeposedLeaderLosesNoMessage(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		hold := make(chan struct{})
		var once sync.Once
		w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, edit: func(_ context.Context, _ int64, next func() error) error {
				err := next()
				once.Do(func() { <-hold })
				return err
			}}
		}})
		w.open("a1")
		settle()
		card := w.post(ann)
		first := int(card.MessageID)
		w.sim.Delete(card)
		w.openStep("a1", ann)
		settle() // Telegram has told a that the message is gone, and a has not heard it yet
		w.ok(w.store.GiveLease(w.Context(), "a"))
		w.start("b", start{})
		settle()
		pass(time.Second)
		second := w.read("a1").Cards[0].Message
		if second == first || second == 0 {
			w.Fatalf("the new holder's message is %d, after %d", second, first)
		}
		close(hold)
		settle()
		if got := w.read("a1").Cards[0].Message; got != second {
			w.Errorf("the card's message is %d, want %d", got, second)
		}
		pass(time.Minute)
		w.posts(ann, 1)
		w.refused = len(w.sim.Refusals())
		quiet(w, "a1")
	})
}

// TestDeposedLeaderFailsNoCard has a process hear late that its bot is blocked: by
// then it is not, and another leads. The card stays, and the approval open.
func TestDeposedLeaderFailsNoCard(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		hold := make(chan struct{})
		var once sync.Once
		w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, edit: func(_ context.Context, _ int64, next func() error) (err error) {
				once.Do(func() {
					<-hold
					err = &telegram.Error{Kind: telegram.Blocked, Description: "Forbidden: bot was blocked by the user"}
				})
				if err == nil {
					err = next()
				}
				return err
			}}
		}})
		w.open("a1")
		settle()
		w.openStep("a1", ann)
		settle()
		w.ok(w.store.GiveLease(w.Context(), "a"))
		w.start("b", start{})
		settle()
		if m := w.post(ann); !hasButton(m, "Yes") {
			w.Fatalf("the new holder shows\n%s", m.Text)
		}
		close(hold)
		settle()
		if c := w.read("a1").Cards[0]; c.Failed != "" {
			w.Errorf("the card has failed: %s", c.Failed)
		}
		pass(10 * time.Second)
		w.state("a1", approval.Open)
		w.decide("a1", byAnn())
		settle()
		w.post(ann)
		quiet(w, "a1")
	})
}
