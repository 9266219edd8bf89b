package delivery_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"countersign/delivery"
)

// errAnswerLost is what a process gets of a call that Telegram took.
var errAnswerLost = errors.New("the answer was lost")

// TestEditWhoseAnswerIsLost has Telegram take an edit without saying so, and the
// approval go back to what was drawn before: the card follows.
func TestEditWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		var once sync.Once
		w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, edit: func(_ context.Context, _ int64, next func() error) error {
				err := next()
				once.Do(func() { err = errAnswerLost })
				return err
			}}
		}})
		w.open("a1")
		settle()
		w.openStep("a1", ann)
		settle()
		if m := w.post(ann); !hasButton(m, "Yes") {
			w.Fatalf("the card shows no step:\n%s", m.Text)
		}
		w.cancelStep("a1", ann)
		pass(time.Minute)
		if m := w.post(ann); hasButton(m, "Yes") {
			w.Errorf("the step is cancelled, and the card shows\n%s", m.Text)
		}
		quiet(w, "a1")
	})
}

// TestLateEditWhoseAnswerIsLost is the same of a process that another has taken the
// lease from since: its late edit goes over that one's, and it never learns so.
func TestLateEditWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		paused := make(chan struct{})
		var once sync.Once
		w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, edit: func(_ context.Context, _ int64, next func() error) (err error) {
				first := false
				once.Do(func() { first = true; <-paused })
				if err = next(); first {
					return errAnswerLost
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
		w.decide("a1", byAnn())
		settle()
		close(paused)
		pass(time.Minute)
		if m := w.post(ann); !has("Rejected by Ann")(m) || hasButton(m, "Yes") {
			w.Errorf("the card says\n%s", m.Text)
		}
		quiet(w, "a1")
	})
}
