package cards_test

import (
	"testing"

	"countersign/approval"
	"countersign/cards"
)

// simple is an open row with one destructive call.
func simple() *approval.Row {
	return &approval.Row{
		ID: "a1", State: approval.Open, Ref: "K7QF2", Rev: 7, Pin: "sha256:ab12", OpenedAt: opened, ExpiresAt: closing, Quorum: 1,
		Request: &approval.Request{
			ID: "a1", Kind: approval.ToolCall, Runtime: "iris", Effect: approval.Destructive,
			Calls: []approval.Call{{Tool: "trash_emails", Arguments: []byte(`{"ids":[18]}`)}},
			Card:  approval.Card{Title: "Trash 3 emails", Lines: []string{"Alpha", "Beta", "Gamma"}},
		},
	}
}

// TestActionLabel: case, marks and lookalikes aside, no action begins with a word
// of ours.
func TestActionLabel(t *testing.T) {
	s := cards.Settings{ReplyWords: []string{"approve", "genehmigt", "reject", "nö"}}
	for _, c := range []struct{ action, want string }{
		{"Trash 3 emails", "Trash 3 emails"},
		{"", "Trash 3 emails"},
		{"Node upgrade", "Node upgrade"},
		{"Notify Bo", "Notify Bo"},
		{"Cancellation letter to Bo", "Cancellation letter to Bo"},
		{"Undock the laptop", "Undock the laptop"},
		{"احذف", "احذف"},
		{"Yes", "Approve: Yes"},
		{"no", "Approve: no"},
		{"REJECT all", "Approve: REJECT all"},
		{"Deny-list Bo", "Approve: Deny-list Bo"},
		{"Cancel_all", "Approve: Cancel_all"},
		{"undo: last", "Approve: undo: last"},
		{"Exact  call", "Approve: Exact  call"},
		{"Whole list of friends", "Approve: Whole list of friends"},
		{"Approve the invoice", "Approve: Approve the invoice"},
		{"genehmigt!", "Approve: genehmigt!"},
		{"No\u0308 danke", "Approve: No\u0308 danke"},
		{"  “Cancel”", "Approve:   “Cancel”"},
		{"🚫 Reject", "Approve: 🚫 Reject"},
		{"| Reject", "Approve: | Reject"},
		{"R\u0301eject", "Approve: R\u0301eject"},
		{"Ｎｏ", "Approve: Ｎｏ"},
		{"𝐘𝐞𝐬", "Approve: 𝐘𝐞𝐬"},
		{"Cаncеl", "Approve: Cаncеl"}, // Cyrillic a and e
		{"Cance1", "Approve: Cance1"},
		{"CanceI", "Approve: CanceI"},
		{"Cance|", "Approve: Cance|"},
		{"Ƴes", "Approve: Ƴes"},
		{"Ye\u200bs", `Approve: Ye\u200bs`},
		{"yes\nno", `Approve: yes\nno`},
		{"🅽🅾", "Approve: 🅽🅾"},
		{"◀", "Approve: ◀"},
		{"\u200b", `Approve: \u200b`},
	} {
		t.Run(c.action, func(t *testing.T) {
			row := simple()
			row.Request.Card.Action = c.action
			b := cards.Card(cards.View{Row: row, CardID: "c", Now: now}, s).Keyboard[0][0]
			if b.Text != c.want {
				t.Errorf("the action reads %q, want %q", b.Text, c.want)
			}
		})
	}
}
