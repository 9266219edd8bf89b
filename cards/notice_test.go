package cards_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"countersign/approval"
	"countersign/cards"
)

// TestNotices draws every message that is no card into one golden file.
func TestNotices(t *testing.T) {
	const file = "testdata/notices/notices.txtar"
	s := cards.Settings{TimeTag: true, Confirm: approval.Confirm{Window: time.Minute}}
	row := simple()
	row.Request.Card.UndoTool, row.Request.Card.UndoDays = "restore_email", 1
	step := &approval.Step{By: 1001, Name: "Ann"}
	halt := simple()
	halt.Request.Kind, halt.Request.Card = approval.Halt, approval.Card{Title: "The run may have left its task", Summary: "It opens payroll."}
	many := make([]*approval.Row, 23)
	for i := range many {
		many[i] = simple()
		many[i].Ref = fmt.Sprintf("AAA%02d", i)
		many[i].Request.Card.Title = fmt.Sprintf("Trash %d emails", i)
	}
	soon := simple()
	soon.ExpiresAt = now.Add(90 * time.Second)
	later := simple()
	later.ExpiresAt = now.Add(75*time.Hour + 10*time.Minute)
	lapsed := simple()
	lapsed.State = approval.Lapsed
	open := []cards.Listed{{Row: soon, Link: "https://t.me/c/123/45"}, {Row: row}, {Row: later, Link: "javascript:alert(1)"}}
	lots := make([]cards.Listed, 120)
	for i := range lots {
		lots[i] = cards.Listed{Row: row}
	}

	archive := &txtar.Archive{}
	for _, n := range []struct {
		name string
		m    cards.Message
	}{
		{"question", cards.Question(cards.View{Row: row, Step: step, Opened: 1, OfLines: 3, Now: now}, s)},
		{"question-halt", cards.Question(cards.View{Row: halt, Step: step, Now: now}, s)},
		{"lapse", cards.LapseNotice(row, s)},
		{"lapse-shared", cards.SharedLapse(many, 30, s)},
		{"lapse-shared-few", cards.SharedLapse(many[:6], 6, s)},
		{"reminder", cards.Reminder(row, closing.Add(-10*time.Minute), s)},
		{"ran-unapproved", cards.RanUnapproved(row, approval.Executed, s)},
		{"tampered", cards.Tampered(&approval.Row{ID: row.ID, State: approval.Refused}, s)},
		{"tampered-late", cards.Tampered(&approval.Row{ID: row.ID, State: approval.Claimed}, s)},
		{"looser", cards.Looser([]string{"runtime iris*: always pass now: read_calendar, @everyone, wipe\u202e"}, s)},
		{"looser-lots", cards.Looser(slices.Repeat([]string{strings.Repeat("all of it passes now, ", 30)}, 14), s)},
		{"here", cards.Here()},
		{"pending", cards.Pending(listing(open...), listing(cards.Listed{Row: lapsed}), now, s)},
		{"pending-none", cards.Pending(listing(), listing(), now, s)},
		{"pending-lots", cards.Pending(listing(lots...), listing(lots...), now, s)},
		{"pending-more", cards.More(cards.ListOpen, cards.Listing{Items: lots[:3], From: 40, Of: 44}, now, s)},
		{"which", cards.Which(listing(open[:2]...), now, s)},
		{"help", cards.Help(s)},
		{"not-a-word", cards.NotAWord(s)},
		{"start-owner", cards.Start(1001, "Ann", "owner", s)},
		{"start-stranger", cards.Start(4711, "Mallory @ann", "", s)},
		{"note", cards.Note(cards.Already(&approval.Row{State: approval.Lapsed, AnswerAt: now}, now, s))},
	} {
		if err := checkMessage(n.m); err != nil {
			t.Errorf("%s: %v", n.name, err)
		}
		if err := checkKept(n.m); err != nil {
			t.Errorf("%s: %v", n.name, err)
		}
		archive.Files = append(archive.Files, txtar.File{Name: n.name, Data: []byte(strings.TrimSuffix(drawn(t, n.m), "---\n"))})
	}
	name, list := cards.WholeList(row, true)
	archive.Files = append(archive.Files, txtar.File{Name: "file " + name, Data: list})
	got := string(txtar.Format(archive))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("notices (-want +got):\n%s", d)
	}
}

