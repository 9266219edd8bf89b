package cards_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/cards"
)

// largest are the largest lists that a request can carry.
func largest() map[string]*approval.Row {
	rows := map[string]*approval.Row{}
	for name, line := range map[string]string{
		"plain":   strings.Repeat("a line ", 6),
		"accents": strings.Repeat("é\u200b ", 10),
		"secrets": "token: " + strings.Repeat("x", 20) + " https://u:p@h/",
	} {
		row := simple()
		for range 4997 {
			row.Request.Card.Lines = append(row.Request.Card.Lines, line)
		}
		rows[name] = row
	}
	return rows
}

// BenchmarkCard draws a page of the largest lists, measured anew and remembered.
func BenchmarkCard(b *testing.B) {
	for name, row := range largest() {
		for memory, layouts := range map[string]*cards.Layouts{"anew": nil, "remembered": new(cards.Layouts)} {
			b.Run(name+"/"+memory, func(b *testing.B) {
				v := cards.View{Row: row, CardID: "c", Page: 60, Now: now}
				for b.Loop() {
					cards.Card(v, cards.Settings{Redact: true, Layouts: layouts})
				}
			})
		}
	}
}

// BenchmarkUsual draws cards of the usual size in the states that they go through, as
// the bot does.
func BenchmarkUsual(b *testing.B) {
	usual := func(lines ...string) *approval.Row {
		row := simple()
		row.Tier = "destroy"
		r := row.Request
		r.Runtime = "bench"
		r.Calls = []approval.Call{{Tool: "trash_emails", Arguments: []byte(`{"ids":["18f2a","18f2b","18f2c"]}`)}}
		r.Card = approval.Card{
			Title: "Trash 3 emails k000001k", Lines: lines, UndoTool: "untrash_emails", UndoDays: 30,
			Request: "clear out the newsletters of last month",
		}
		return row
	}
	three := []string{
		"Your invoice for September, from billing@example.com, 1 September",
		"Weekly digest, from news@example.org, 2 September",
		"You have 3 new followers, from social@example.net, 3 September",
	}
	var fifty []string
	for i := range 50 {
		fifty = append(fifty, fmt.Sprintf("Message %d from a newsletter: what you missed this week, and more", i+1))
	}
	russian := usual("Ваш счёт за сентябрь, от billing@example.com, 1 сентября", "Новости недели, от news@example.org, 2 сентября", "У вас 3 новых читателя, от social@example.net, 3 сентября")
	russian.Request.Card.Title, russian.Request.Card.Request = "Удалить 3 письма", "убери рассылки за прошлый месяц"
	russian.Request.Calls[0].Arguments = []byte(`{"ids":["18f2a"],"note":"письма за сентябрь"}`)

	step := &approval.Step{By: 1001, Name: "Ann", Rev: 8, CardID: "Zm9vYmFyYmF6cXV4"}
	done := usual(three...)
	done.State, done.AnswerAt = approval.Executed, now
	done.Answer = &approval.Answer{Decision: approval.DecisionApproved, By: person("Ann"), At: now}
	done.Report = &approval.Report{Outcome: approval.Executed}
	done.UndoUntil = now.Add(24 * time.Hour)

	for _, c := range []struct {
		name string
		view cards.View
	}{
		{"small", cards.View{Row: usual(three...)}},
		{"step", cards.View{Row: usual(three...), Step: step}},
		{"executed", cards.View{Row: done}},
		{"exact", cards.View{Row: usual(three...), Exact: true}},
		{"fifty", cards.View{Row: usual(fifty...)}},
		{"russian", cards.View{Row: russian}},
	} {
		v := c.view
		v.CardID, v.Now = "Zm9vYmFyYmF6cXV4", now
		s := cards.Settings{
			TimeTag: true, Redact: true, ReplyWords: []string{"approve", "reject", "deny"}, Layouts: new(cards.Layouts),
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cards.Card(v, s).Hash()
			}
		})
	}
	// In a flood of requests every one is new.
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		row, layouts := usual(three...), new(cards.Layouts)
		n := 0
		for b.Loop() {
			n++
			row.Request.Calls[0].Arguments = fmt.Appendf(nil, `{"ids":["18f2a","18f2b","%d"]}`, n)
			cards.Card(cards.View{Row: row, CardID: "Zm9vYmFyYmF6cXV4", Now: now}, cards.Settings{
				TimeTag: true, Redact: true, ReplyWords: []string{"approve", "reject", "deny"}, Layouts: layouts,
			}).Hash()
		}
	})
}
