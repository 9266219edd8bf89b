package main

import (
	"bytes"
	"strings"
	"testing"

	"countersign/approval"
	"countersign/simulator"
)

// has fits messages that say something.
func has(text string) func(simulator.Message) bool {
	return func(m simulator.Message) bool { return strings.Contains(m.Text, text) }
}

// The whole path: a request, a card, the action, Yes, the answer, the claim, the
// report, the undo, and the card says each.
func TestTheWholePath(t *testing.T) { newPlay(t).wholePath("a1", "iris") }

func (p *play) wholePath(id, runtime string) {
	t := p.t
	t.Helper()
	pending := p.asked(id, runtime, func(data map[string]any) {
		data["context"] = map[string]any{"k": 1}
		card := data["card"].(map[string]any)
		card["undo_tool"], card["undo_window_days"] = "restore_email", 30
		card["request"] = "Can you delete my promo emails?"
	})
	card := p.card(annID, id)
	for _, want := range []string{"Deletes data", "1. Big sale", "2. Last chance", "30 days", "You asked: Can you delete my promo emails?", runtime} {
		if !strings.Contains(card.Text, want) {
			t.Errorf("the card does not say %q:\n%s", want, card.Text)
		}
	}
	p.confirms(p.ann, card, "Approved.")
	answer, err := p.client.Await(p.ctx, pending)
	p.ok(err)
	if answer.Decision != approval.DecisionApproved || answer.By.Name != "Ann" || answer.By.Method != approval.Button {
		t.Errorf("answer: %s", answer.Data)
	}
	if !bytes.Equal(answer.Context, []byte(`{"k":1}`)) || answer.Pin != pending.Pin || len(answer.Calls) != 1 {
		t.Errorf("answer: %s", answer.Data)
	}
	p.shows(card, "Approved by Ann")
	p.ok(p.client.Claim(p.ctx, id, pending.Pin, "runner"))
	p.ok(p.client.Report(p.ctx, approval.Report{ID: id, Outcome: approval.Executed}))
	card = p.shows(card, "Done")
	_, err = p.ann.TapWait(p.ctx, card, "Undo")
	p.ok(err)
	undo, err := p.client.AwaitUndo(p.ctx, id)
	p.ok(err)
	if undo.UndoTool != "restore_email" || undo.By.Name != "Ann" {
		t.Errorf("undo: %s", undo.Data)
	}
	p.ok(p.client.Report(p.ctx, approval.Report{ID: id, Outcome: approval.Undone}))
	p.shows(card, "Undone")
}
