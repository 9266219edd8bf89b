package cards_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
	"countersign/simulator/entities"
)

// hostile are characters and words that would do something, were they let.
var hostile = []string{
	"\n", "\r", "\t", "\x00", "\u200b", "\u200d", "\u200c", "\u202e", "\u2066", "\u2060", "\ufeff", "\u00ad", "\u3164", "\u2800", "\u030a", "\u0301",
	"\ufe0f", "\U000e0041", "\ue000", "\U0010ffff", "\ufffd", "\u00a0", "\u3000", "          ", "<b>", "</pre>", "&amp;", "&", "`", "**", "@ann",
	"#now", "/approve K7QF2", "$USD", "https://example.com", "example.org", "a@b.example", "+1 212 555 0123", "4111 1111 1111 1111", "😀", "👨\u200d👩\u200d👧",
	"❤\ufe0f", "1\ufe0f\u20e3", "حذف", "می\u200cخواهم", "क\u094d\u200dष", "[masked]", "password: hunter22", "Yes", "no", "✅ Approved by Ann", "tg://user?id=1",
	"1. ", "\u2028", "﷽", "e\u0301\u0302\u0303\u0304\u0305\u0306", "7",
}

// anyText is text of at most limit code points, hostile more often than not.
func anyText(limit int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var s string
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			s = rapid.StringN(0, limit, -1).Draw(t, "text")
		case 1: // one thing over and over, up to the limit
			word := rapid.SampledFrom(hostile).Draw(t, "word")
			s = strings.Repeat(word, limit/utf8.RuneCountInString(word))
		case 2: // two in turn, so that runs do not help
			a, b := rapid.SampledFrom(hostile).Draw(t, "a"), rapid.SampledFrom(hostile).Draw(t, "b")
			s = strings.Repeat(a+b, limit/utf8.RuneCountInString(a+b))
		default:
			s = strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 12).Draw(t, "words"), rapid.SampledFrom([]string{"", " "}).Draw(t, "gap"))
		}
		if r := []rune(s); len(r) > limit {
			s = string(r[:limit])
		}
		return s
	})
}

var anyRow = rapid.Custom(func(t *rapid.T) *approval.Row {
	kind := rapid.SampledFrom([]approval.Kind{approval.ToolCall, approval.ToolCall, approval.Halt}).Draw(t, "kind")
	r := &approval.Request{
		ID: "a1", Kind: kind, Runtime: anyText(200).Draw(t, "runtime"),
		Effect: rapid.SampledFrom([]approval.Effect{approval.Destructive, approval.Write}).Draw(t, "effect"),
		Card: approval.Card{
			Title: anyText(200).Draw(t, "title"), Action: anyText(60).Draw(t, "action"),
			Lines:    rapid.SliceOfN(anyText(1000), 0, 60).Draw(t, "lines"),
			UndoTool: anyText(100).Draw(t, "undo"), UndoDays: rapid.IntRange(0, 3650).Draw(t, "days"),
			Request: anyText(2000).Draw(t, "request"), Summary: anyText(2000).Draw(t, "summary"),
		},
	}
	if kind == approval.ToolCall {
		for range rapid.IntRange(1, 4).Draw(t, "calls") {
			args, err := json.Marshal(map[string]string{anyText(20).Draw(t, "key"): anyText(300).Draw(t, "value")})
			if err != nil {
				t.Fatal(err)
			}
			r.Calls = append(r.Calls, approval.Call{Tool: anyText(50).Draw(t, "tool"), Arguments: args})
		}
	}
	row := &approval.Row{
		ID: "a1", Ref: "K7QF2", Rev: rapid.Int64Range(0, 1<<62).Draw(t, "rev"), State: approval.Open, Request: r,
		Pin: "sha256:" + strings.Repeat("0", 64), OpenedAt: opened, ExpiresAt: closing, Quorum: rapid.IntRange(1, 3).Draw(t, "quorum"),
		Tier: rapid.SampledFrom([]string{"", "destroy", "unvetted"}).Draw(t, "tier"),
	}
	row.State = rapid.SampledFrom([]approval.State{
		approval.Open, approval.Open, approval.Open, approval.Approved, approval.Rejected, approval.Lapsed, approval.Withdrawn,
		approval.Refused, approval.Claimed, approval.Executed, approval.Failed, approval.Partial, approval.Undone,
	}).Draw(t, "state")
	if row.State != approval.Open {
		finish(t, row)
	}
	return row
})

