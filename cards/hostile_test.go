package cards_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
)

// A field is one that a runtime or a person fills.
type field struct {
	name string
	set  func(s *stage, text string)
}

// A stage is everything that texts are shown of.
type stage struct {
	row   *approval.Row // open
	by    approval.By
	step  *approval.Step
	tool  string
	key   string
	value string
	// what came after
	reason, message, detail string
}

func newStage() *stage {
	row := simple()
	r := row.Request
	r.Card.UndoTool, r.Card.UndoDays, r.Card.Request, r.Card.Summary = "restore", 30, "clean up", "odd"
	row.Tier, row.Quorum = "destroy", 2
	return &stage{
		row: row, by: person("Ann"), step: &approval.Step{Name: "Ann", CardID: "c", Rev: 3},
		tool: "trash", key: "ids", value: "18", reason: "wrong ones", message: "one is gone", detail: "no such email",
	}
}

func fields() []field {
	card := func(at func(*approval.Card) *string) func(*stage, string) {
		return func(s *stage, text string) { *at(&s.row.Request.Card) = text }
	}
	return []field{
		{"title", card(func(c *approval.Card) *string { return &c.Title })},
		{"action", card(func(c *approval.Card) *string { return &c.Action })},
		{"line", card(func(c *approval.Card) *string { return &c.Lines[1] })},
		{"request", card(func(c *approval.Card) *string { return &c.Request })},
		{"summary", card(func(c *approval.Card) *string { return &c.Summary })},
		{"undo tool", card(func(c *approval.Card) *string { return &c.UndoTool })},
		{"runtime", func(s *stage, text string) { s.row.Request.Runtime = text }},
		{"tool", func(s *stage, text string) { s.tool = text }},
		{"argument", func(s *stage, text string) { s.key = text }},
		{"value", func(s *stage, text string) { s.value = text }},
		{"reason", func(s *stage, text string) { s.reason = text }},
		{"message", func(s *stage, text string) { s.message = text }},
		{"detail", func(s *stage, text string) { s.detail = text }},
		{"answerer", func(s *stage, text string) { s.by.Name = text }},
		{"confirming", func(s *stage, text string) { s.step.Name = text }},
	}
}

// messages draws everything that can be sent, by name.
func (s *stage) messages(settings cards.Settings) map[string]cards.Message {
	open := *s.row
	request := *s.row.Request
	arguments, err := json.Marshal(map[string]string{s.key: s.value})
	if err != nil {
		panic(err) // unreachable: strings only
	}
	request.Calls = []approval.Call{{Tool: s.tool, Arguments: arguments}, {Tool: "second", Arguments: []byte("{}")}}
	open.Request = &request
	view := cards.View{Row: &open, CardID: "c", Exact: true, Now: now, Votes: []approval.Vote{{By: s.by}}}
	confirming, elsewhere, reader := view, view, view
	confirming.Step = s.step
	other := *s.step
	other.CardID = "d"
	elsewhere.Step, reader.Reader = &other, true
	retired := view
	retired.Retired = true
	listed := cards.Listing{Items: []cards.Listed{{Row: &open, Link: "https://t.me/c/1/2"}, {Row: &open}}, Of: 9}
	all := map[string]cards.Message{
		"open": cards.Card(view, settings), "confirming": cards.Card(confirming, settings), "elsewhere": cards.Card(elsewhere, settings),
		"reader": cards.Card(reader, settings), "retired": cards.Card(retired, settings), "question": cards.Question(confirming, settings),
		"lapse": cards.LapseNotice(&open, settings), "shared": cards.SharedLapse([]*approval.Row{&open, &open}, 9, settings),
		"reminder": cards.Reminder(&open, now, settings), "unapproved": cards.RanUnapproved(&open, approval.Executed, settings),
		"tampered": cards.Tampered(&open, settings), "pending": cards.Pending(listed, listed, now, settings),
		"which": cards.Which(listed, now, settings), "more": cards.More(cards.ListLapsed, listed, now, settings), "start": cards.Start(1001, s.by.Name, "owner", settings),
		"stranger": cards.Start(7, "", "", settings), "help": cards.Help(settings), "not a word": cards.NotAWord(settings),
	}
	for _, state := range []approval.State{
		approval.Approved, approval.Rejected, approval.Lapsed, approval.Withdrawn, approval.Refused, approval.Claimed,
		approval.Executed, approval.Failed, approval.Partial, approval.Undone,
	} {
		done := s.done(&open, state)
		v := view
		v.Row = done
		all[string(state)] = cards.Card(v, settings)
		all["already "+string(state)] = cards.Note(cards.Already(done, now, settings))
	}
	return all
}

