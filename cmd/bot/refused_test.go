//go:build !race

// As answers_test.go, whose table it serves.

package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"countersign/approval"
	"countersign/config"
	"countersign/delivery"
	"countersign/telegram"
)

// ends wants a bot to end by itself, with words for the operator.
func (r *running) ends() {
	r.w.Helper()
	r.w.pass(time.Minute)
	var err error
	select {
	case err = <-r.done:
	default:
		r.w.Error("the bot still runs")
		return
	}
	r.cancel()
	r.cancel = nil
	if err == nil || !strings.Contains(err.Error(), "@BotFather") {
		r.w.Errorf("the bot ended with %v, want words about the token", err)
	}
	r.w.ok(r.Close())
}

// pollRefused: the bot hears nothing.
func pollRefused(w *bubble, s saying) {
	given := w.sim.Fault(s.fault("getUpdates", 0))
	r := w.run("one", &life{})
	if s.course() == dead {
		r.ends()
		return
	}
	began := time.Now()
	w.ask("b1", "both", time.Hour)
	m := w.has(5*time.Second, annID, "b1", "Trash it")
	w.ann.Tap(m, "Reject")
	w.pass(refusedFor)
	w.bounded("getUpdates", began, int(refusedFor/time.Second))
	w.state("b1", approval.Open)
	if r.health.red() == "" {
		w.Error("the bot hears nothing, and is well")
	}
	given.Remove()
	w.pass(2 * time.Minute) // a tap is kept for longer by the simulator than by Telegram
	w.ann.Tap(m, "Reject")
	w.says(5*time.Second, annID, "b1", "Rejected by Ann")
	if red := r.health.red(); red != "" {
		w.Errorf("the bot hears again, and is %q", red)
	}
	w.once("b1", "rejected")
}

// nameRefused: the bot does not learn its own name.
func nameRefused(w *bubble, s saying) {
	given := w.sim.Fault(s.fault("getMe", 0))
	r := w.run("one", &life{})
	if s.course() == dead {
		r.ends()
		return
	}
	began := time.Now()
	w.ask("a1", "iris", time.Hour)
	w.confirms("a1")
	w.pass(refusedFor)
	w.bounded("getMe", began, int(refusedFor/introduceEvery)+1)
	given.Remove()
	w.until(2*introduceEvery, "the name is known", func() bool { return r.username() != "" })
}

// hookRefused: Telegram does not take the address for updates.
func hookRefused(w *bubble, s saying) {
	w.cfg.Telegram.Mode = config.ModeWebhook
	w.cfg.Telegram.Webhook.PublicURL = "https://bot.example/hook"
	given := w.sim.Fault(s.fault("setWebhook", 0))
	app := w.build("one", &life{})
	app.health.standing = func() delivery.Standing { return delivery.Holding } // whose work it is
	defer func() { w.ok(app.Close()) }()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- app.hook(ctx) }()
	w.pass(time.Minute)
	if s.course() == dead {
		cancel()
		var e *telegram.Error
		if err := <-done; !errors.As(err, &e) || e.Kind != telegram.Unauthorized {
			w.Errorf("ended with %v, want the refused token", err)
		}
		return
	}
	if app.health.red() == "" {
		w.Error("the webhook is not set, and the bot is well")
	}
	w.bounded("setWebhook", time.Now().Add(-time.Minute), 7)
	given.Remove()
	w.pass(2 * hookEvery)
	if red := app.health.red(); red != "" {
		w.Errorf("the webhook is set, and the bot is %q", red)
	}
	cancel()
	w.ok(<-done)
}
