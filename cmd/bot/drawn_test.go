package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/config"
)

// touches are how often an approval was marked by a bot as to be looked at, though its
// row had not changed.
func (r *running) touches() (n int) {
	for _, name := range r.life.names() {
		if name == "touch.lua" {
			n++
		}
	}
	return n
}

// knowsTouch has Redis know the script, so that each touch is one step.
func (w *bubble) knowsTouch() {
	w.Helper()
	w.ok(w.store.Touch(context.Background(), "nothing"))
}

// Open cards are looked at where what they depend on has changed, by a reload or while
// no bot ran; else neither a start nor a reload touches them.
func TestOpenCardsAreTouchedOnlyForAChange(t *testing.T) {
	t.Parallel()
	const short = "Too few owners are left to approve this"
	inBubble(t, func(w *bubble) {
		w.knowsTouch()
		w.cfg.Routes = []config.RouteRule{{Chats: []config.Chat{{ID: annID}}, Quorum: 2}}
		first := w.run("one", &life{})
		ids := []string{"a1", "a2", "a3"}
		for _, id := range ids {
			w.ask(id, "iris", time.Hour)
		}
		for _, id := range ids {
			w.has(5*time.Second, annID, id, "Trash it")
		}
		wants := func(when string, r *running, n int) {
			t.Helper()
			w.pass(30 * time.Second)
			if got := r.touches(); got != n {
				t.Errorf("%s %d approvals were touched, want %d", when, got, n)
			}
		}
		wants("after the first start", first, 0)
		first.stop()

		second := w.run("two", &life{})
		wants("after a start like the last", second, 0)
		w.cfg.Routes = []config.RouteRule{{Chats: []config.Chat{{ID: teamID}}, Quorum: 1}}
		w.cfg.People = slices.Clone(w.cfg.People)
		w.cfg.People[0].Name = "Anne"
		w.ok(second.Reload(context.Background(), w.cfg))
		wants("after a reload that concerns no open card", second, 0)
		both := w.cfg.People
		w.cfg.People = []config.Person{both[0], {ID: olgaID, Name: "Olga", Role: config.RoleReader}}
		w.ok(second.Reload(context.Background(), w.cfg))
		wants("after one that took an owner away", second, len(ids))
		for _, id := range ids {
			w.says(time.Second, annID, id, short)
		}
		second.stop()

		w.cfg.People = both
		third := w.run("three", &life{})
		wants("after a start with the owner again", third, len(ids))
		for _, id := range ids {
			if m, _ := w.card(annID, id); m.Text == "" || strings.Contains(m.Text, short) {
				t.Errorf("the card of %s says %q", id, m.Text)
			}
		}
	})
}

// A start that cannot have open cards looked at tries again until it can.
func TestOpenCardsAreTouchedOnceRedisCan(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *bubble) {
		w.knowsTouch()
		first := w.run("one", &life{})
		w.ask("a1", "iris", time.Hour)
		w.has(5*time.Second, annID, "a1", "Trash it")
		first.stop()
		w.cfg.Redact = !w.cfg.Redact
		inVain := 3
		second := w.run("two", &life{at: func(name string) ending {
			if name == "touch.lua" && inVain > 0 {
				inVain--
				return fails
			}
			return goesOn
		}})
		w.pass(5 * time.Second)
		if got := second.touches(); got != 1 {
			t.Errorf("%d tries at once, want one", got)
		}
		w.pass(time.Minute)
		if got := second.touches(); got != 4 {
			t.Errorf("%d tries, want three in vain and one more", got)
		}
	})
}
