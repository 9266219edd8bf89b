package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"countersign/telegram"
)

// hookSetting remembers the webhooks that may be ours: the one that was set, and
// while that is under way also the one that is to follow.
const hookSetting = "webhook"

const (
	hookEvery       = 10 * time.Second // how often what failed about the webhook is tried again
	hookStandsEvery = time.Minute      // how often it is looked whether the webhook is still set
)

// A hooking is what is known of the webhook while this process leads. The
// goroutine of hook has it.
type hooking struct {
	set     bool      // by us, since this process leads
	errorAt time.Time // of the last failed delivery that is known
	failing bool      // deliveries failed, and it is not known yet that they no longer do
}

// hook tells Telegram where to deliver updates, and looks after it, while this
// process leads.
func (a *App) hook(ctx context.Context) error {
	defer a.health.warn("telegram", "")
	var h hooking
	for {
		next := hookStandsEvery
		err := a.keepHook(ctx, &h)
		if ferr := fatal(err); ferr != nil {
			return ferr
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			a.health.set("telegram", "")
		case h.set:
			next = again(err)
			a.health.set("telegram", "it is not known whether the webhook is still set")
			a.opts.Log.Warn().Err(err).Msg("it is not known whether the webhook is still set; asking again")
		default:
			next = again(err)
			a.health.set("telegram", "the webhook is not set")
			a.opts.Log.Error().Err(err).Msg("the webhook is not set; trying again")
		}
		if !wait(ctx, next) {
			return nil
		}
	}
}

// again is how long to leave the webhook alone after a failure.
func again(err error) time.Duration {
	var e *telegram.Error
	if errors.As(err, &e) {
		return max(hookEvery, e.RetryAfter)
	}
	return hookEvery
}

// keepHook sets the webhook where this process has not done so since it leads, or
// where it is no longer set.
func (a *App) keepHook(ctx context.Context, h *hooking) error {
	info, err := a.client.WebhookInfo(ctx)
	if err != nil {
		return err
	}
	mine := a.config().Telegram.Webhook.PublicURL
	switch {
	case !h.set:
		h.errorAt = info.LastErrorAt // of a time that is over
	case info.URL == mine:
		a.delivered(h, info)
		return nil
	default:
		h.set = false
		a.health.count("webhook_lost")
		a.opts.Log.Warn().Bool("taken_off", info.URL == "").
			Msg("something else took the webhook off or set another; ours is set again: let nothing else use this bot's token")
	}
	if err := a.setHook(ctx, mine); err != nil {
		return err
	}
	h.set = true
	return nil
}

// setHook sets the webhook. That it may be ours is kept beforehand: it has to be
// known after a crash, when updates shall be polled again.
func (a *App) setHook(ctx context.Context, mine string) error {
	text, err := a.store.Setting(ctx, hookSetting)
	if err != nil {
		return err
	}
	if ours := strings.Fields(text); !slices.Contains(ours, mine) {
		if err := a.store.SetSetting(ctx, hookSetting, strings.Join(append(ours, mine), " ")); err != nil {
			return err
		}
	}
	t := a.config().Telegram
	if err := a.client.SetWebhook(ctx, telegram.WebhookSettings{URL: mine, Secret: t.WebhookSecret().Reveal()}); err != nil {
		return err
	}
	if text == mine {
		return nil
	}
	return a.store.SetSetting(ctx, hookSetting, mine)
}

// delivered takes note of how deliveries go. One that failed is no reason not to
// be ready: a balancer that then keeps deliveries from this process would have them
// fail for ever.
func (a *App) delivered(h *hooking, info telegram.WebhookInfo) {
	switch {
	case info.LastErrorAt.After(h.errorAt):
		h.errorAt, h.failing = info.LastErrorAt, true
		a.health.count("webhook_failures")
		a.health.warn("telegram", "Telegram could not deliver updates: "+info.LastError)
		a.opts.Log.Error().Str("reason", info.LastError).Int("waiting", info.Pending).
			Msg("Telegram could not deliver updates; see to it that it reaches telegram.webhook.public_url")
	case h.failing && info.Pending == 0:
		h.failing = false
		a.health.warn("telegram", "")
		a.opts.Log.Info().Msg("updates are delivered again")
	}
}

// unhook takes off a webhook of ours. One of somebody else's stays, and shows
// as a conflict: this bot may not take another system's updates by itself.
func (a *App) unhook(ctx context.Context) error {
	text, err := a.store.Setting(ctx, hookSetting)
	if err != nil {
		return err
	}
	ours := strings.Fields(text)
	if public := a.config().Telegram.Webhook.PublicURL; public != "" {
		ours = append(ours, public)
	}
	if len(ours) == 0 {
		return nil
	}
	info, err := a.client.WebhookInfo(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(ours, info.URL) {
		if err := a.client.DeleteWebhook(ctx); err != nil {
			return err
		}
		a.opts.Log.Info().Msg("the webhook set before was taken off; updates are polled")
	}
	if text == "" {
		return nil
	}
	return a.store.SetSetting(ctx, hookSetting, "")
}
