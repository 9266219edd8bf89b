package delivery_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/delivery"
	"countersign/simulator"
	"countersign/store"
	"countersign/store/storetest"
)

func has(text string) func(simulator.Message) bool {
	return func(m simulator.Message) bool { return strings.Contains(m.Text, text) }
}

// TestCardsFollowEverySurface answers in every way there is, and wants every
// card to say so, on both servers.
func TestCardsFollowEverySurface(t *testing.T) {
	t.Parallel()
	onServers(t, func(w *world, s *storetest.Server) {
		thread := w.rooms[forum].AddTopic("Approvals")
		w.start("a", start{})
		ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
		defer cancel()
		places := []approval.Chat{chat(ann), chat(team), {ID: forum, Thread: int(thread)}}
		for _, c := range []struct {
			name   string
			answer store.Attempt
			says   string
		}{
			{"the command line", byOperator(approval.DecisionApproved), "Approved by root"},
			{"Telegram", byAnn(), "Rejected by Ann"},
			{"a runtime", w.byRuntime(), "Withdrawn"},
			{"the sweeper", byDeadline(), "Lapsed"},
		} {
			id := strings.ReplaceAll(c.name, " ", "-")
			raw := storetest.Request(id, storetest.WithCard(map[string]any{"title": "by " + c.name}))
			storetest.Open(t, w.store, raw, in(places...))
			open := map[int64]simulator.Message{}
			for _, p := range places {
				m, err := w.sim.WaitMessage(ctx, p.ID, has("by "+c.name))
				w.ok(err)
				open[p.ID] = m
			}
			if got := open[forum].MessageThreadID; got != thread {
				w.Errorf("%s: topic %d, want %d", c.name, got, thread)
			}
			if c.answer.Guard == store.ByDeadline {
				s.Advance(t, 2*time.Hour)
			}
			w.decide(id, c.answer)
			for _, m := range open {
				_, err := w.sim.WaitEdit(ctx, m, has(c.says))
				w.ok(err)
			}
		}
	})
}

func TestWhatWasMissedIsCaughtUpWith(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.open("open")
		w.open("answered")
		w.decide("answered", byOperator(approval.DecisionApproved))
		p := w.start("a", start{})
		settle()
		posts := w.posts(ann, 2)
		if posts[0].Silent == posts[1].Silent {
			w.Error("a card that asks makes a sound, one that comes finished does not")
		}
		p.stop()
		w.decide("open", byOperator(approval.DecisionRejected))
		w.start("b", start{})
		settle()
		w.posts(ann, 2)
		w.inLine("open", "answered")
	})
}

func TestManyChangesAtOnceComeToRest(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		p := w.start("a", start{limits: delivery.Limits{ChatPerSecond: 1}})
		w.open("a1", in(chat(ann), chat(team)))
		pass(time.Second)
		for range 20 { // opened and left again, faster than it can be drawn
			w.openStep("a1", ann)
			w.cancelStep("a1", ann)
		}
		w.decide("a1", byAnn())
		pass(10 * time.Second)
		w.inLine("a1")
		if n := p.counts.of("edits"); n > 8 {
			w.Errorf("%d edits; what is waited with must be drawn once, as it is then", n)
		}
		quiet(w, "a1")
	})
}

// TestFloodOfOneChat floods one chat with more than it can take: another chat is
// served in no time, and the flooded one goes on at its own pace.
func TestFloodOfOneChat(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		const flood = 1200
		for i := range flood {
			w.open(fmt.Sprintf("flood.%d", i))
		}
		w.open("other", in(chat(ben)))
		w.start("a", start{limits: delivery.Limits{ChatPerSecond: 1}})
		pass(2 * time.Second) // looked at a thousand at a time
		w.post(ben)
		w.posts(ann, 3+2)
		pass(10 * time.Second)
		w.posts(ann, 3+12)
	})
}

// TestManyCardsOfOneChat wants all to be drawn at once where there is no limit.
func TestManyCardsOfOneChat(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		var ids []string
		for i := range 300 {
			ids = append(ids, fmt.Sprintf("a.%d", i))
			w.open(ids[i])
		}
		w.start("a", start{})
		settle()
		w.posts(ann, len(ids))
		w.inLine(ids...)
	})
}

// quiet wants nothing to be marked on the feed, and nobody to call.
func quiet(w *world, ids ...string) {
	w.Helper()
	before := len(w.sim.Calls())
	pass(30 * time.Second)
	if n := len(w.sim.Calls()) - before; n != 0 {
		w.Errorf("%d calls though nothing is to be done", n)
	}
	w.inLine(ids...)
	due, err := w.store.Dirty(w.Context(), 100)
	w.ok(err)
	if len(due.Approvals)+len(due.Notices) != 0 {
		w.Errorf("still marked: %v, %v", due.Approvals, due.Notices)
	}
}

func (w *world) openStep(id string, user int64) {
	w.Helper()
	r := w.read(id)
	card := ""
	if c := r.At(user); c != nil {
		card = c.ID
	}
	status, _, err := w.store.OpenStep(w.Context(), id, store.StepBy{User: user, Name: "Ann", Window: window, Chat: user, Card: card})
	w.ok(err)
	if status != store.Done {
		w.Fatalf("open a step: %s", status)
	}
}

func (w *world) cancelStep(id string, user int64) {
	w.Helper()
	status, _, err := w.store.CancelStep(w.Context(), id, user, window, 0)
	w.ok(err)
	if status != store.Done {
		w.Fatalf("cancel a step: %s", status)
	}
}

// TestStepWindowEnds opens a step: the card shows it, and goes back by itself.
func TestStepWindowEnds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1")
		settle()
		w.openStep("a1", ann)
		settle()
		w.inLine("a1")
		if r := w.read("a1"); r.Step.ShownAt.IsZero() {
			w.Error("the step was shown, and the store does not know")
		}
		m := w.post(ann)
		pass(window - time.Second)
		if now := w.post(ann); now.EditDate != m.EditDate {
			w.Error("the card changed before the window's end")
		}
		pass(2 * time.Second)
		w.inLine("a1")
		if now := w.post(ann); strings.Contains(now.Text, "confirm") || now.EditDate == m.EditDate {
			w.Errorf("the card still asks:\n%s", now.Text)
		}
		quiet(w, "a1")
	})
}

// TestUndoOfferEnds wants the Undo button gone at its time, by itself.
func TestUndoOfferEnds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1")
		w.decide("a1", byOperator(approval.DecisionApproved))
		until := w.now().Add(lifetime)
		w.report("a1", &until)
		settle()
		w.inLine("a1")
		if !hasButton(w.post(ann), "Undo") {
			w.Error("no Undo while it is offered")
		}
		pass(lifetime + time.Second)
		w.inLine("a1")
		if hasButton(w.post(ann), "Undo") {
			w.Error("Undo is still offered")
		}
	})
}

func (w *world) report(id string, undoUntil *time.Time) {
	w.Helper()
	status, _, err := w.store.Reported(w.Context(), store.Reporting{
		Report: approval.Report{ID: id, Outcome: approval.Executed, UndoUntil: undoUntil},
		Data:   []byte(`{"approval_id":"` + id + `","outcome":"executed"}`), Stream: w.store.Keys().Requests(), EntryMS: 1,
	})
	w.ok(err)
	if status != store.Done {
		w.Fatalf("report: %s", status)
	}
}

func hasButton(m simulator.Message, text string) bool {
	for _, row := range m.Keyboard() {
		for _, b := range row {
			if strings.HasPrefix(b.Text, text) {
				return true
			}
		}
	}
	return false
}
