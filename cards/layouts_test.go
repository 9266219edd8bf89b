package cards_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
)

// TestRememberedLayoutsAreTheSame: a card drawn with a memory that holds other
// rows, and this very one in another state, is the card drawn without.
func TestRememberedLayoutsAreTheSame(t *testing.T) {
	layouts := new(cards.Layouts)
	rapid.Check(t, func(t *rapid.T) {
		v, s := anyView.Draw(t, "view"), anySettings.Draw(t, "settings")
		for len(v.Row.Request.Card.Lines) < 110 { // few lines are not remembered
			v.Row.Request.Card.Lines = append(v.Row.Request.Card.Lines, rapid.SampledFrom(hostile).Draw(t, "line"))
		}
		want := cards.Card(v, s)
		s.Layouts = layouts
		for range 2 {
			if diff := cmp.Diff(want, cards.Card(v, s)); diff != "" {
				t.Fatalf("drawn from memory (-want +got):\n%s", diff)
			}
		}
		// One character more is another list.
		v.Row.Request.Card.Lines[rapid.IntRange(0, 100).Draw(t, "at")] += "\u200b and more"
		got := cards.Card(v, s)
		s.Layouts = nil
		if diff := cmp.Diff(cards.Card(v, s), got); diff != "" {
			t.Fatalf("another list (-want +got):\n%s", diff)
		}
	})
}

// TestLongListsAreMeasuredOnce: the page of a remembered list is drawn without
// looking at all the others.
func TestLongListsAreMeasuredOnce(t *testing.T) {
	for name, row := range largest() {
		t.Run(name, func(t *testing.T) {
			v := cards.View{Row: row, CardID: "c", Page: 60, Now: now}
			s := cards.Settings{Redact: true, Layouts: new(cards.Layouts)}
			first := testing.AllocsPerRun(1, func() { cards.Card(v, cards.Settings{Redact: true}) })
			again := testing.AllocsPerRun(5, func() { cards.Card(v, s) })
			if most := max(first/5, 25); again > most { // plain lines are measured without any
				t.Errorf("%.0f allocations for a page, %.0f when all is measured", again, first)
			}
		})
	}
}

// TestLayoutsAreForgotten: a memory that has seen many lists holds few of them,
// and those that are asked for stay.
func TestLayoutsAreForgotten(t *testing.T) {
	s := cards.Settings{Layouts: new(cards.Layouts)}
	list := func(i int) *approval.Row {
		row := simple()
		for k := range 120 {
			row.Request.Card.Lines = append(row.Request.Card.Lines, fmt.Sprint(i, k))
		}
		return row
	}
	for i := range 2000 {
		cards.Pages(list(i), s)
		cards.Pages(list(0), s)
	}
	if n := s.Layouts.Len(); n > 512 {
		t.Errorf("%d layouts are remembered", n)
	}
	if !s.Layouts.Has(list(0), s) || s.Layouts.Has(list(1), s) {
		t.Error("what is asked for was forgotten, or what is not remembered")
	}
}

func TestLayoutsAtOnce(t *testing.T) {
	s := cards.Settings{Layouts: new(cards.Layouts)}
	var group sync.WaitGroup
	for _, row := range largest() {
		for range 3 {
			group.Go(func() { cards.Card(cards.View{Row: row, CardID: "c", Now: now}, s) })
		}
	}
	group.Wait()
	if n := s.Layouts.Len(); n != len(largest()) {
		t.Errorf("%d layouts of %d lists", n, len(largest()))
	}
}