// finish gives row an answer, and a report where its state has one.
func finish(t *rapid.T, row *approval.Row) {
	by := func() approval.By {
		return approval.By{
			Surface: rapid.SampledFrom([]approval.Surface{approval.Telegram, approval.CLI, approval.Policy, approval.Runtime}).Draw(t, "surface"),
			ID:      "1001", Name: anyText(200).Draw(t, "name"),
		}
	}
	a := &approval.Answer{By: by(), Reason: anyText(2000).Draw(t, "reason"), Decision: approval.DecisionApproved, At: now}
	if !row.State.WasApproved() {
		a.Decision = approval.Decision(row.State)
	}
	for range rapid.IntRange(0, 12).Draw(t, "approvals") {
		a.Approvals = append(a.Approvals, by())
	}
	row.Answer, row.AnswerAt = a, now
	switch row.State {
	case approval.Executed, approval.Failed, approval.Partial, approval.Undone:
		row.Report = &approval.Report{Outcome: row.State, Message: anyText(2000).Draw(t, "message")}
		for i := range rapid.IntRange(0, 70).Draw(t, "results") {
			row.Report.Results = append(row.Report.Results, approval.Result{
				Line: i + 1, OK: rapid.Bool().Draw(t, "ok"), Detail: anyText(300).Draw(t, "detail"),
			})
		}
		row.UndoUntil = now.Add(time.Hour)
		if rapid.Bool().Draw(t, "undone") {
			undo := by()
			row.Undo = &undo
		}
	}
}

var anySettings = rapid.Custom(func(t *rapid.T) cards.Settings {
	s := cards.Settings{TimeTag: rapid.Bool().Draw(t, "tag"), Redact: rapid.Bool().Draw(t, "redact"), ReplyWords: []string{"deny", "genehmigt"}}
	s.Confirm.NoUnseen = rapid.Bool().Draw(t, "refuse")
	s.Confirm.Window = time.Minute
	return s
})

var anyView = rapid.Custom(func(t *rapid.T) cards.View {
	v := cards.View{
		Row: anyRow.Draw(t, "row"), CardID: "abcdefghijklmnopqrst_-", Page: rapid.IntRange(0, 50).Draw(t, "page"),
		Exact: rapid.Bool().Draw(t, "exact"), Reader: rapid.IntRange(0, 5).Draw(t, "reader") == 0,
		Retired: rapid.IntRange(0, 5).Draw(t, "retired") == 0, OfLines: 5000, Short: rapid.IntRange(-1, 1).Draw(t, "short"), Now: now,
	}
	if v.Row.State != approval.Open {
		return v
	}
	for range rapid.IntRange(0, 12).Draw(t, "votes") {
		v.Votes = append(v.Votes, approval.Vote{By: person(anyText(200).Draw(t, "voter"))})
	}
	if rapid.Bool().Draw(t, "confirming") {
		v.Step = &approval.Step{
			Name: anyText(200).Draw(t, "name"), Rev: v.Row.Rev,
			CardID: rapid.SampledFrom([]string{v.CardID, "", "other"}).Draw(t, "card"),
		}
	}
	return v
})

var yesWord = regexp.MustCompile(`^Yes\b`)

// links of our own: commands and references.
var ownLink = regexp.MustCompile(`^(?:/pending|/help|#[A-Z0-9]{5})$`)

