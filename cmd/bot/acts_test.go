package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// What can happen in a scene. Each action moves the real thing and the model.

// request asks something new.
func (w *scene) request(t *rapid.T) {
	w.steps++
	id := "a" + strconv.Itoa(len(w.ids)+1)
	f := &fate{id: id, votes: map[int64]bool{}, quorum: 1, chats: []int64{annID}}
	data := map[string]any{"approval_id": id, "runtime": "iris", "card": map[string]any{"title": "Do " + id}}
	switch rapid.SampledFrom([]string{"iris", "team", "both"}).Draw(t, "runtime") {
	case "team":
		data["runtime"], f.quorum, f.chats = "team", 2, []int64{teamID}
	case "both":
		data["runtime"], f.chats = "both", []int64{annID, teamID}
	}
	if f.halt = rapid.IntRange(0, 3).Draw(t, "halt") == 0; f.halt {
		data["kind"] = "halt"
	} else {
		data["tool"], data["arguments"] = "do_it", map[string]any{"n": len(w.ids)}
		f.undo = rapid.Bool().Draw(t, "undo")
		if f.undo {
			data["card"].(map[string]any)["undo_tool"] = "undo_it"
			data["card"].(map[string]any)["undo_window_days"] = 30
		}
	}
	seconds := rapid.SampledFrom([]int{5, 60, 600, 36000, 36000}).Draw(t, "expires_in")
	data["expires_in"] = seconds
	f.expires = w.clock.Now().Add(time.Duration(seconds) * time.Second)
	f.terms = fmt.Sprint(data)
	w.ids = append(w.ids, id)
	w.fates[id] = f
	w.publish(t, "approval.requested", id, data, f)
}

// requestAgain sends an id once more, with the same terms or with others.
func (w *scene) requestAgain(t *rapid.T) {
	id := w.anyID(t)
	if id == "" {
		return
	}
	w.steps++
	data := map[string]any{"approval_id": id, "runtime": "iris", "tool": "other", "arguments": map[string]any{}, "card": map[string]any{"title": "Other"}}
	for _, e := range w.events {
		if e.id == id && e.fate != nil && rapid.Bool().Draw(t, "same") {
			data = e.data
		}
	}
	w.publish(t, "approval.requested", id, data, nil)
}

// malformed sends what must be refused, or set aside.
func (w *scene) malformed(t *rapid.T) {
	w.steps++
	if rapid.Bool().Draw(t, "named") {
		id := "a" + strconv.Itoa(len(w.ids)+1)
		f := &fate{id: id, votes: map[int64]bool{}, quorum: 1}
		w.ids, w.fates[id] = append(w.ids, id), f
		w.publish(t, "approval.requested", id, map[string]any{"approval_id": id, "tool": "x", "arguments": map[string]any{}}, f)
		return
	}
	w.publish(t, "approval.requested", "", map[string]any{"tool": "x"}, nil)
}

