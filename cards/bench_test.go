package cards_test

import (
	"strings"
	"testing"

	"countersign/cards"
)

// BenchmarkCard draws the largest list a request can carry.
func BenchmarkCard(b *testing.B) {
	for name, line := range map[string]string{
		"plain":   strings.Repeat("a line ", 6),
		"accents": strings.Repeat("é\u200b ", 10),
		"secrets": "token: " + strings.Repeat("x", 20) + " https://u:p@h/",
	} {
		b.Run(name, func(b *testing.B) {
			row := simple()
			for range 4997 {
				row.Request.Card.Lines = append(row.Request.Card.Lines, line)
			}
			v := cards.View{Row: row, CardID: "c", Page: 60, Now: now}
			for b.Loop() {
				cards.Card(v, cards.Settings{Redact: true})
			}
		})
	}
}
