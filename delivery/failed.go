package delivery

import (
	"context"
	"errors"
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/telegram"
)

// How long a chat is left alone after a failure that may pass.
const (
	afterServer   = 2 * time.Second
	afterMove     = time.Second // of the old chat; the new one is tried at once
	afterRights   = time.Minute // somebody has to change something
	afterOurFault = time.Minute
	afterPanic    = time.Minute
)

// failed decides what a failed call means for a card. It returns how long to
// leave the chat alone.
func (r *Reconciler) failed(ctx context.Context, reading *store.Reading, n need, c *store.Card, lease store.Lease, err error) time.Duration {
	if ctx.Err() != nil {
		return leaseSoon
	}
	var e *telegram.Error
	if !errors.As(err, &e) {
		e = &telegram.Error{Kind: telegram.Transport, Err: err}
	}
	r.cfg.Count("telegram_failures", e.Kind.String())
	switch e.Kind {
	case telegram.TooMany:
		r.cfg.Count("waits", "telegram")
		r.cfg.Pace.Hold(n.chat, e.RetryAfter)
		return time.Millisecond
	case telegram.Blocked:
		return r.out(ctx, reading, c, lease, e)
	case telegram.Migrated:
		if r.moved(ctx, n.chat, e) {
			return afterMove
		}
		return r.out(ctx, reading, c, lease, e)
	case telegram.NotFoundMessage, telegram.NotEditable:
		return r.gone(ctx, reading, n, c, lease, e)
	case telegram.ThreadGone:
		if n.what == edit && c.Thread != 0 && !c.Astray {
			return r.gone(ctx, reading, n, c, lease, e) // a new one goes to the main chat
		}
		if astray(c, n) || c.Thread == 0 {
			r.cfg.Log.Error().Err(e).Str("chat", chatText(n.chat)).Msg("the main chat is closed to the bot; open it, or name another topic")
			return afterRights
		}
		r.cfg.Log.Warn().Err(e).Str("chat", chatText(n.chat)).Msg("the topic is gone or closed; what is sent goes to the main chat")
		gone := store.Topicless
		if n.what == store.TheCard || c.Astray {
			gone = store.Astray
		}
		return r.wrote(reading.ID, r.cfg.Store.LoseTopic(ctx, c.ID, gone, lease))
	case telegram.Server, telegram.Transport, telegram.Conflict:
		r.cfg.Log.Warn().Err(e).Str("chat", chatText(n.chat)).Msg("Telegram did not take a card; tried again")
		return afterServer
	case telegram.NoRights:
		r.cfg.Log.Error().Err(e).Str("chat", chatText(n.chat)).Msg("the bot may not write in this chat; give it the right to")
		return afterRights
	}
	r.cfg.Log.Error().Err(e).Str("approval", reading.ID).Str("chat", chatText(n.chat)).Msg("Telegram refused a card")
	return afterOurFault
}

// unclear reports whether a call that failed may have had its effect.
func unclear(err error) bool {
	kind := kindOf(err)
	return kind == telegram.Server || kind == telegram.Transport
}

// out records that a chat is out for good. The next look at the approval finds
// whether it can still be asked anywhere.
func (r *Reconciler) out(ctx context.Context, reading *store.Reading, c *store.Card, lease store.Lease, e *telegram.Error) time.Duration {
	r.cfg.Log.Warn().Err(e).Str("approval", reading.ID).Str("chat", chatText(c.Chat)).Msg("the chat is out for good; its card fails")
	return r.wrote(reading.ID, r.cfg.Store.FailCard(ctx, c.ID, e.Description, lease))
}

// refuse refuses an approval whose every card has failed: what cannot be asked
// is refused. It reports false where that comes too late; then it lapses.
func (r *Reconciler) refuse(ctx context.Context, reading *store.Reading, why string) (bool, error) {
	status, _, err := r.cfg.Store.Decide(ctx, reading, store.Attempt{
		Decision: approval.DecisionRefused, Guard: store.Unreachable, Reason: "unreachable: " + why,
		By: approval.By{Surface: approval.Telegram, ID: "delivery"},
	})
	return status == store.Done, err
}

// gone sends a new card in place of one whose message somebody deleted, or
// that cannot be edited.
func (r *Reconciler) gone(ctx context.Context, reading *store.Reading, n need, c *store.Card, lease store.Lease, e *telegram.Error) time.Duration {
	r.cfg.Log.Warn().Err(e).Str("approval", reading.ID).Str("chat", chatText(c.Chat)).Msg("a card's message is gone; a new one is sent")
	return r.wrote(reading.ID, r.cfg.Store.LoseMessage(ctx, c.ID, n.message, lease))
}

func (r *Reconciler) wrote(id string, err error) time.Duration {
	if err != nil {
		return r.unrecorded(err, id)
	}
	return 0
}
