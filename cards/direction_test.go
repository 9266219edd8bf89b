package cards_test

import (
	"strings"
	"testing"

	"countersign/approval"
	"countersign/cards"
)

// TestRightToLeftKeepsOurOrder: a mark stands between a text that is read from the
// right and what of ours follows it, never within the text, and nowhere else.
func TestRightToLeftKeepsOurOrder(t *testing.T) {
	const mark = "\u200e"
	for _, c := range []struct{ name, want string }{
		{"Ann", "Ann is confirming this."},
		{"אנה", mark + "אנה" + mark + " is confirming this."},
		{"آن", mark + "آن" + mark + " is confirming this."},
		{"Ann ٣", mark + "Ann ٣" + mark + " is confirming this."},
		{"แอน", "แอน is confirming this."},
	} {
		row := simple()
		v := cards.View{Row: row, CardID: "c", Step: &approval.Step{Name: c.name, CardID: "other"}, Now: now}
		if got := cards.Card(v, cards.Settings{}).Plain; !strings.Contains(got, "\n"+c.want) {
			t.Errorf("%q is not in\n%s", c.want, got)
		}
		toast := cards.Confirming(&approval.Step{Name: c.name})
		if want := strings.Replace(c.want, "this.", "this. Cancel it to confirm it yourself.", 1); toast != want {
			t.Errorf("the toast is %q, want %q", toast, want)
		}
	}
	row := simple()
	row.Request.Card.Title, row.Request.Card.Lines, row.Request.Card.Request = "حذف", []string{"فاتورة 12"}, "نظف"
	if got := cards.Card(cards.View{Row: row, CardID: "c", Now: now}, cards.Settings{}).Plain; strings.Contains(got, mark) {
		t.Errorf("a mark where nothing of ours follows in\n%q", got)
	}
}
