//go:build !race

// The race detector would take minutes, and meets the same code in other tests.

package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"countersign/config"
	"countersign/simulator"
)

// soonest is how long so many calls about one chat take at the least, if all can
// be made at once as far as Telegram's limits go.
func soonest(calls int, group bool) time.Duration {
	var at []float64 // seconds, of each call
	tokens, last := 3.0, 0.0
	for i := range calls {
		next := last + max(0, 1-tokens)
		if group && i >= 20 {
			next = max(next, at[i-20]+60)
		}
		tokens = min(3, tokens+next-last) - 1
		last = next
		at = append(at, next)
	}
	return time.Duration(last * float64(time.Second))
}

func TestSoonest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		calls int
		group bool
		want  time.Duration
	}{{3, false, 0}, {4, false, time.Second}, {63, false, time.Minute}, {20, true, 17 * time.Second}, {21, true, time.Minute}, {43, true, 2 * time.Minute}} {
		if got := soonest(c.calls, c.group); got != c.want {
			t.Errorf("%d calls, group %v: %v, want %v", c.calls, c.group, got, c.want)
		}
	}
}

// TestABacklogDrains has 300 cards wait for five chats under Telegram's own
// limits, some of which lapse meanwhile, and owners tap all the time: nothing is
// ever too much for Telegram, no chat takes more than 3 % longer than it must for
// all that is sent and edited there, and each tap is answered within a second.
func TestABacklogDrains(t *testing.T) {
	t.Parallel()
	const each, otherID = 60, int64(-1001234567891)
	chats := []int64{annID, olgaID, benID, teamID, otherID}
	inBubble(t, func(w *bubble) {
		w.sim = simulator.New(simulator.Options{
			Now: time.Now, Token: w.sim.Token(), Username: "countersign_bot", Limits: simulator.TelegramLimits(),
		})
		t.Cleanup(func() { _ = w.sim.Close() })
		taps := map[int64]*simulator.Person{}
		for id, name := range map[int64]string{annID: "Ann", olgaID: "Olga", benID: "Ben"} {
			taps[id] = w.sim.AddUser(id, name)
			taps[id].Start()
		}
		w.sim.AddSupergroup(teamID, "Team", taps[annID], taps[olgaID])
		w.sim.AddSupergroup(otherID, "Other", taps[annID], taps[olgaID])
		taps[teamID], taps[otherID] = taps[annID], taps[olgaID]
		for i := range each * len(chats) {
			expires := 2 * time.Hour
			if i/len(chats)%15 == 7 {
				expires = 40 * time.Second
			}
			w.ask(fmt.Sprintf("a%d", i), fmt.Sprint("to", i%len(chats)), expires)
		}
		began := time.Now()
		w.run("one", &life{})

		type tapped struct {
			id string
			at time.Time
		}
		var open []tapped
		count := 0
		answered := func() {
			for _, tap := range open {
				if _, ok := w.sim.Answer(tap.id); !ok {
					t.Errorf("a tap after %v was not answered within a second", tap.at.Sub(began))
				}
			}
			count += len(open)
			open = nil
		}
		for second := 1; ; second++ {
			w.pass(time.Second)
			answered()
			if w.carded(chats) == each*len(chats) {
				break
			}
			if second > 1200 {
				t.Fatalf("%d cards after twenty minutes", w.carded(chats))
			}
			for i, chat := range chats {
				every := 5
				if chat < 0 {
					every = 20
				}
				if second%every != i%every {
					continue
				}
				if m, button, ok := w.toTap(chat, second); ok {
					open = append(open, tapped{taps[chat].Tap(m, button), time.Now()})
				}
			}
		}
		if count < 100 {
			t.Errorf("only %d taps", count)
		}
		for _, chat := range chats {
			calls, last := w.cardsSent(chat)
			took, least := last.Sub(began), soonest(calls, chat < 0)
			t.Logf("chat %d: %d calls in %v, at least %v", chat, calls, took, least)
			if took.Seconds() > least.Seconds()*1.03 {
				t.Errorf("chat %d took %v, want at most 3 %% more than %v", chat, took, least)
			}
		}
		w.pass(3 * time.Minute) // steps end, and what lapsed is shown
		edits, notices := 0, 0
		for _, c := range w.sim.Calls() {
			switch {
			case c.Code == 429:
				t.Errorf("too much: %s", c)
			case c.Method == "editMessageText":
				edits++
			case c.Method == "sendMessage" && c.Params["reply_parameters"] != nil:
				notices++
			}
		}
		if edits < 100 || notices == 0 {
			t.Errorf("%d edits and %d notices: that is no proof", edits, notices)
		}
		t.Logf("%d taps, %d edits, %d replies", count, edits, notices)
	}, func(c *config.Config) {
		c.Telegram.Limits = config.Default().Telegram.Limits
		c.People = append(c.People, config.Person{ID: benID, Name: "Ben", Role: config.RoleOwner})
		c.Routes = nil
		for i, chat := range chats {
			c.Routes = append(c.Routes, config.RouteRule{
				Match: config.Match{Runtime: fmt.Sprint("to", i)}, Chats: []config.Chat{{ID: chat}}, Quorum: 1,
			})
		}
	})
}

// isCardCall reports whether a call sends a card.
func isCardCall(c simulator.Call) bool {
	return c.Method == "sendMessage" && c.Params["reply_parameters"] == nil && c.Code == 200
}

// carded is how many cards were sent to some chats.
func (w *bubble) carded(chats []int64) (n int) {
	for _, c := range w.sim.Calls("sendMessage") {
		if isCardCall(c) && slices.Contains(chats, c.Int("chat_id")) {
			n++
		}
	}
	return n
}

// cardsSent is how many calls a chat had until its last card was sent, and when
// that was.
func (w *bubble) cardsSent(chat int64) (calls int, last time.Time) {
	n := 0
	for _, c := range w.sim.Calls("sendMessage", "editMessageText") {
		if c.Int("chat_id") != chat {
			continue
		}
		n++
		if isCardCall(c) {
			calls, last = n, c.At
		}
	}
	return calls, last
}

// toTap is a card of a chat and a button of it that opens a confirm step, or
// leaves one.
func (w *bubble) toTap(chat int64, turn int) (m simulator.Message, button string, ok bool) {
	all := w.sim.BotMessages(chat)
	for i := range all {
		m := all[(i+turn)%len(all)]
		for _, button := range []string{"Cancel", "Trash it"} {
			if _, ok := m.Button(button); ok {
				return m, button, true
			}
		}
	}
	return m, "", false
}
