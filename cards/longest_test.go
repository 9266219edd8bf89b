package cards_test

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign/approval"
	"countersign/cards"
)

// TestLongestCards draws every state with every text at its limit, and longer
// where no limit is set: the room that is kept free on a page is enough.
func TestLongestCards(t *testing.T) {
	longest := 0
	for _, word := range []string{"x", "&", "@ann", "\ufffd", "\U0010ffff", "a@b.example"} {
		long := strings.Repeat(word, 2500/len(word))
		cut := func(n int) string { return string([]rune(long)[:min(n, len([]rune(long)))]) }
		for _, kind := range []approval.Kind{approval.ToolCall, approval.Halt} {
			row := simple()
			r := row.Request
			r.Kind, r.Runtime = kind, cut(200)
			r.Card = approval.Card{
				Title: cut(200), Action: cut(60), UndoTool: long, UndoDays: 3650, Request: cut(2000), Summary: cut(2000),
				Lines: []string{cut(1000), cut(1000), cut(1000), cut(100), cut(10)},
			}
			row.Quorum, row.Tier = 3, long
			by := approval.By{Surface: approval.CLI, ID: long, Name: long}
			bys := []approval.By{by, by, by, by, by}
			var votes []approval.Vote
			for range bys {
				votes = append(votes, approval.Vote{By: by})
			}
			for room := range 16 { // exact calls of many lengths: one will just fit
				args, err := json.Marshal(map[string]string{"a": strings.Repeat("x", 150*room)})
				if err != nil {
					t.Fatal(err)
				}
				if r.Calls = nil; kind == approval.ToolCall {
					r.Calls = []approval.Call{{Tool: cut(100), Arguments: args}}
				}
				step := &approval.Step{Name: long, CardID: "c"}
				open := cards.View{Row: row, CardID: "c", Step: step, Votes: votes, Exact: true, OfLines: 5000, Short: -1, Now: now, Page: room % 4}
				done := *row
				done.State, done.AnswerAt, done.UndoUntil, done.Undo = approval.Partial, now, closing, &by
				done.Answer = &approval.Answer{Decision: approval.DecisionApproved, By: by, Reason: long, Approvals: bys}
				done.Report = &approval.Report{Outcome: approval.Partial, Message: long}
				for i := range 5 {
					done.Report.Results = append(done.Report.Results, approval.Result{Line: i + 1, Detail: long})
				}
				final := cards.View{Row: &done, CardID: "c", Exact: true, Now: now, Page: room % 4}
				for _, v := range []cards.View{open, final} {
					m := cards.Card(v, cards.Settings{Redact: true, TimeTag: true})
					if err := checkMessage(m); err != nil {
						t.Fatalf("%q: %v", word, err)
					}
					longest = max(longest, m.Units)
				}
			}
		}
	}
	if longest < 3600 {
		t.Errorf("the longest card has %d characters: nothing was near the limit", longest)
	}
	t.Logf("the longest card has %d characters", longest)
}
