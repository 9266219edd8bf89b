package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/config"
	"countersign/simulator"
)

func TestTheCardThatWasTapped(t *testing.T) {
	p := newPlay(t)
	p.asked("first", "iris")
	second := p.asked("second", "iris")
	p.card(annID, "first")
	p.confirms(p.ann, p.card(annID, "second"), "Approved.")
	a := p.answered(second, approval.DecisionApproved)
	if a.By.ID != "1001" || a.By.Name != "Ann" || a.By.Method != approval.Button || a.By.Chat != annID {
		t.Errorf("by %+v", a.By)
	}
	p.shows(p.card(annID, "second"), "Approved by Ann")
	p.open("first")
}

func TestDoubleTapOnTheAction(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "iris")
	card := p.card(annID, "a1")
	// Both taps reach the action, since the second one is as fast as the first.
	first, second := p.ann.Tap(card, "Trash them"), p.ann.Tap(card, "Trash them")
	a, err := p.sim.WaitAnswer(p.ctx, first)
	p.ok(err)
	p.said(a.Text, "")
	a, err = p.sim.WaitAnswer(p.ctx, second)
	p.ok(err)
	p.said(a.Text, "You are confirming this already.")
	// A slower second tap finds Cancel where the action was.
	card = p.offers(card, "Yes")
	id := p.ann.TapAt(card, 0, 0)
	a, err = p.sim.WaitAnswer(p.ctx, id)
	p.ok(err)
	p.said(a.Text, "Cancelled. It is still open.")
	card = p.offers(card, "Trash them")
	if _, ok := card.Button("Yes"); ok {
		t.Error("Yes is still there")
	}
	p.confirms(p.ann, card, "Approved.")
	p.answered(pending, approval.DecisionApproved)
}

func TestYesIsNoDoubleTap(t *testing.T) {
	p := newPlay(t, func(c *config.Config) { c.Confirm.Dwell = c.Confirm.Window - time.Second })
	p.asked("a1", "iris")
	card := p.card(annID, "a1")
	p.taps(p.ann, card, "Trash them", "")
	confirming := p.offers(card, "Yes")
	rows := confirming.Keyboard()
	if n := len(rows); n <= len(card.Keyboard()) || len(rows[n-1]) != 1 || !strings.HasPrefix(rows[n-1][0].Text, "Yes") {
		t.Errorf("Yes stands where another button stood: %+v", rows)
	}
	for i, row := range card.Keyboard()[1:] {
		if rows[i+1][0].Text != row[0].Text {
			t.Errorf("%q stands where %q was", rows[i+1][0].Text, row[0].Text)
		}
	}
	p.yes(p.ann, confirming, "That was too quick.")
	p.open("a1")
}

func TestTheWindowEnds(t *testing.T) {
	p := newPlay(t)
	p.asked("a1", "iris")
	card := p.card(annID, "a1")
	p.taps(p.ann, card, "Trash them", "")
	p.offers(card, "Yes")
	p.mini.SetTime(time.Now().Add(p.cfg.Confirm.Window + time.Second))
	p.offers(card, "Trash them") // by itself
	p.open("a1")
}

func TestTheStepOfAnotherOwner(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "both")
	direct, shared := p.card(annID, "a1"), p.card(teamID, "a1")
	p.taps(p.ann, direct, "Trash them", "")
	p.offers(direct, "Yes")
	shared = p.shows(shared, "Ann is confirming this")
	if _, ok := shared.Button("Yes"); ok {
		t.Error("another card has the step's Yes")
	}
	p.taps(p.olga, shared, "Cancel", "Cancelled. It is still open.")
	p.offers(direct, "Trash them")
	shared = p.offers(shared, "Trash them")
	p.taps(p.olga, shared, "Trash them", "")
	shared = p.offers(shared, "Yes")
	p.yes(p.ann, shared, "Olga is confirming this.")
	p.open("a1")
	p.yes(p.olga, shared, "Approved.")
	if a := p.answered(pending, approval.DecisionApproved); a.By.Name != "Olga" {
		t.Errorf("by %+v", a.By)
	}
	p.shows(direct, "Approved by Olga")
	p.shows(shared, "Approved by Olga")
}

func TestTwoOfTheTeam(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "team")
	card := p.card(teamID, "a1")
	p.confirms(p.ann, card, "Your approval counts: 1 of 2.")
	card = p.offers(p.shows(card, "1 of 2: Ann"), "Trash them")
	p.taps(p.ann, card, "Trash them", "Your approval counts already: 1 of 2.")
	p.open("a1")
	p.confirms(p.olga, card, "Approved.")
	a := p.answered(pending, approval.DecisionApproved)
	if len(a.Approvals) != 2 || a.Approvals[0].Name != "Ann" || a.Approvals[1].Name != "Olga" || a.By.Name != "Olga" {
		t.Errorf("approvals %+v by %+v", a.Approvals, a.By)
	}
	p.shows(card, "Approved by", "Ann", "Olga")
}

