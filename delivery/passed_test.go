package delivery_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"countersign/approval"
	"countersign/delivery"
	"countersign/simulator"
	"countersign/store"
)

// byPolicy opens a row as one that a policy let pass.
func byPolicy(o *store.Opening) {
	o.State, o.By = approval.Approved, approval.By{Surface: approval.Policy, ID: "policies[0]"}
	o.Reason, o.Code, o.Tier = "ceiling: act ≤ act", "ceiling", "act"
}

func TestPassedCardIsFinished(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1", byPolicy)
		settle()
		m := w.post(ann)
		if !m.Silent || m.ReplyMarkup != nil || !has("Passed by policy: act ≤ act")(m) || !has("risk act")(m) {
			w.Errorf("want a finished card without sound or buttons, got %+v\n%s", m.ReplyMarkup, m.Text)
		}
		quiet(w, "a1")
	})
}

func TestPassedInSilenceHasNoCard(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1", in(chat(ann), chat(team)), byPolicy, func(o *store.Opening) { o.Quiet = []int64{ann, team} })
		settle()
		w.posts(ann, 0)
		w.posts(team, 0)
		quiet(w, "a1")
	})
}

// However many pass, what asks comes first.
func TestPassedWaitsForWhatAsks(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		const passed = 300
		for i := range passed {
			w.open(fmt.Sprintf("p%03d", i), byPolicy)
		}
		w.start("a", start{limits: delivery.Limits{ChatPerSecond: 1}})
		pass(10 * time.Second)
		for i := range 5 {
			w.open(fmt.Sprintf("a%d", i))
		}
		pass(8 * time.Second)
		asks := func(m simulator.Message) bool { return !has("Passed by policy")(m) }
		all := w.sim.BotMessages(ann)
		if n := len(slices.DeleteFunc(all, func(m simulator.Message) bool { return !asks(m) })); n != 5 {
			w.Errorf("%d of 5 cards that ask came, though they wait for nobody", n)
		}
		pass(2 * passed * time.Second)
		w.posts(ann, passed+5)
	})
}

// Owners are told what policies newly let pass, once.
func TestLooserNotice(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		for range 2 {
			_, err := w.store.NewNotice(w.Context(), store.Notice{
				ID: "looser:1", Kind: store.Looser, Chat: ann, What: []string{"every request: the ceiling rose from 0 (nothing) to 1 (observe)"},
			}, 0)
			w.ok(err)
			settle()
			pass(time.Second)
		}
		if m := w.post(ann); !has("the ceiling rose from 0")(m) || m.ReplyMarkup != nil {
			w.Errorf("got\n%s", m.Text)
		}
	})
}