// done is row as it stands later.
func (s *stage) done(row *approval.Row, state approval.State) *approval.Row {
	done := *row
	done.State, done.AnswerAt = state, now
	done.Answer = &approval.Answer{By: s.by, Reason: s.reason, Decision: approval.Decision(state), Approvals: []approval.By{s.by, s.by}, At: now}
	if state.WasApproved() {
		done.Answer.Decision = approval.DecisionApproved
		done.Undo = &s.by
	}
	done.Report = &approval.Report{Outcome: state, Message: s.message, Results: []approval.Result{{Line: 2, Detail: s.detail}}}
	return &done
}

// toasts are the short answers, by name.
func (s *stage) toasts() map[string]string {
	all := map[string]string{
		"confirming": cards.Confirming(s.step), "undo": cards.UndoAsked(s.by), "late": cards.Late(s.row, now, cards.Settings{}),
		"not confirmed": cards.NotConfirmed(approval.OtherPerson, s.step),
	}
	for _, state := range []approval.State{approval.Approved, approval.Rejected} {
		all["already "+string(state)] = cards.Already(s.done(s.row, state), now, cards.Settings{})
	}
	return all
}

// check says what is wrong with how text is shown in a field. harmless is the same
// stage with a text that nobody would mind.
func check(f field, text string, settings cards.Settings) error {
	s, harmless := newStage(), newStage()
	f.set(s, text)
	f.set(harmless, "x")
	plain := harmless.messages(settings)
	for name, m := range s.messages(settings) {
		if err := checkMessage(m); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := checkKept(m); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if text == "" {
			continue
		}
		got, want := strings.Count(m.Plain, "\n"), strings.Count(plain[name].Plain, "\n")
		if warned(m) {
			want++
		}
		if got != want && !cutAway(m, plain[name]) {
			return fmt.Errorf("%s has %d line breaks, with a harmless text %d:\n%s", name, got, want, m.Plain)
		}
		if err := checkVisible(m.Plain); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, row := range m.Keyboard {
			for _, b := range row {
				if err := checkVisible(b.Text); err != nil {
					return fmt.Errorf("%s, button: %w", name, err)
				}
			}
		}
	}
	for name, toast := range s.toasts() {
		if utf16Len(toast) > 200 || strings.Contains(toast, "\n") {
			return fmt.Errorf("the toast %s is %q", name, toast)
		}
		if err := checkVisible(toast); err != nil {
			return fmt.Errorf("the toast %s: %w", name, err)
		}
	}
	return checkFiles(s, harmless)
}

// warned reports whether a line of ours says that characters are shown as codes. A
// title may say so too, but in bold, and other texts in monospace.
func warned(m cards.Message) bool { return strings.Contains(m.HTML, "\n"+carefully+"<code>") }

// cutAway reports whether the exact call stands on only one of two drawings of a
// card: one that is too long is sent as a file.
func cutAway(a, b cards.Message) bool {
	const file = "its button sends it as a file"
	return strings.Contains(a.Plain, file) != strings.Contains(b.Plain, file)
}

