package main

import (
	"context"
	"time"

	"countersign/config"
	"countersign/telegram"
)

// hearEvery is how often it is looked whether this process is the one to poll, should
// nobody have said so.
const hearEvery = 200 * time.Millisecond

// hear polls while this process leads. Where Redis is away, and with it the lease,
// it goes on for as long as nobody else is seen to lead: nothing that it hears then
// is confirmed, but whoever taps is told that it is being tried. A process that has
// not held the lease does not poll, also where nobody can say who does: it might be
// another, whose poll ours would end.
func (a *App) hear(ctx context.Context) error {
	if a.config().Telegram.Mode == config.ModeWebhook {
		return nil
	}
	for {
		if a.leader.Alone() {
			if err := a.hearWhileAlone(ctx); err != nil {
				return err
			}
			a.health.set("telegram", "") // whoever leads next knows
		}
		if !a.waitToLead(ctx, hearEvery) {
			return nil
		}
	}
}

// waitToLead is [wait], but for no longer than until this process leads.
func (a *App) waitToLead(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-a.led:
	case <-t.C:
	case <-ctx.Done():
		return false
	}
	return true
}

func (a *App) hearWhileAlone(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		for a.leader.Alone() {
			if !wait(ctx, hearEvery) {
				return
			}
		}
		end()
	}()
	return a.poll(ctx)
}

// heard takes note of a poll. Another that polls while the lease is lost is the one
// that leads.
func (a *App) heard(p telegram.PollHealth) {
	a.health.polled(p)
	if p.Kind == telegram.Conflict {
		a.leader.Doubt()
	}
}
