package main

import (
	"context"
	"fmt"
	"time"

	"countersign/config"
	"countersign/store"
)

// movesEvery is how often it is looked which groups of the routes have moved. Each
// look keeps the moves for as long again as rows are kept.
const movesEvery = 24 * time.Hour

// tellMoves says which routes name a group by the id that it had before it became a
// supergroup, when this process begins to lead and once a day: what is asked there
// arrives, but only for as long as the move is known.
func (a *App) tellMoves(ctx context.Context) error {
	for {
		next := movesEvery
		moves, err := a.store.Moves(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			next = time.Minute
			a.opts.Log.Warn().Err(err).Msg("it is not known yet which groups have moved; asking again")
		}
		for _, old := range strayed(a.config(), moves) {
			a.opts.Log.Warn().Str("key", old.key).Int64("chat", old.id).Int64("new_chat", old.now).
				Msg("a route names a group by its old id: put the new id into the configuration")
		}
		if !wait(ctx, next) {
			return nil
		}
	}
}

// A stray is a chat of a route that goes on under another id.
type stray struct {
	key     string // in the configuration
	id, now int64
}

// strayed are the chats of routes that go on under another id.
func strayed(c *config.Config, moves store.Moves) []stray {
	var all []stray
	for i, route := range c.Routes {
		for j, chat := range route.Chats {
			if now := moves.Home(chat.ID); now != chat.ID {
				all = append(all, stray{key: fmt.Sprintf("routes[%d].chats[%d].id", i, j), id: chat.ID, now: now})
			}
		}
	}
	return all
}
