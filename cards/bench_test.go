package cards_test

import (
	"strings"
	"testing"

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
