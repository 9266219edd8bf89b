package main

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
	"countersign/simulator"
)

// check compares every row with the model.
func (w *scene) check(t *rapid.T) {
	for _, id := range w.ids {
		f := w.fates[id]
		r, err := w.app.store.Read(w.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if r.Row == nil {
			if f.state != "" {
				t.Fatalf("%s has no row, want %s", id, f.state)
			}
			continue
		}
		if r.Row.State != f.state {
			t.Fatalf("%s is %s, want %s", id, r.Row.State, f.state)
		}
		if r.Row.State == approval.Open && len(r.Votes) != len(f.votes) {
			t.Fatalf("%s has %d votes, want %d", id, len(r.Votes), len(f.votes))
		}
		now := w.clock.Now()
		step, want := r.Step.OpenAt(now, modelWindow), f.stepOpen(now) != nil
		if r.Row.State == approval.Open && step != want {
			t.Fatalf("%s has an open step: %v, want %v", id, step, want)
		}
		if step && r.Step.By != f.step.by {
			t.Fatalf("%s is being confirmed by %d, want %d", id, r.Step.By, f.step.by)
		}
		if (r.Row.Undo != nil) != (f.undoBy != 0) {
			t.Fatalf("%s: undo asked %v, want %v", id, r.Row.Undo != nil, f.undoBy != 0)
		}
		w.checkAnswer(t, f, r.Row)
	}
}

// checkAnswer holds a row to exactly one answer, in the same bytes everywhere.
func (w *scene) checkAnswer(t *rapid.T, f *fate, row *approval.Row) {
	var found []string
	for _, stream := range []string{"{approvals}:answer:" + f.id, "{approvals}:answers"} {
		entries, err := w.rdb.XRange(w.ctx, stream, "-", "+").Result()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range entries {
			if e.Values["type"] == "approval.answered" && e.Values["subject"] == f.id {
				found = append(found, e.Values["data"].(string))
				n++
			}
		}
		if want := 0; row.State != approval.Open && n != 1 || row.State == approval.Open && n != want {
			t.Fatalf("%s is %s and has %d answers on %s", f.id, row.State, n, stream)
		}
	}
	if row.State == approval.Open {
		return
	}
	inRow, err := w.rdb.HGet(w.ctx, "{approvals}:row:"+f.id, "answer").Result()
	if err != nil || found[0] != inRow || found[1] != inRow {
		t.Fatalf("%s: the answers differ: %q, %q, row %q (%v)", f.id, found[0], found[1], inRow, err)
	}
	if approved := row.Answer.Decision == approval.DecisionApproved; approved != f.approved {
		t.Fatalf("%s: approved %v, want %v", f.id, approved, f.approved)
	}
}

// rest lets everything come to rest, and compares rows, answers and cards.
func (w *scene) rest(t *rapid.T) {
	for w.sim.PendingUpdates() > 0 {
		w.handle(t)
		w.check(t)
	}
	w.intake(t)
	w.check(t)
	w.clock.move(200 * time.Hour)
	w.sweep(t)
	w.deliver(t)
	w.check(t)
	for _, id := range w.ids {
		f := w.fates[id]
		if f.state == approval.Open {
			t.Fatalf("%s is still open at the end", id)
		}
		w.checkCards(t, f)
	}
	w.checkNotices(t)
	for _, c := range w.sim.Refusals() {
		t.Fatalf("the simulator refused %s: %s (%v)", c.Method, c.Description, c.Params)
	}
	due, err := w.rdb.ZCount(w.ctx, "{approvals}:bot:dirty", "-inf", "+inf").Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	undoable := 0
	for _, f := range w.fates {
		if w.clock.Now().Before(f.undoTill) && f.undoBy == 0 {
			undoable++
		}
	}
	if int(due) > undoable {
		t.Fatalf("%d marks are left on the changes feed, want at most the %d open undo offers", due, undoable)
	}
}

// checkNotices holds chats without a card to a shared notice that speaks there.
func (w *scene) checkNotices(t *rapid.T) {
	for _, id := range w.ids {
		r, err := w.app.store.Read(w.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, chat := range r.Row.Quiet {
			told := slices.ContainsFunc(w.sim.BotMessages(chat), func(m simulator.Message) bool {
				return strings.Contains(m.Text, "approvals lapsed unanswered")
			})
			if !told {
				t.Fatalf("%s lapsed quietly in %d, and no shared notice speaks there", id, chat)
			}
		}
	}
}

// checkCards holds every known card to what its row says.
func (w *scene) checkCards(t *rapid.T, f *fate) {
	r, err := w.app.store.Read(w.ctx, f.id)
	if err != nil {
		t.Fatal(err)
	}
	for _, chat := range f.chats {
		// More than five that lapse before their cards were sent share a notice
		// in place of them.
		if r.At(chat) == nil && !slices.Contains(r.Row.Quiet, chat) {
			t.Fatalf("%s has no card in %d", f.id, chat)
		}
	}
	for i := range r.Cards {
		c := &r.Cards[i]
		if !c.Sent && slices.Contains(r.Row.Quiet, c.Chat) {
			continue
		}
		m, ok := w.sim.Message(c.Chat, int64(c.Message))
		if !ok {
			t.Fatalf("%s: card %s has no message", f.id, c.ID)
		}
		badge, _, _ := strings.Cut(m.Text, "\n")
		want := map[approval.Decision]string{
			approval.DecisionApproved: "Approved by", approval.DecisionRejected: "Rejected by",
			approval.DecisionLapsed: "Lapsed", approval.DecisionWithdrawn: "Withdrawn", approval.DecisionRefused: "Refused",
		}[r.Row.Answer.Decision]
		if !strings.Contains(badge, want) {
			t.Fatalf("%s was %s, but its card says %q", f.id, r.Row.Answer.Decision, badge)
		}
		if m.ReplyMarkup == nil {
			continue
		}
		for _, row := range m.ReplyMarkup.Rows {
			for _, b := range row {
				if p, err := cards.ParsePress(b.CallbackData); err != nil || strings.IndexByte("aycr", p.Letter) >= 0 {
					t.Fatalf("%s was %s, but its card still has the button %q", f.id, r.Row.Answer.Decision, b.Text)
				}
			}
		}
	}
}
