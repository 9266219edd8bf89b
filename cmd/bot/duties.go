package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"countersign/handlers"
	"countersign/store"
	"countersign/telegram"
)

// alive gives a sign of life as long as the bot runs. A bot without a key ends where
// another begins to sign.
func (a *App) alive(ctx context.Context) error {
	for wait(ctx, aliveEvery) {
		err := a.store.MayServe(ctx)
		if errors.Is(err, store.ErrNamespaceSigns) {
			return err
		}
		if err == nil {
			err = a.store.Alive(ctx, streamKeys(*a.config()))
		}
		a.health.redis(err)
		if err != nil && ctx.Err() == nil {
			a.opts.Log.Warn().Err(err).Msg("no sign of life was given; clients may hold the bot for dead")
		}
	}
	return nil
}

// introduceEvery is how long a failed getMe is left alone.
const introduceEvery = 10 * time.Second

// introduce learns the bot's own name. A wrong token ends the program.
func (a *App) introduce(ctx context.Context) error {
	for {
		me, err := a.client.Me(ctx)
		if err == nil {
			a.me.Store(&me)
			if !me.CanReadAllGroupMessages {
				a.opts.Log.Info().Str("bot", me.Username).
					Msg("privacy mode is on: in groups only commands and replies to this bot arrive")
			}
			return nil
		}
		var e *telegram.Error
		if errors.As(err, &e) && e.Kind == telegram.Unauthorized {
			return fmt.Errorf("telegram.token is refused (%s); get a valid one from @BotFather", e.Description)
		}
		if ctx.Err() != nil {
			return nil
		}
		a.opts.Log.Warn().Err(err).Msg("the bot's own name is not known yet; asking again")
		if !wait(ctx, introduceEvery) {
			return nil
		}
	}
}

// menuSetting remembers which command list Telegram was told.
const menuSetting = "commands"

// menu tells Telegram the command list, once and when it changed.
func (a *App) menu(ctx context.Context) error {
	commands := handlers.Commands()
	text, err := json.Marshal(commands)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	want := a.config().Telegram.APIURL + " " + hex.EncodeToString(sum[:8])
	for {
		told, err := a.store.Setting(ctx, menuSetting)
		if err == nil && told == want {
			return nil
		}
		if err == nil {
			err = a.client.SetCommands(ctx, telegram.ScopeDefault, commands)
		}
		if err == nil {
			err = a.store.SetSetting(ctx, menuSetting, want)
		}
		if err == nil || ctx.Err() != nil {
			return nil
		}
		a.opts.Log.Warn().Err(err).Msg("the command list was not set; trying again")
		if !wait(ctx, time.Minute) {
			return nil
		}
	}
}
