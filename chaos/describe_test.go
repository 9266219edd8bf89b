package main

import (
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/chaos/verdict"
)

// The bot's messages are told apart by their words, and cards by what they say,
// whatever the words are: here they are the bot's own.
func TestDescribe(t *testing.T) {
	noon := time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC)
	row := func(s approval.State, d approval.Decision) *approval.Row {
		r := &approval.Row{
			ID: "c00012", State: s, Ref: "K7QF2", Rev: 3, OpenedAt: noon, ExpiresAt: noon.Add(time.Hour), Quorum: 1,
			Request: &approval.Request{
				ID: "c00012", Kind: approval.ToolCall, Runtime: "ann", Effect: approval.Destructive,
				Calls: []approval.Call{{Tool: "trash_email", Arguments: []byte(`{}`)}},
				Card:  approval.Card{Title: "Trash the mail of c00012", Action: "Trash c00012", Lines: []string{"Mail"}},
			},
		}
		if s != approval.Open {
			r.AnswerAt = noon
			r.Answer = &approval.Answer{ID: r.ID, Decision: d, At: noon, By: approval.By{Surface: approval.Telegram, ID: "1001", Name: "Ann"}}
		}
		return r
	}
	open := row(approval.Open, "")
	card := func(r *approval.Row, change func(*cards.View)) cards.Message {
		v := cards.View{Row: r, CardID: "abc", Now: noon}
		if change != nil {
			change(&v)
		}
		return cards.Card(v, cards.Settings{})
	}
	step := &approval.Step{By: 1001, Name: "Ann", Rev: 3, OpenedAt: noon, CardID: "abc"}
	lapsed := row(approval.Lapsed, approval.DecisionLapsed)
	for _, c := range []struct {
		name    string
		message cards.Message
		kind    string
		over    bool
	}{
		{"open", card(open, nil), verdict.ACard, false},
		{"confirming", card(open, func(v *cards.View) { v.Step = step }), verdict.ACard, false},
		{"shown again", card(open, func(v *cards.View) { v.Retired = true }), verdict.ACard, false},
		{"approved", card(row(approval.Approved, approval.DecisionApproved), nil), verdict.ACard, true},
		{"rejected", card(row(approval.Rejected, approval.DecisionRejected), nil), verdict.ACard, true},
		{"lapsed", card(lapsed, nil), verdict.ACard, true},
		{"withdrawn", card(row(approval.Withdrawn, approval.DecisionWithdrawn), nil), verdict.ACard, true},
		{"refused", card(row(approval.Refused, approval.DecisionRefused), nil), verdict.ACard, true},
		{"notice", cards.LapseNotice(lapsed, cards.Settings{}), verdict.ANotice, false},
		{"shared notice", cards.SharedLapse([]*approval.Row{lapsed}, 30, cards.Settings{}), verdict.AShared, false},
		{"reminder", cards.Reminder(open, noon, cards.Settings{}), verdict.AReminder, false},
		{"question", cards.Question(cards.View{Row: open, Step: step, CardID: "abc", Now: noon}, cards.Settings{}), verdict.AWord, false},
	} {
		var data []string
		for _, line := range c.message.Keyboard {
			for _, b := range line {
				data = append(data, b.Data)
			}
		}
		id, kind, badge := describe(plain(c.message.HTML), data)
		if kind != c.kind || id != "c00012" && c.kind != verdict.AShared {
			t.Errorf("%s is taken for a %s of %q: %s", c.name, kind, id, badge)
		}
		if got := outcome.MatchString(badge); got != c.over {
			t.Errorf("%s: over is %v: %s", c.name, got, badge)
		}
		if c.name == "question" && !strings.Contains(plain(c.message.HTML), asksForYes) {
			t.Errorf("the question says %q", plain(c.message.HTML))
		}
	}
}