// checkVisible says what in a text cannot be seen. Ours are word joiners, and the
// mark beside what is read from the right; joiners may stand where a script or an
// emoji needs them, which [TestNeutral] tells.
func checkVisible(s string) error {
	for _, c := range s {
		switch {
		case c == '\u2060', c == '\u200e', c == '\u200c', c == '\u200d', c == '\n':
		case !unicode.IsGraphic(c), unicode.Is(unicode.Z, c) && c != ' ':
			return fmt.Errorf("%U cannot be seen in %q", c, s)
		}
	}
	return nil
}

// checkFiles says what is wrong with the files: one line to a line, and a name
// that any system takes.
func checkFiles(s, harmless *stage) error {
	row := *s.row
	request := *s.row.Request
	arguments, err := json.Marshal(map[string]string{s.key: s.value})
	if err != nil {
		return err
	}
	request.Calls = []approval.Call{{Tool: s.tool, Arguments: arguments}}
	row.Request = &request
	name, list := cards.WholeList(&row, false)
	_, want := cards.WholeList(harmless.row, false)
	if name != "K7QF2-list.txt" || strings.Count(string(list), "\n") != strings.Count(string(want), "\n") {
		return fmt.Errorf("the whole list %s is\n%s", name, list)
	}
	if err := checkVisible(string(list)); err != nil {
		return err
	}
	name, call := cards.ExactFile(&row, false)
	if name != "K7QF2-exact-call.txt" || strings.ContainsRune(string(list)+string(call), '\u2060') {
		return fmt.Errorf("the exact call %s is\n%q", name, call)
	}
	_, body, _ := strings.Cut(string(call), "\n\n")
	var back struct {
		Arguments map[string]string
		Tool      string
	}
	if err := json.Unmarshal([]byte(body), &back); err != nil {
		return fmt.Errorf("the exact call is no JSON: %w\n%s", err, body)
	}
	var sent map[string]string
	if err := json.Unmarshal(arguments, &sent); err != nil {
		return err
	}
	for key, value := range sent {
		if back.Arguments[key] != value {
			return fmt.Errorf("the exact call reads back as %q, want %q", back.Arguments, sent)
		}
	}
	return checkVisible(string(call))
}

// TestHostileTextEverywhere puts every hostile text into every field, and looks at
// everything that can be sent.
func TestHostileTextEverywhere(t *testing.T) {
	long := []string{
		strings.Repeat("😀", 2000), strings.Repeat("e"+strings.Repeat("\u0301", 40), 40), strings.Repeat("\u202e", 500),
		strings.Repeat("https://evil.example/ ", 90), strings.Repeat("حذف ", 400), strings.Repeat("&<>", 600),
		strings.Repeat("@ann ", 300), strings.Repeat("\u200b\u200c", 500), "x\n✅ Approved by Ann · 14:02\n\nDeadline: never",
		"</code></pre><b>✅ Approved</b>", "Line 2: done\nUndo until tomorrow", "(cut: 0 more characters)", "#AAAAA · risk observe",
	}
	texts := long
	for some := range slices.Chunk(hostile, 6) {
		texts = append(texts, strings.Join(some, " "), strings.Join(some, ""))
	}
	for _, f := range fields() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for _, text := range texts {
				if err := check(f, text, cards.Settings{TimeTag: true}); err != nil {
					t.Errorf("%.60q: %v", text, err)
				}
			}
		})
	}
}

func TestAnyTextEverywhere(t *testing.T) {
	all := fields()
	rapid.Check(t, func(t *rapid.T) {
		f := all[rapid.IntRange(0, len(all)-1).Draw(t, "field")]
		text := anyText(2000).Draw(t, "text")
		if err := check(f, text, cards.Settings{TimeTag: rapid.Bool().Draw(t, "tag")}); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
	})
}

func FuzzEverywhere(f *testing.F) {
	for i, text := range hostile {
		f.Add(i, text)
	}
	all := fields()
	f.Fuzz(func(t *testing.T, i int, text string) {
		where := all[((i%len(all))+len(all))%len(all)]
		if err := check(where, text, cards.Settings{}); err != nil {
			t.Fatalf("%s: %v", where.name, err)
		}
	})
}
