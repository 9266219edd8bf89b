package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/simulator"
	"countersign/simulator/page"
)

// Every sample comes where its hint says, without a call that Telegram would refuse.
func TestDemoSamplesArrive(t *testing.T) {
	d, _ := startDemo(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	everyone := []int64{demoAnn, demoOlga}
	arrive := map[string]struct {
		text  string // of the card
		chats []int64
	}{
		"trash": {"Trash 3", everyone}, "mail": {"Send an email", everyone}, "event": {"Quarterly", everyone},
		"many": {"Archive 308", everyone}, "brief": {"On my way", everyone}, "hostile": {"Rename", everyone},
		"halt":    {"nightly", []int64{demoAnn, demoOperations}},
		"payment": {"Pay invoice", []int64{demoPayments}}, "malformed": {},
	}
	for _, s := range d.runtimes.samples {
		if err := d.runtimes.Press(ctx, s.Name); err != nil {
			t.Fatalf("press %s: %v", s.Name, err)
		}
		want, known := arrive[s.Name]
		if !known {
			t.Errorf("it is not said where %s comes", s.Name)
		}
		for _, chat := range want.chats {
			if _, err := d.sim.WaitMessage(ctx, chat, has(want.text)); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
	e := waitEntry(ctx, t, d, step("malformed", page.StepAnswered))
	if !strings.Contains(string(e.Data), `"decision":"refused"`) || !strings.Contains(e.Note, "effect") {
		t.Errorf("malformed: %s %s", e.Note, e.Data)
	}
	if err := d.runtimes.Press(ctx, "other"); err == nil {
		t.Error("an unknown sample was pressed")
	}
	for _, r := range d.sim.Refusals() {
		t.Errorf("refused: %+v", r)
	}
}

// Approved, done, undone: the runtime's side shows every step.
func TestDemoUndo(t *testing.T) {
	d, _ := startDemo(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := d.runtimes.Press(ctx, "trash"); err != nil {
		t.Fatal(err)
	}
	tap := func(button, then string) { tapUntil(ctx, t, d, demoAnn, demoAnn, button, has(then)) }
	tap("Trash 3 emails", "tap Yes")
	tap("Yes", "Approved by Ann")
	tap("Undo", "Undone")
	undone := waitEntry(ctx, t, d, func(e page.Entry) bool {
		return e.Step == page.StepReported && strings.Contains(string(e.Data), string(approval.Undone))
	})
	entries, _ := d.runtimes.Log(0)
	var steps []string
	for _, e := range entries[:undone.Seq] {
		steps = append(steps, e.Step)
		if e.Command == "" {
			t.Errorf("step %s has no command", e.Step)
		}
	}
	if got, want := strings.Join(steps, " "), "published waiting answered claimed reported undo reported"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
}

// Two owners must approve a payment, in their group.
func TestDemoQuorum(t *testing.T) {
	d, _ := startDemo(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := d.runtimes.Press(ctx, "payment"); err != nil {
		t.Fatal(err)
	}
	tapUntil(ctx, t, d, demoAnn, demoPayments, "Pay 4,800", has("Ann, tap Yes"))
	tapUntil(ctx, t, d, demoAnn, demoPayments, "Yes", has("1 of 2: Ann"))
	tapUntil(ctx, t, d, demoOlga, demoPayments, "Pay 4,800", has("Olga, tap Yes"))
	tapUntil(ctx, t, d, demoOlga, demoPayments, "Yes", has("2 of 2: Ann, Olga"))
	e := waitEntry(ctx, t, d, step("payment", page.StepAnswered))
	if !strings.Contains(string(e.Data), `"approvals":[`) {
		t.Errorf("answer %s", e.Data)
	}
}

// tapUntil taps a button, as soon as a card of the chat has it, and again until a card
// fits: a test is quicker than a person, and may tap what the bot has sent but not yet
// noted as sent, which does not count.
func tapUntil(ctx context.Context, t *testing.T, d *demo, person, chat int64, button string, fits func(simulator.Message) bool) {
	t.Helper()
	done := func() bool { return slices.ContainsFunc(d.sim.BotMessages(chat), fits) }
	for !done() {
		for _, m := range d.sim.BotMessages(chat) {
			if _, ok := m.Button(button); ok {
				// The button may be gone by now; then the next look tells.
				_, _ = d.sim.Person(person).Press(simulator.Press{Chat: chat, Message: m.MessageID, Text: button})
				break
			}
		}
		soon, cancel := context.WithTimeout(ctx, time.Second)
		_ = d.sim.Wait(soon, done) // the last look counts
		cancel()
		if ctx.Err() != nil {
			t.Fatalf("%s changed nothing: %v", button, context.Cause(ctx))
		}
	}
}
