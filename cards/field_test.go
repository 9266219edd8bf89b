package cards_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/approval"
	"countersign/cards"
)

// These are faults that others in this field had, each kept out by a test.

// TestEscapingIsNotCounted: a text is measured after parsing, so that escapes do
// not push it over, and its raw form stays within its own limit.
func TestEscapingIsNotCounted(t *testing.T) {
	row := simple()
	row.Request.Card.Lines = []string{strings.Repeat("&", 1000), strings.Repeat("<", 1000), strings.Repeat("&", 1000), strings.Repeat("&", 700)}
	row.Request.Card.Request = strings.Repeat("&", 2000)
	row.Request.Card.Title = strings.Repeat("&", 200)
	for page := range cards.Pages(row, cards.Settings{}) {
		m := cards.Card(cards.View{Row: row, CardID: "c", Page: page, Now: now}, cards.Settings{})
		if err := checkMessage(m); err != nil {
			t.Error(err)
		}
		if len(m.Keyboard) < 2 || m.Keyboard[1][0].Text != "Reject" {
			t.Errorf("page %d has no deciding buttons: %v", page, m.Keyboard)
		}
	}
}

// TestWhatWasNotShownIsSaid: a long list never hides its tail. The card says
// which lines it shows, the confirm step how many were not opened, and lines that
// are cut do not count as shown.
func TestWhatWasNotShownIsSaid(t *testing.T) {
	row := simple()
	row.Request.Card.Lines = nil
	for i := range 200 {
		row.Request.Card.Lines = append(row.Request.Card.Lines, fmt.Sprintf("item %d %s", i+1, strings.Repeat("x", 90)))
	}
	s := cards.Settings{}
	pages := cards.Pages(row, s)
	_, last, full := cards.PageLines(row, 0, s)
	first := cards.Card(cards.View{Row: row, CardID: "c", Now: now}, s)
	if want := fmt.Sprintf("Lines 1–%d of 200, page 1 of %d", last, pages); !strings.Contains(first.Plain, want) || full != last {
		t.Errorf("first page says\n%s\nwant %q, and all of its lines in full", first.Plain, want)
	}
	seen := cards.Seen(row, []int{0, 0, 1}, false, s)
	step := &approval.Step{Name: "Ann", CardID: "c"}
	confirm := cards.Card(cards.View{Row: row, CardID: "c", Step: step, Opened: seen.Lines, OfLines: seen.Of, Now: now}, s)
	if want := fmt.Sprintf("You have not opened the pages with %d of the 200 lines yet.", 200-seen.Lines); !strings.Contains(confirm.Plain, want) {
		t.Errorf("confirm step says\n%s\nwant %q", confirm.Plain, want)
	}
	if got := strings.Count(confirm.Plain, "No undo is known."); got != 1 || strings.Contains(confirm.Plain, "Reply approve") {
		t.Errorf("confirm step says %d times how it can be undone, or how to ask what it asks:\n%s", got, confirm.Plain)
	}
	if all := cards.Seen(row, every(row), false, s); all.Lines != 200 || all.Of != 200 {
		t.Errorf("all pages show %+v", all)
	}

	row.Request.Card.Lines[0] = strings.Repeat("\u200b\u200c", 500)
	if _, _, now := cards.PageLines(row, 0, s); now >= full {
		t.Errorf("a cut line counts as shown in full: %d lines", now)
	}
	confirm = cards.Card(cards.View{Row: row, CardID: "c", Step: step, Opened: 199, OfLines: 200, Now: now}, s)
	if want := "You have not seen 1 of the 200 lines in full yet."; !strings.Contains(confirm.Plain, want) {
		t.Errorf("confirm step with a cut line says\n%s\nwant %q", confirm.Plain, want)
	}
	if cut := cards.Seen(row, every(row), false, s); cut.Lines != 199 {
		t.Errorf("with a cut line all pages show %+v", cut)
	}
	if file := cards.Seen(row, nil, true, s); file.Lines != 200 {
		t.Errorf("the whole list shows %+v", file)
	}
	name, list := cards.WholeList(row, false)
	if name != "K7QF2-list.txt" || strings.Count(string(list), "\n200. item 200 ") != 1 || !strings.Contains(string(list), strings.Repeat(`\u200b\u200c`, 500)) {
		t.Errorf("the whole list %s is not whole", name)
	}
}

// every lists all pages of row.
func every(row *approval.Row) []int {
	pages := make([]int, cards.Pages(row, cards.Settings{}))
	for p := range pages {
		pages[p] = p
	}
	return pages
}

// TestEmojiAreCountedAsTelegramCounts: a character beyond the first plane is two.
func TestEmojiAreCountedAsTelegramCounts(t *testing.T) {
	row := simple()
	row.Request.Card.Lines = []string{strings.Repeat("😀", 1000), strings.Repeat("😀", 1000), strings.Repeat("😀", 100)}
	row.Request.Card.Request = strings.Repeat("😀", 2000)
	for page := range cards.Pages(row, cards.Settings{}) {
		m := cards.Card(cards.View{Row: row, CardID: "c", Page: page, Now: now}, cards.Settings{})
		if err := checkMessage(m); err != nil {
			t.Error(err)
		}
		if page == 0 && !strings.Contains(m.Plain, " … (cut: 500 more characters)") {
			t.Errorf("a line of 2,000 units is not said to be cut:\n%s", m.Plain)
		}
	}
}