// checkMessage says what of Telegram's rules, or ours, m breaks.
func checkMessage(m cards.Message) error {
	plain, _, runs, err := parseHTML(m.HTML)
	switch {
	case err != nil:
		return err
	case plain != m.Plain:
		return fmt.Errorf("HTML stands for %q, Plain is %q", plain, m.Plain)
	case m.Units != utf16Len(plain) || m.Units > 4096 || m.Units == 0:
		return fmt.Errorf("%d units, said to be %d", utf16Len(plain), m.Units)
	case m.Entities != len(runs) || m.Entities > 100:
		return fmt.Errorf("%d entities, said to be %d", len(runs), m.Entities)
	case len(m.HTML) > 32768:
		return fmt.Errorf("%d bytes of HTML", len(m.HTML))
	}
	for _, row := range m.Keyboard {
		for _, b := range row {
			if n := utf16Len(b.Text); n == 0 || n > 64 || strings.ContainsRune(b.Text, '\n') {
				return fmt.Errorf("button text %q", b.Text)
			}
			if _, err := cards.ParsePress(b.Data); err != nil || len(b.Data) == 0 || len(b.Data) > 64 {
				return fmt.Errorf("callback data %q: %w", b.Data, err)
			}
		}
	}
	return nil
}

// checkKept says what Telegram would change or add, beyond our own commands and
// the reference.
func checkKept(m cards.Message) error {
	text, list, err := entities.ParseHTML(m.HTML, entities.Options{})
	if err != nil {
		return err
	}
	kept, list := entities.Fix(text, list)
	if strings.TrimSpace(kept) != strings.TrimSpace(text) {
		return fmt.Errorf("Telegram shows %q for %q", kept, text)
	}
	for _, e := range entities.Autolink(kept, list) {
		if !entities.IsAutomatic(e.Type) {
			continue
		}
		if linked := entities.Slice(kept, e); !ownLink.MatchString(linked) {
			return fmt.Errorf("Telegram links %s %q in %q", e.Type, linked, kept)
		}
	}
	return nil
}

func TestEveryCardFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, s := anyView.Draw(t, "view"), anySettings.Draw(t, "settings")
		for _, m := range []cards.Message{cards.Card(v, s), cards.Question(v, s), cards.LapseNotice(v.Row, s), cards.Reminder(v.Row, now, s)} {
			if err := checkMessage(m); err != nil {
				t.Fatal(err)
			}
			if err := checkKept(m); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestListsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySettings.Draw(t, "settings")
		var open []cards.Listed
		var rows []*approval.Row
		for _, title := range rapid.SliceOfN(anyText(200), 0, 60).Draw(t, "titles") {
			row := &approval.Row{ID: "a1", Ref: "K7QF2", State: approval.Open, ExpiresAt: closing, Request: &approval.Request{Card: approval.Card{Title: title}}}
			rows = append(rows, row)
			open = append(open, cards.Listed{Row: row, Link: "https://t.me/c/123/4"})
		}
		list := cards.Listing{Items: open, From: rapid.IntRange(0, 6000).Draw(t, "from")}
		list.Of = list.From + len(open) + rapid.IntRange(0, 100).Draw(t, "rest")
		for _, m := range []cards.Message{
			cards.Pending(list, list, now, s), cards.Which(list, now, s), cards.More(cards.ListOpen, list, now, s), cards.SharedLapse(rows, len(rows)+7, s),
			cards.Help(s), cards.NotAWord(s), cards.Start(1001, anyText(300).Draw(t, "name"), "owner", s), cards.Start(7, "", "", s),
		} {
			if err := checkMessage(m); err != nil {
				t.Fatal(err)
			}
			if err := checkKept(m); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestEveryLineStandsOnOnePage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row, s := anyRow.Draw(t, "row"), anySettings.Draw(t, "settings")
		n, next := len(row.Request.Card.Lines), 1
		if row.Answer != nil && row.State == approval.Refused && approval.ReasonCode(row.Answer.Reason) != "" {
			return // nothing of it is shown
		}
		for page := range cards.Pages(row, s) {
			first, last, full := cards.PageLines(row, page, s)
			if first != next || last < first && n > 0 || full > last-first+1 {
				t.Fatalf("page %d has lines %d–%d, %d in full; want it to begin at %d", page, first, last, full, next)
			}
			m := cards.Card(cards.View{Row: row, CardID: "c", Page: page, Now: now}, s)
			if err := checkLines(m, row, first, last, full, s.Redact); err != nil {
				t.Fatalf("page %d: %v:\n%s", page, err, m.Plain)
			}
			next = last + 1
		}
		if next != n+1 {
			t.Fatalf("pages end at line %d of %d", next-1, n)
		}
	})
}

