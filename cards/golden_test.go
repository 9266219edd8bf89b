package cards_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"countersign/approval"
	"countersign/cards"
)

var update = flag.Bool("update", false, "write what is drawn into the golden files")

// now is when every golden card is drawn; opened and closing belong to its row.
var (
	opened  = time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	now     = opened.Add(2 * time.Minute)
	closing = opened.Add(time.Hour)
)

// A request is what a runtime sends, as far as cards look at it.
type request struct {
	ID        string          `json:"approval_id"`
	Kind      approval.Kind   `json:"kind"`
	Runtime   string          `json:"runtime"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Calls     []struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"calls"`
	Effect approval.Effect `json:"effect"`
	Card   struct {
		Title    string   `json:"title"`
		Action   string   `json:"action"`
		Lines    []string `json:"lines"`
		UndoTool string   `json:"undo_tool"`
		UndoDays int      `json:"undo_window_days"`
		Request  string   `json:"request"`
		Summary  string   `json:"summary"`
	} `json:"card"`
}

// A scene is the rest of what a golden case says: where the row stands, and how
// its card is looked at.
type scene struct {
	State  approval.State
	Quorum int
	Tier   string
	By     *approval.By
	Others []approval.By // who approved, under a quorum
	Reason string
	Report *approval.Report
	Undo   *approval.By
	Count  int // this many lines more, made up

	Page            int
	Exact           bool
	Reader          bool
	Retired         bool
	Astray          bool
	Step            string // who is confirming
	Elsewhere       bool   // on another card
	Votes           []string
	Opened, OfLines int
	Short           int
	PlainTime       bool
	NoRedact        bool
	NoUnseen        bool
	Late            bool // a day after the report
	Unread          bool // its request could not be read
	Seal            approval.Seal
	Forgotten       bool
	Approve, Reject string
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files: %v, %d found", err, len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			v, s := read(t, archive)
			got := drawn(t, cards.Card(v, s))
			want := section(archive, "card")
			if *update {
				set(archive, "card", got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("card (-want +got):\n%s", d)
			}
		})
	}
}

// read makes the view that a golden file describes.
func read(t *testing.T, archive *txtar.Archive) (cards.View, cards.Settings) {
	t.Helper()
	var q request
	strict(t, section(archive, "request"), &q)
	var sc scene
	strict(t, section(archive, "view"), &sc)
	row := q.row()
	sc.apply(row)
	v := cards.View{
		Row: row, CardID: "Zm9vYmFyYmF6cXV4", Page: sc.Page, Exact: sc.Exact, Reader: sc.Reader, Retired: sc.Retired,
		Astray: sc.Astray, Opened: sc.Opened, OfLines: sc.OfLines, Short: sc.Short, Now: now,
	}
	if sc.Late {
		v.Now = now.Add(24 * time.Hour)
	}
	if sc.Step != "" {
		v.Step = &approval.Step{By: 1001, Name: sc.Step, Rev: 6, CardID: v.CardID}
		if sc.Elsewhere {
			v.Step.CardID = "another"
		}
	}
	for i, name := range sc.Votes {
		v.Votes = append(v.Votes, approval.Vote{By: person(name), User: int64(1001 + i), At: now})
	}
	s := cards.Settings{TimeTag: !sc.PlainTime, Redact: !sc.NoRedact, ReplyWords: []string{"approve", "reject", "deny"}}
	s.Confirm.NoUnseen = sc.NoUnseen
	s.ApproveWord, s.RejectWord = sc.Approve, sc.Reject
	if sc.Unread {
		row.Request = nil
	}
	row.Seal = sc.Seal
	if sc.Forgotten {
		row.Request, row.Forgotten = nil, now
	}
	return v, s
}

func (q request) row() *approval.Row {
	r := &approval.Request{
		ID: q.ID, Kind: q.Kind, Runtime: q.Runtime, Effect: q.Effect,
		Card: approval.Card{
			Title: q.Card.Title, Action: q.Card.Action, Lines: q.Card.Lines, UndoTool: q.Card.UndoTool,
			UndoDays: q.Card.UndoDays, Request: q.Card.Request, Summary: q.Card.Summary,
		},
	}
	if r.Kind == "" {
		r.Kind = approval.ToolCall
	}
	if r.Effect == "" {
		r.Effect = approval.Destructive
	}
	if q.Tool != "" {
		r.Calls = []approval.Call{{Tool: q.Tool, Arguments: q.Arguments}}
	}
	for _, c := range q.Calls {
		r.Calls = append(r.Calls, approval.Call{Tool: c.Tool, Arguments: c.Arguments})
	}
	return &approval.Row{
		ID: q.ID, State: approval.Open, Ref: "K7QF2", Rev: 7, Pin: "sha256:" + strings.Repeat("ab12", 16),
		OpenedAt: opened, ExpiresAt: closing, Owners: []int64{1001, 1003}, Quorum: 1, Request: r,
	}
}

func (sc scene) apply(row *approval.Row) {
	if sc.State != "" {
		row.State = sc.State
	}
	if sc.Quorum > 0 {
		row.Quorum = sc.Quorum
	}
	row.Tier = sc.Tier
	for i := range sc.Count {
		row.Request.Card.Lines = append(row.Request.Card.Lines,
			fmt.Sprintf("Message %d from a newsletter: what you missed this week, and more", i+1))
	}
	if row.State == approval.Open {
		return
	}
	row.AnswerAt = now
	row.Answer = &approval.Answer{ID: row.ID, Reason: sc.Reason, Approvals: sc.Others, At: now}
	if row.State.WasApproved() {
		row.Answer.Decision = approval.DecisionApproved
	} else {
		row.Answer.Decision = approval.Decision(row.State)
	}
	if sc.By != nil {
		row.Answer.By = *sc.By
	}
	if row.State == approval.Claimed {
		row.Claim = &approval.ClaimRecord{By: "worker-1", At: now}
	}
	row.Undo = sc.Undo
	if row.Report = sc.Report; row.Report != nil {
		row.ReportAt = now
		row.UndoUntil = now.Add(time.Hour)
	}
}

func person(name string) approval.By {
	return approval.By{Surface: approval.Telegram, ID: "1001", Name: name, Method: approval.Button}
}

// drawn is m as a person would see it: formatting made readable, buttons as rows.
func drawn(t *testing.T, m cards.Message) string {
	t.Helper()
	_, readable, _, err := parseHTML(m.HTML)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, m.HTML)
	}
	var b strings.Builder
	b.WriteString(readable + "\n---\n")
	for _, row := range m.Keyboard {
		for i, button := range row {
			if i > 0 {
				b.WriteString(" ")
			}
			fmt.Fprintf(&b, "[ %s ] %s", button.Text, button.Data)
			if button.Style != "" {
				b.WriteString(" " + button.Style)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func section(archive *txtar.Archive, name string) []byte {
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func set(archive *txtar.Archive, name, content string) {
	for i, f := range archive.Files {
		if f.Name == name {
			archive.Files[i].Data = []byte(content)
			return
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(content)})
}

func strict(t *testing.T, data []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in:\n%s", err, data)
	}
}
