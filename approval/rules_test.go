package approval_test

import (
	"slices"
	"testing"
	"time"

	"countersign/approval"
)

func TestStepAllows(t *testing.T) {
	opened := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	c := approval.Confirm{Window: time.Minute, Dwell: 400 * time.Millisecond}
	step := approval.Step{By: 1001, Rev: 7, CardID: "card", OpenedAt: opened, ShownAt: opened.Add(time.Second)}
	hidden := step
	hidden.ShownAt = time.Time{}
	tests := []struct {
		name  string
		step  *approval.Step
		user  int64
		card  string
		rev   int64
		after time.Duration // since the step was opened
		want  approval.Verdict
	}{
		{"the same person in time", &step, 1001, "card", 7, 2 * time.Second, approval.Allowed},
		{"at the end of the dwell", &step, 1001, "card", 7, 1400 * time.Millisecond, approval.Allowed},
		{"at the end of the window", &step, 1001, "card", 7, time.Minute, approval.Allowed},
		{"no step", nil, 1001, "card", 7, 2 * time.Second, approval.NoStep},
		{"another person", &step, 1002, "card", 7, 2 * time.Second, approval.OtherPerson},
		{"an earlier step", &step, 1001, "card", 6, 2 * time.Second, approval.OldStep},
		{"another card", &step, 1001, "other", 7, 2 * time.Second, approval.OldStep},
		{"not shown yet", &hidden, 1001, "card", 7, 2 * time.Second, approval.NotShown},
		{"within the dwell", &step, 1001, "card", 7, 1399 * time.Millisecond, approval.TooSoon},
		{"after the window", &step, 1001, "card", 7, time.Minute + 1, approval.WindowOver},
		{"another person after the window", &step, 1002, "card", 7, time.Hour, approval.WindowOver},
	}
	for _, tt := range tests {
		now := opened.Add(tt.after)
		if got := approval.StepAllows(tt.step, tt.user, tt.card, tt.rev, c, now); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		open := tt.step != nil && tt.want != approval.WindowOver
		if got := tt.step.OpenAt(now, c.Window); got != open {
			t.Errorf("%s: open %v, want %v", tt.name, got, open)
		}
	}
}

func TestCanUndo(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	row := func(change func(*approval.Row)) approval.Row {
		r := approval.Row{
			State: approval.Executed, UndoUntil: now.Add(1),
			Request: &approval.Request{Card: approval.Card{UndoTool: "untrash"}},
		}
		change(&r)
		return r
	}
	tests := []struct {
		name   string
		change func(*approval.Row)
		want   bool
	}{
		{"executed", func(*approval.Row) {}, true},
		{"partial", func(r *approval.Row) { r.State = approval.Partial }, true},
		{"failed", func(r *approval.Row) { r.State = approval.Failed }, false},
		{"only approved", func(r *approval.Row) { r.State = approval.Approved }, false},
		{"undone", func(r *approval.Row) { r.State = approval.Undone }, false},
		{"no tool for it", func(r *approval.Row) { r.Request.Card.UndoTool = "" }, false},
		{"nothing readable", func(r *approval.Row) { r.Request = nil }, false},
		{"asked for already", func(r *approval.Row) { r.Undo = &approval.By{} }, false},
		{"too late", func(r *approval.Row) { r.UndoUntil = now }, false},
		{"never offered", func(r *approval.Row) { r.UndoUntil = time.Time{} }, false},
	}
	for _, tt := range tests {
		if r := row(tt.change); r.CanUndo(now) != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, !tt.want, tt.want)
		}
	}
}

func TestRowWords(t *testing.T) {
	r := approval.Row{ID: "a1", Owners: []int64{1001, 1002}}
	if r.Title() != "a1" || r.Action() != "a1" {
		t.Errorf("a row without a request is called %q and %q", r.Title(), r.Action())
	}
	r.Request = &approval.Request{
		Card:  approval.Card{Title: "Trash 3 emails"},
		Calls: []approval.Call{{Tool: "a"}, {Tool: "b"}, {Tool: "a"}},
	}
	if r.Title() != "Trash 3 emails" || r.Action() != "Trash 3 emails" {
		t.Errorf("without an action it is called %q and %q", r.Title(), r.Action())
	}
	r.Request.Card.Action = "Trash"
	if r.Action() != "Trash" {
		t.Errorf("action %q", r.Action())
	}
	if !r.OwnedBy(1002) || r.OwnedBy(1003) {
		t.Error("OwnedBy knows other owners than were fixed")
	}
	if got := r.Request.Tools(); !slices.Equal(got, []string{"a", "b", "a"}) {
		t.Errorf("tools %v", got)
	}
}

func TestWasApproved(t *testing.T) {
	for state, want := range map[approval.State]bool{
		approval.Requested: false, approval.Open: false, approval.Rejected: false, approval.Lapsed: false,
		approval.Withdrawn: false, approval.Refused: false, approval.State("new"): false,
		approval.Approved: true, approval.Claimed: true, approval.Executed: true, approval.Failed: true,
		approval.Partial: true, approval.Undone: true,
	} {
		if got := state.WasApproved(); got != want {
			t.Errorf("%s: %v", state, got)
		}
	}
}