// TestNoFieldLooksLikeAnother: text of a runtime cannot begin a line of the card,
// and what is invisible in it can be seen.
func TestNoFieldLooksLikeAnother(t *testing.T) {
	row := simple()
	forged := "Bob\n\nAmount: 1 EUR\nDeadline: never\u2028#AAAAA"
	r := row.Request
	r.Runtime, r.Card.Title, r.Card.Action, r.Card.Request, r.Card.Summary, r.Card.UndoTool = forged, forged, forged, forged, forged, forged
	r.Card.Lines = []string{"/srv/\u200bimportant", "\u202egnp.exe", forged}
	m := cards.Card(cards.View{Row: row, CardID: "c", Step: &approval.Step{Name: forged, CardID: "c"}, Now: now}, cards.Settings{})
	for _, want := range []string{`1. /srv/\u200bimportant`, `2. \u202egnp.exe`, `3. Bob\n×2Amount: 1 EUR\nDeadline: never\u2028#`} {
		if !strings.Contains(m.Plain, want) {
			t.Errorf("no %q in\n%s", want, m.Plain)
		}
	}
	for line := range strings.Lines(m.Plain) {
		if strings.HasPrefix(line, "Amount") || strings.HasPrefix(line, "Deadline: never") || strings.HasPrefix(line, "#AAAAA") {
			t.Errorf("a forged line %q", line)
		}
	}
}

// TestTheEndKeepsTheContent: after the end a card still has its title and lines,
// says who and when, with the zone, has nothing left to decide, and fits even if
// it was as long as cards get.
func TestTheEndKeepsTheContent(t *testing.T) {
	for _, c := range []struct {
		state approval.State
		badge string
	}{
		{approval.Approved, "✅ Approved by Ann · 1 Mar 2026 13:02 UTC"},
		{approval.Rejected, "❌ Rejected by Ann · 1 Mar 2026 13:02 UTC"},
		{approval.Lapsed, "⌛ Lapsed · 1 Mar 2026 13:02 UTC"},
		{approval.Withdrawn, "↩️ Withdrawn · 1 Mar 2026 13:02 UTC"},
		{approval.Refused, "🚫 Refused · 1 Mar 2026 13:02 UTC"},
	} {
		t.Run(string(c.state), func(t *testing.T) {
			row := simple()
			for i := range 100 {
				row.Request.Card.Lines = append(row.Request.Card.Lines, fmt.Sprintf("item %d %s", i+4, strings.Repeat("x", 90)))
			}
			row.Request.Card.Request = strings.Repeat("please ", 280)
			before := cards.Card(cards.View{Row: row, CardID: "c", Now: now}, cards.Settings{})
			row.State, row.AnswerAt = c.state, now
			row.Answer = &approval.Answer{Decision: approval.Decision(c.state), By: person("Ann"), Reason: strings.Repeat("because ", 100)}
			after := cards.Card(cards.View{Row: row, CardID: "c", Now: now}, cards.Settings{})
			if err := checkMessage(after); err != nil {
				t.Error(err)
			}
			badge, rest, _ := strings.Cut(after.Plain, "\n")
			if badge != c.badge {
				t.Errorf("badge line %q, want %q", badge, c.badge)
			}
			_, body, _ := strings.Cut(before.Plain, "\n")
			if body, _, _ = strings.Cut(body, "\n\n"); !strings.HasPrefix(rest, body) {
				t.Errorf("content changed from\n%s\nto\n%s", body, rest)
			}
			for _, row := range after.Keyboard {
				for _, b := range row {
					if strings.Contains("aycr", b.Data[:1]) {
						t.Errorf("button %q is left", b.Text)
					}
				}
			}
		})
	}
}

// TestCallbackDataFits: whatever the ids and texts, no button is refused for its
// data, which is counted in bytes.
func TestCallbackDataFits(t *testing.T) {
	for _, id := range []string{"a1", "审批-2026-" + strings.Repeat("审", 100), strings.Repeat("x", 300)} {
		row := simple()
		row.ID, row.Request.ID, row.Rev = id, id, 1<<63-1
		row.Request.Card.Action = strings.Repeat("审", 60)
		for range 4997 {
			row.Request.Card.Lines = append(row.Request.Card.Lines, "one more")
		}
		step := &approval.Step{Rev: 1<<63 - 1, CardID: "abcdefghijklmnopqrst_-"}
		for _, v := range []cards.View{{Page: 124}, {Step: step}, {Exact: true}} {
			v.Row, v.CardID, v.Now = row, step.CardID, now
			if err := checkMessage(cards.Card(v, cards.Settings{})); err != nil {
				t.Error(err)
			}
		}
	}
}