func TestAlready(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	s := cards.Settings{Location: berlin}
	for _, c := range []struct {
		state approval.State
		by    approval.By
		now   time.Time
		want  string
	}{
		{approval.Open, approval.By{}, now, ""},
		{approval.Approved, person("Ann"), now, "Already approved by Ann at 14:02 CET."},
		{approval.Executed, person("Ann"), now.Add(24 * time.Hour), "Already approved by Ann at 1 Mar 2026 14:02 CET."},
		{approval.Rejected, approval.By{Surface: approval.CLI, Name: "root"}, now, "Already rejected by root at the command line at 14:02 CET."},
		{approval.Approved, approval.By{Surface: approval.Telegram, ID: "1001"}, now, "Already approved by 1001 at 14:02 CET."},
		{approval.Approved, approval.By{Surface: approval.Policy, ID: "1"}, now, "Already approved by policy at 14:02 CET."},
		{approval.Lapsed, approval.By{}, now, "This lapsed at 14:02 CET. Nothing was changed, sent or deleted."},
		{approval.Withdrawn, approval.By{}, now, "The runtime withdrew this at 14:02 CET."},
		{approval.Refused, approval.By{}, now, "This was refused at 14:02 CET."},
	} {
		row := simple()
		row.State, row.AnswerAt = c.state, now
		if c.state != approval.Open {
			row.Answer = &approval.Answer{Decision: approval.Decision(c.state), By: c.by}
			if c.state.WasApproved() {
				row.Answer.Decision = approval.DecisionApproved
			}
		}
		if got := cards.Already(row, c.now, s); got != c.want {
			t.Errorf("%s: %q, want %q", c.state, got, c.want)
		}
	}
}

// TestToastsFit: an answer to a tap holds at most 200 characters, and says
// something different for every reason.
func TestToastsFit(t *testing.T) {
	long := strings.Repeat("Ann \u200b\u200c", 100)
	step := &approval.Step{Name: long}
	row := simple()
	row.State, row.Answer = approval.Rejected, &approval.Answer{Decision: approval.DecisionRejected, By: person(long)}
	s := cards.Settings{}
	seen := map[string]int{}
	for i, toast := range []string{
		cards.ToastNotAllowed, cards.ToastReader, cards.ToastStranger, cards.ToastUnknown, cards.ToastTrying, cards.ToastStale, cards.ToastRetired,
		cards.ToastSameStep, cards.ToastNoUndo, cards.ToastFile, cards.ToastApproved, cards.ToastRejected, cards.ToastCancelled,
		cards.Already(row, now, s), cards.Late(row, now, s), cards.Unseen(1, 5000), cards.Voted(1, 2, true), cards.Voted(1, 2, false),
		cards.UndoAsked(person(long)), cards.Confirming(step),
		cards.NotConfirmed(approval.NoStep, nil), cards.NotConfirmed(approval.OldStep, step), cards.NotConfirmed(approval.NotShown, step),
		cards.NotConfirmed(approval.TooSoon, step), cards.NotConfirmed(approval.WindowOver, step),
	} {
		if n := utf16Len(toast); n == 0 || n > 200 {
			t.Errorf("%q has %d characters", toast, n)
		}
		if j, twice := seen[toast]; twice {
			t.Errorf("%d and %d both say %q", j, i, toast)
		}
		seen[toast] = i
	}
	if got := cards.NotConfirmed(approval.Allowed, step); got != "" {
		t.Errorf("a Yes that counts is answered %q", got)
	}
	if got := cards.NotConfirmed(approval.OtherPerson, step); got != cards.Confirming(step) {
		t.Errorf("another person is told %q", got)
	}
}

// listing is a list of all there are.
func listing(items ...cards.Listed) cards.Listing {
	return cards.Listing{Items: items, Of: len(items)}
}