// checkLines says where the list that m shows is not lines first to last of row,
// each with its number, in its visible form, and whole but for the cut ones, which
// say so.
func checkLines(m cards.Message, row *approval.Row, first, last, full int, redact bool) error {
	_, _, runs, err := parseHTML(m.HTML)
	if err != nil || last < first {
		return err
	}
	i := slices.IndexFunc(runs, func(r run) bool { return r.tag == "pre" })
	if i < 0 {
		return errors.New("there is no list")
	}
	shown := strings.Split(runs[i].text, "\n")
	if len(shown) != last-first+1 {
		return fmt.Errorf("%d lines, want %d to %d", len(shown), first, last)
	}
	whole := 0
	for i, line := range shown {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "✓ "), "❌ ")
		want := fmt.Sprintf("%d. %s", first+i, cards.Neutral(row.Request.Card.Lines[first+i-1]))
		begin, _, cut := strings.Cut(line, " … (cut: ")
		switch {
		case line == want:
			whole++
		case cut && strings.HasPrefix(want, begin): // and it says so
		case redact && strings.Contains(line, "[masked]") && strings.HasPrefix(line, want[:strings.Index(want, " ")+1]):
			whole++ // or cut as well
		default:
			return fmt.Errorf("line %q, want %q", line, want)
		}
	}
	if whole < full || whole > full && !redact {
		return fmt.Errorf("%d lines are whole, said to be %d", whole, full)
	}
	return nil
}

// TestOwnButtonsCannotBeImitated: whatever a runtime sends, a button that reads
// like one of ours is one of ours.
func TestOwnButtonsCannotBeImitated(t *testing.T) {
	ours := map[string]byte{
		"Approve": 'a', "Reject": 'r', "Cancel": 'c', "Undo": 'u', "Exact call": 'e', "Exact call ✕": 'e', "Exact call 📄": 'e',
		"Whole list": 'w', "◀": 'p', "▶": 'p', "Yes, approve": 'y',
	}
	rapid.Check(t, func(t *rapid.T) {
		v, s := anyView.Draw(t, "view"), anySettings.Draw(t, "settings")
		if rapid.Bool().Draw(t, "imitate") {
			v.Row.Request.Card.Action = rapid.SampledFrom([]string{
				"Yes", "Reject", "CANCEL", "  Undo", "Ｎｏ", "Cаncel", "Re\u200bject", "◀", "▶", "Exact call", "whole  list", "Deny it", "Genehmigt",
				"𝐘𝐞𝐬, go on", "R\u0301eject", "“Cancel”", "Cance1", "CanceI", "🅲🅰🅽🅲🅴🅻", "yes\nno", "Approve",
			}).Draw(t, "action")
		}
		for _, row := range cards.Card(v, s).Keyboard {
			for _, b := range row {
				letter, isOurs := ours[b.Text]
				action := b.Data[0] == cards.LetterAction && v.Row.Request.Kind == approval.ToolCall
				switch {
				case action && isOurs:
					t.Fatalf("the action reads %q", b.Text)
				case action && yesWord.MatchString(b.Text):
					t.Fatalf("the action reads %q", b.Text)
				case !action && isOurs && b.Data[0] != letter:
					t.Fatalf("%q carries %q", b.Text, b.Data)
				}
			}
		}
	})
}

func TestSameInputSameHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, s := anyView.Draw(t, "view"), anySettings.Draw(t, "settings")
		before := cards.Card(v, s)
		later := v
		later.Now = v.Now.Add(time.Second)
		if before.Hash() != cards.Card(later, s).Hash() {
			t.Fatal("a second changes a card that nothing happened to")
		}
		if v.Retired {
			return
		}
		v.Row.Request.Card.Title = "x" + v.Row.Request.Card.Title
		if v.Row.State != approval.Refused && before.Hash() == cards.Card(v, s).Hash() {
			t.Fatal("another title leaves the hash as it was")
		}
	})
}
