package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/queue"
	"countersign/simulator"
)

const trash = `{"approval_id":"a1","runtime":"iris","run_id":"r1","tool":"trash_email","arguments":{"ids":["m1","m2","m3"]},"context":{"k": 1},
 "card":{"title":"Trash 3 emails","lines":["Big sale","Last chance","Your coupon"],"undo_tool":"restore_email","undo_window_days":30,
 "request":"Can you delete my promo emails?"}}`

func has(text string) func(simulator.Message) bool {
	return func(m simulator.Message) bool { return strings.Contains(m.Text, text) }
}

func TestTheWholePath(t *testing.T) {
	st := newStage(t)
	st.start("bot-1")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	p, err := st.client.Request(ctx, queue.Request{Data: json.RawMessage(trash)})
	if err != nil {
		t.Fatal(err)
	}
	card, err := st.sim.WaitMessage(ctx, annID, has("Trash 3 emails"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s\n%+v", card.Text, card.ReplyMarkup)
	if _, err := st.ann.TapWait(ctx, card, "Trash 3 emails"); err != nil {
		t.Fatal(err)
	}
	card, err = st.sim.WaitEdit(ctx, card, has("confirm"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s\n%+v", card.Text, card.ReplyMarkup)
	a, err := st.ann.TapWait(ctx, card, "Yes, Trash 3 emails")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", a)
	answer, err := st.client.Await(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Decision != approval.DecisionApproved {
		t.Errorf("decision %s", answer.Decision)
	}
	t.Logf("%s", answer.Data)
	card, err = st.sim.WaitEdit(ctx, card, has("Approved by Ann"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s\n%+v", card.Text, card.ReplyMarkup)
	for _, r := range st.sim.Refusals() {
		t.Errorf("refused: %+v", r)
	}
}
