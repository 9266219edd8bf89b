package cards_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
)

// carefully begins the line that warns of characters shown as codes.
const carefully = "⚠️ Careful: hidden characters are shown as codes such as "

// warnings are those lines of m.
func warnings(m cards.Message) []string {
	return slices.DeleteFunc(strings.Split(m.HTML, "\n"), func(line string) bool { return !strings.HasPrefix(line, carefully+"<code>") })
}

// TestHiddenCharactersAreWarnedOf: wherever such a character of the request stands,
// every card and the question say so, in a line that no text of a runtime can be.
func TestHiddenCharactersAreWarnedOf(t *testing.T) {
	always := []string{"title", "action", "line", "request", "summary", "undo tool", "runtime", "tool", "argument", "value"}
	later := []string{"reason", "message", "detail"}
	for _, c := range []struct{ text, code string }{
		{"safe\u202etxt.exe", `\u202e`},
		{"in\u200bvisible", `\u200b`},
		{"bell\a", `\u0007`},
		{"one\ntwo\u2066", `\u2066`},
		{"one\ntwo", ""},
		{"a\r\n\tb", ""},
		{"far          away", ""},
		{"an emoji 👨\u200d👩\u200d👧", ""},
		{`a plain \u202e`, ""},
		{carefully + `\u202e.`, ""},
		{"x\n" + carefully + `\u202e.`, ""},
	} {
		for _, f := range fields() {
			s := newStage()
			f.set(s, c.text)
			for name, m := range s.messages(cards.Settings{TimeTag: true}) {
				drawn := slices.Contains([]string{"open", "confirming", "elsewhere", "reader"}, name) && slices.Contains(always, f.name) ||
					name == "question" && slices.Contains(always[:7], f.name) ||
					name == "partial" && slices.Contains(slices.Concat(always, later), f.name)
				var want []string
				if c.code != "" {
					want = []string{carefully + "<code>" + c.code + "</code>."}
				}
				if got := warnings(m); (drawn || len(want) == 0) && !slices.Equal(got, want) {
					t.Errorf("%q as %s, %s: it says %q, want %q, in\n%s", c.text, f.name, name, got, want, m.HTML)
				}
			}
		}
	}
}

// TestWarningIsTheSameOnEveryPage: a hidden character far down is warned of above.
func TestWarningIsTheSameOnEveryPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row, s := anyRow.Draw(t, "row"), anySettings.Draw(t, "settings")
		s.Layouts = new(cards.Layouts)
		first := warnings(cards.Card(cards.View{Row: row, CardID: "c", Now: now}, s))
		if len(first) > 1 {
			t.Fatalf("it warns of %q", first)
		}
		for page := range cards.Pages(row, s) {
			v := cards.View{Row: row, CardID: "c", Page: page, Now: now}
			if row.State == approval.Open {
				v.Step = &approval.Step{Name: "Ann", CardID: "c"}
			}
			if got := warnings(cards.Card(v, s)); !slices.Equal(got, first) {
				t.Fatalf("page %d says %q, the first %q", page, got, first)
			}
		}
	})
}