// intake takes everything off the stream.
func (w *scene) intake(t *rapid.T) {
	w.steps++
	for {
		n, err := w.app.intake.Step(w.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	for _, e := range w.events {
		w.taken(t, e)
	}
	w.events = nil
	w.learnRefs(t)
}

// taken is what the model makes of one event.
func (w *scene) taken(t *rapid.T, e published) {
	now := w.clock.Now()
	f := w.fates[e.id]
	if f == nil {
		return
	}
	switch e.kind {
	case "approval.requested":
		switch {
		case f.state != "" || e.fate == nil && f.entry.IsZero() && f.terms == "":
		case e.fate == nil:
			t.Fatalf("%s came again before it came", e.id)
		case f.chats == nil:
			f.state = approval.Refused
		case w.withdrawn[e.id]:
			f.state = approval.Withdrawn
		case f.expires.Sub(now) < time.Second:
			f.state = approval.Lapsed
		default:
			f.state = approval.Open
		}
	case "approval.withdrawn":
		if f.state == "" {
			w.withdrawn[e.id] = true
		} else if f.live(now) {
			f.end(approval.Withdrawn)
		}
	case "approval.claimed":
		if f.state == approval.Approved {
			f.state = approval.Claimed
		}
	case "approval.reported":
		f.report(approval.State(e.data["outcome"].(string)), now)
	}
}

// deliver brings the cards in line.
func (w *scene) deliver(t *rapid.T) {
	w.steps++
	if !w.app.leader.Take(w.ctx) {
		w.clock.move(10 * time.Second)
		if !w.app.leader.Take(w.ctx) {
			t.Fatal("the lease cannot be taken")
		}
	}
	if err := w.draw.Once(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.look()
	now := w.clock.Now()
	for _, f := range w.fates {
		if s := f.step; s != nil && s.shown.IsZero() && w.showsYes(f, s) {
			s.shown = now
		}
	}
}

// showsYes reports whether the step's card shows its Yes, and learns from the
// button which step it is.
func (w *scene) showsYes(f *fate, s *modelStep) bool {
	for _, chat := range f.chats {
		for _, m := range w.sim.BotMessages(chat) {
			if m.ReplyMarkup == nil {
				continue
			}
			for _, row := range m.ReplyMarkup.Rows {
				for _, b := range row {
					if p, err := cards.ParsePress(b.CallbackData); err == nil && p.Letter == cards.LetterYes && p.Card == s.card {
						s.rev = p.Rev
						return true
					}
				}
			}
		}
	}
	return false
}

// tap has somebody tap a button that was ever shown.
func (w *scene) tap(t *rapid.T) {
	if len(w.buttons) == 0 {
		return
	}
	w.steps++
	w.tapOn(t, rapid.SampledFrom(w.buttons).Draw(t, "button"))
}

// press has somebody tap one of the newest buttons, so that whole paths are
// walked and not only begun.
func (w *scene) press(t *rapid.T) {
	if len(w.buttons) == 0 {
		return
	}
	w.steps++
	w.tapOn(t, w.buttons[len(w.buttons)-1-rapid.IntRange(0, min(len(w.buttons)-1, 5)).Draw(t, "from the newest")])
}

func (w *scene) tapOn(t *rapid.T, b button) {
	who := rapid.SampledFrom([]int64{annID, annID, olgaID, olgaID, benID, samID}).Draw(t, "who")
	w.people[who].TapData(w.message(b.chat, b.message), b.data)
}

// operator answers at the command line.
func (w *scene) operator(t *rapid.T) {
	id := w.anyID(t)
	if id == "" {
		return
	}
	w.steps++
	d := rapid.SampledFrom([]approval.Decision{approval.DecisionApproved, approval.DecisionRejected}).Draw(t, "decision")
	r, err := w.app.store.Read(w.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = w.app.store.Decide(w.ctx, r, store.Attempt{
		Decision: d, Guard: store.ByOperator, By: approval.By{Surface: approval.CLI, ID: "op", Name: "op"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if f := w.fates[id]; f.live(w.clock.Now()) {
		f.end(approval.State(d))
	}
}

func (w *scene) sweep(t *rapid.T) {
	w.steps++
	if err := w.sweeps.Sweep(w.ctx); err != nil {
		t.Fatal(err)
	}
	now := w.clock.Now()
	for _, f := range w.fates {
		if f.state == approval.Open && !now.Before(f.expires) {
			f.end(approval.Lapsed)
		}
	}
}

func (w *scene) withdraw(t *rapid.T) {
	id := w.anyID(t)
	if id == "" {
		return
	}
	w.steps++
	w.publish(t, "approval.withdrawn", id, map[string]any{"approval_id": id}, nil)
}

// claim claims with the right pin or a wrong one.
func (w *scene) claim(t *rapid.T) {
	id := w.approvedOr(t)
	if id == "" {
		return
	}
	w.steps++
	f := w.fates[id]
	pin, err := w.rdb.HGet(w.ctx, "{approvals}:row:"+id, "pin").Result()
	right := err == nil && rapid.IntRange(0, 3).Draw(t, "pin") > 0
	if !right {
		pin = "sha256:" + strings.Repeat("0", 64)
	}
	err = w.client.Claim(w.ctx, id, pin, "runtime")
	want := right && f.state == approval.Approved && !f.claimed
	if (err == nil) != want {
		t.Fatalf("claim of %s (%s, claimed %v, right pin %v): %v", id, f.state, f.claimed, right, err)
	}
	if err == nil {
		f.claimed = true
		w.events = append(w.events, published{kind: "approval.claimed", id: id})
	}
}

func (w *scene) report(t *rapid.T) {
	id := w.approvedOr(t)
	if id == "" {
		return
	}
	w.steps++
	outcome := rapid.SampledFrom([]string{"executed", "failed", "partial", "undone"}).Draw(t, "outcome")
	w.publish(t, "approval.reported", id, map[string]any{"approval_id": id, "outcome": outcome}, nil)
}

func (w *scene) advance(t *rapid.T) {
	w.steps++
	w.clock.move(rapid.SampledFrom([]time.Duration{
		100 * time.Millisecond, 500 * time.Millisecond, 500 * time.Millisecond, 3 * time.Second, 61 * time.Second, 11 * time.Minute,
	}).Draw(t, "by"))
}

// restart ends the bot as a kill does and makes it anew.
func (w *scene) restart(t *rapid.T) {
	w.steps++
	w.app.words.Wait()
	if err := w.app.Close(); err != nil {
		t.Fatal(err)
	}
	w.boot(t)
}

// handle takes the next update.
func (w *scene) handle(t *rapid.T) {
	if w.sim.PendingUpdates() == 0 {
		return
	}
	w.steps++
	u := w.nextUpdate(t)
	switch {
	case u.Callback != nil:
		w.tapped(u.Callback)
	case u.Message != nil:
		w.worded(t, u.Message)
	}
	w.look()
}

// tapped is what the model makes of a tap.
func (w *scene) tapped(c *telegram.Callback) {
	by, now := c.From.ID, w.clock.Now()
	p, err := cards.ParsePress(c.Data)
	if err != nil || by != annID && by != olgaID {
		return
	}
	var f *fate
	for _, b := range w.buttons {
		if b.data == c.Data && b.chat == c.Message.ChatID {
			f = w.fates[b.id]
		}
	}
	if f == nil {
		return
	}
	switch p.Letter {
	case cards.LetterAction:
		if f.halt {
			if f.live(now) {
				f.approve(by)
			}
			return
		}
		f.openStep(by, p.Card, now)
	case cards.LetterYes:
		f.yes(by, p.Card, p.Rev, now)
	case cards.LetterCancel:
		f.cancel(p.Rev, now)
	case cards.LetterReject:
		f.reject(now)
	case cards.LetterUndo:
		f.askUndo(by, now)
	}
}
