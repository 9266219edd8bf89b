package handlers_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"countersign/cards"
	"countersign/store/storetest"
	"countersign/telegram"
)

// TestPagesTurnedBySeveralAtOnce: people who turn the pages of one card at the same
// time hold each other up in nothing, each is credited with what they turned to and
// no more, and nobody answers by it.
func TestPagesTurnedBySeveralAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("line %d", i+1))
	}
	c := s.openAs(storetest.Request("a1", storetest.WithCard(map[string]any{"lines": lines})), in(group))
	turned := map[int64][]int{ann: {1, 2, 3}, ben: {3, 7}, dora: {11}, rita: {5, 2}}
	var updates []telegram.RawUpdate
	for who, pages := range turned {
		for _, page := range pages {
			updates = append(updates, s.tapped(c, who, s.press("a1", c, cards.LetterPage, page)))
		}
	}
	var all sync.WaitGroup
	for _, u := range updates {
		all.Go(func() {
			if err := s.h.Handle(t.Context(), []telegram.RawUpdate{u}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.h.Wait()
	r := s.read("a1")
	for who, pages := range turned {
		seen, file := r.SeenBy(who)
		slices.Sort(seen)
		for _, page := range pages {
			if !slices.Contains(seen, page) {
				t.Errorf("%d turned to page %d, and has seen %v", who, page, seen)
			}
		}
		if file || len(slices.Compact(seen)) == cards.Pages(r.Row, cards.Settings{}) {
			t.Errorf("%d has seen all: %v", who, seen)
		}
	}
	if at := r.Card(c.ID).Page; !slices.Contains(slices.Concat(turned[ann], turned[ben], turned[dora], turned[rita]), at) {
		t.Errorf("the card is at page %d, which nobody turned to", at)
	}
	if answered := s.voice.answered(); len(answered) != len(updates) || slices.ContainsFunc(answered, func(a string) bool { return a != "" }) {
		t.Errorf("answered %q", answered)
	}
	if r.Step != nil || r.Row.Answer != nil {
		t.Error("turning pages decided something")
	}
}