func TestHaltIsOneTap(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "iris", func(data map[string]any) {
		delete(data, "tool")
		delete(data, "arguments")
		data["kind"], data["card"] = "halt", map[string]any{"title": "Trash a1 stopped", "summary": "12 tries"}
	})
	card := p.card(annID, "a1")
	p.taps(p.ann, card, "Approve", "Approved.")
	p.answered(pending, approval.DecisionApproved)
	p.shows(card, "Approved by Ann")
}

func TestExactCallIsAToggle(t *testing.T) {
	p := newPlay(t)
	p.asked("a1", "iris")
	card := p.card(annID, "a1")
	p.taps(p.ben, card, "Exact call", "")
	card = p.shows(card, `"m1"`)
	p.taps(p.ann, card, "Exact call", "")
	_, err := p.sim.WaitEdit(p.ctx, card, func(m simulator.Message) bool { return !strings.Contains(m.Text, `"m1"`) })
	p.ok(err)
}

func TestALongList(t *testing.T) {
	p := newPlay(t, func(c *config.Config) { c.Confirm.Unseen = config.UnseenRefuse })
	const of = 308
	pending := p.asked("a1", "iris", func(data map[string]any) {
		lines := make([]string, of)
		for i := range lines {
			lines[i] = fmt.Sprintf("Email %d with a subject that takes some room on a card", i+1)
		}
		data["card"].(map[string]any)["lines"] = lines
	})
	card := p.card(annID, "a1")
	p.taps(p.ann, card, "▶", "")
	second := p.shows(card, "page 2 of")
	p.taps(p.ann, second, "◀", "")
	card = p.shows(second, "page 1 of", "Email 1 ")
	p.taps(p.ann, card, "Trash them", "")
	card = p.offers(card, "Yes")
	p.yes(p.ann, card, "lines in full yet.")
	p.open("a1")

	p.taps(p.ann, card, "Whole list", "Sent as a file.")
	file, err := p.sim.WaitMessage(p.ctx, annID, func(m simulator.Message) bool { return m.Document != nil })
	p.ok(err)
	content, _ := p.sim.Content(file.Document)
	if n := strings.Count(string(content), "Email "); n != of {
		t.Errorf("the file has %d lines", n)
	}
	_, err = p.sim.WaitEdit(p.ctx, card, func(m simulator.Message) bool { return !strings.Contains(m.Text, "You have not") })
	p.ok(err)
	p.yes(p.ann, card, "Approved.")
	if a := p.answered(pending, approval.DecisionApproved); a.Shown == nil || a.Shown.Lines != of || a.Shown.Of != of {
		t.Errorf("shown %+v", a.Shown)
	}
}

func TestUndoIsOneTap(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "both", func(data map[string]any) {
		card := data["card"].(map[string]any)
		card["undo_tool"], card["undo_window_days"] = "restore_email", 30
	})
	card := p.card(teamID, "a1")
	p.confirms(p.ann, card, "Approved.")
	p.answered(pending, approval.DecisionApproved)
	p.ok(p.client.Claim(p.ctx, "a1", pending.Pin, "runtime-1"))
	p.ok(p.client.Report(p.ctx, approval.Report{ID: "a1", Outcome: approval.Executed}))
	card = p.offers(card, "Undo")
	p.taps(p.ben, card, "Undo", "You may read this, but not answer it.")
	p.taps(p.olga, card, "Undo", "")
	p.shows(card, "Undo asked for by Olga")
	events, err := p.redis.XRange(p.ctx, "{approvals}:answer:a1", "-", "+").Result()
	p.ok(err)
	if n := len(events); n != 2 || events[1].Values["type"] != "approval.undo_requested" {
		t.Errorf("events %v", events)
	}
}

func TestRestartBetweenTaps(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "iris")
	card := p.card(annID, "a1")
	p.restart(func() {}) // between card and tap
	p.taps(p.ann, card, "Trash them", "")
	card = p.offers(card, "Yes")
	p.restart(func() {}) // between the action and Yes
	p.yes(p.ann, card, "Approved.")
	p.answered(pending, approval.DecisionApproved)
	p.shows(card, "Approved by Ann")
}

func TestTapWhileNobodyIsThere(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "iris")
	card := p.card(annID, "a1")
	var tap string
	p.restart(func() { tap = p.ann.Tap(card, "Reject") }) // between tap and answer
	a, err := p.sim.WaitAnswer(p.ctx, tap)
	p.ok(err)
	p.said(a.Text, "Rejected.")
	p.answered(pending, approval.DecisionRejected)
	p.shows(card, "Rejected by Ann")
}

// A Redis that is away is no reason to lose a tap: its sender is told once, and
// it counts when Redis is back.
func TestTapWhileRedisIsAway(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "iris")
	card := p.card(annID, "a1")
	p.taps(p.ann, card, "Exact call", "") // the bot listens: one that starts now cannot
	card = p.shows(card, `"m1"`)
	p.mini.SetError("LOADING Redis is loading the dataset in memory")
	p.taps(p.ann, card, "Reject", "Not recorded yet; still trying.")
	p.mini.SetError("")
	p.answered(pending, approval.DecisionRejected)
	p.shows(card, "Rejected by Ann")
}
