package main

import (
	"context"
	"time"
)

// examine says once what is wrong with the Redis server, beside everything else:
// nothing waits for words.
func (a *App) examine(ctx context.Context) error {
	for !a.assess(ctx) {
		if !wait(ctx, serverEvery) {
			return nil
		}
	}
	return nil
}

// assess says what about the Redis server puts approvals at risk, and what
// remedies it. It reports false where the server could not be asked.
func (a *App) assess(ctx context.Context) bool {
	about, err := a.store.Server(ctx)
	if err != nil {
		return false
	}
	flaws, unknown := about.Flaws()
	for _, f := range flaws {
		a.opts.Log.Warn().Str("remedy", f.Remedy).Msg(f.What)
	}
	if len(unknown) > 0 {
		a.opts.Log.Debug().Strs("unknown", unknown).Msg("Redis does not tell everything about itself")
	}
	return true
}

const (
	// serverEvery is how often it is looked whether Redis is still the same.
	serverEvery = 2 * time.Second
	// serverSetting remembers which run of the server the cards were last in line with.
	serverSetting = "server"
)

// follow has cards drawn anew when Redis was started anew, or another server has
// taken its place, while this process leads: what was acknowledged last may be
// lost, and cards must show what is there now. What the server was is kept in
// Redis, so that it also comes out where this process was away meanwhile.
func (a *App) follow(ctx context.Context) error {
	known := ""
	for {
		run, err := a.store.RunID(ctx)
		if err == nil && run != "" && run != known {
			if err = a.followTo(ctx, run); err == nil {
				known = run
			}
		}
		if err != nil && ctx.Err() == nil {
			a.opts.Log.Warn().Err(err).Msg("it is not known whether Redis is still the same; asking again")
		}
		if !wait(ctx, serverEvery) {
			return nil
		}
	}
}

// followTo brings cards in line with a run of the server.
func (a *App) followTo(ctx context.Context, run string) error {
	before, err := a.store.Setting(ctx, serverSetting)
	if err != nil || before == run {
		return err
	}
	n, err := a.store.Redraw(ctx)
	if err != nil {
		return err
	}
	if before != "" {
		a.opts.Log.Warn().Int("approvals", n).
			Msg("Redis was started anew or replaced, and may have lost its last writes; cards are drawn as it is now")
		a.health.count("redis_replaced")
		a.assess(ctx)
	}
	return a.store.SetSetting(ctx, serverSetting, run)
}
