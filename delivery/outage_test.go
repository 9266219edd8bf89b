package delivery_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"countersign/delivery"
	"countersign/simulator"
	"countersign/store/storetest"
	"countersign/sweeper"
	"countersign/telegram"
)

// sweep sweeps once.
func (w *world) sweep() {
	w.Helper()
	w.ok(sweeper.New(sweeper.Config{
		Store: w.store, Log: zerolog.New(w.log), Count: func(string, ...string) {}, Keep: storetest.Retention,
	}).Sweep(w.Context()))
}

// TestLapsedBeforeTheirCards has approvals lapse before their cards could be
// sent, whether that was tried or not: the chat gets one notice, and no card
// until somebody asks to be shown one.
func TestLapsedBeforeTheirCards(t *testing.T) {
	t.Parallel()
	for _, tried := range []bool{false, true} {
		t.Run(fmt.Sprintf("tried %v", tried), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				outage := w.sim.Fault(simulator.Fault{Method: "sendMessage", Code: 502})
				if tried {
					w.start("a", start{})
				}
				var ids []string
				for i := range 8 {
					ids = append(ids, fmt.Sprintf("a%d", i))
					w.open(ids[i])
				}
				pass(lifetime)
				w.sweep()
				settle()
				outage.Remove()
				if !tried {
					w.start("a", start{})
				}
				pass(2 * time.Minute)
				if m := w.post(ann); !has("8")(m) || hasButton(m, "Reject") {
					w.Errorf("want one notice for all, got\n%s", m.Text)
				}
				quiet(w)

				w.sim.Fault(simulator.Fault{Method: "sendMessage", Code: 502, Count: 1})
				w.showAgain("a0", ann, false)
				pass(time.Minute)
				if m := w.posts(ann, 2)[1]; !has("Lapsed")(m) {
					w.Errorf("want the card that was asked for, got\n%s", m.Text)
				}
				quiet(w)
			})
		})
	}
}

// TestSentWhileRedisGoesAway has Redis go away between a send and its record: the
// message's id is known, so nothing is sent twice.
func TestSentWhileRedisGoesAway(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		l := &life{}
		w.start("a", start{life: l, bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, send: func(_ context.Context, _ telegram.Outgoing, next func() (telegram.Sent, error)) (telegram.Sent, error) {
				sent, err := next()
				l.over.Store(true)
				return sent, err
			}}
		}})
		w.open("a1")
		pass(delivery.LeaseTTL / 2)
		w.post(ann)
		l.over.Store(false)
		pass(time.Minute)
		w.post(ann)
		w.inLine("a1")
		quiet(w, "a1")
	})
}

// TestFewLapsedBeforeTheirCards wants a card each for no more than five.
func TestFewLapsedBeforeTheirCards(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		for i := range 5 {
			w.open(fmt.Sprintf("a%d", i))
		}
		pass(lifetime)
		w.sweep()
		w.start("a", start{})
		pass(time.Minute)
		cards := 0
		for _, m := range w.sim.BotMessages(ann) {
			if m.ReplyToMessage == nil && has("Lapsed")(m) {
				cards++
			}
		}
		if cards != 5 {
			w.Errorf("%d cards, want 5", cards)
		}
	})
}

// TestNoNoticeForWhoIsNotListed wants nobody to be told of approvals who may no
// longer see them.
func TestNoNoticeForWhoIsNotListed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		for i := range 6 {
			w.open(fmt.Sprintf("a%d", i), in(chat(ann), chat(ben)))
		}
		pass(lifetime)
		w.sweep()
		w.configure(func(p *delivery.Present) { p.Listed = func(chat int64) bool { return chat != ann } })
		w.start("a", start{})
		pass(time.Minute)
		w.posts(ann, 0)
		w.post(ben)
		quiet(w)
	})
}
