package delivery

import (
	"context"
	"errors"
	"strconv"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// leaseSoon is how long to wait where the lease is about to end or another
// process may be sending.
const leaseSoon = 500 * time.Millisecond

// perform waits for its turn and does one thing about one card. It returns how
// long to leave the chat alone, 0 where all went well or nothing was to do.
func (r *Reconciler) perform(ctx context.Context, id string, n need, reading *store.Reading) time.Duration {
	waited, err := r.cfg.Pace.Wait(ctx, n.class, n.chat)
	if err != nil {
		return leaseSoon
	}
	p := r.present()
	if waited {
		r.cfg.Count("waits", "limit")
		// What was read before the wait may be old: draw what is true now.
		if reading, err = r.cfg.Store.Read(ctx, id); err != nil {
			return time.Second
		}
		if !stillNeeded(reading, n, p) {
			return 0
		}
	}
	lease, left := r.cfg.Leader.Lease()
	if left < CallTimeout {
		return leaseSoon
	}
	switch n.what {
	case edit:
		return r.edit(ctx, reading, n, lease, p)
	case ask:
		return r.ask(ctx, reading, n, lease)
	}
	return r.send(ctx, reading, n, lease, p)
}

// stillNeeded reports whether a later reading still needs the same.
func stillNeeded(r *store.Reading, n need, p Present) bool {
	for _, m := range planFor(r, p).needs {
		if m.chat == n.chat && m.what == n.what && m.card == n.card && m.message == n.message {
			return true
		}
	}
	return false
}

// edit draws one message of a card anew.
func (r *Reconciler) edit(ctx context.Context, reading *store.Reading, n need, lease store.Lease, p Present) time.Duration {
	c := reading.Card(n.card)
	if c == nil {
		return 0
	}
	m, err := r.tell(ctx, reading.ID, c.Chat, p.Cards, func(s cards.Settings) cards.Message {
		return cards.Card(view(reading, c, p.with(s)), s)
	}, func(ctx context.Context, m cards.Message, plain bool) error {
		out := outgoing(c, n, m)
		out.PlainOnly = plain
		return r.cfg.Bot.Edit(ctx, c.Chat, n.message, out)
	})
	if err != nil {
		if unclear(err) {
			r.doubted(ctx, reading.ID, c.ID, n.message, lease)
		}
		return r.failed(ctx, reading, n, c, lease, err)
	}
	ctx, cancel := recording(ctx)
	defer cancel()
	kept, err := r.cfg.Store.Edited(ctx, reading.ID, c.ID, n.message, m.Hash(), stepOn(reading, c, p), lease)
	r.cfg.Count("edits")
	return r.kept(kept, err, reading.ID)
}

// doubted writes down that nobody knows what a message shows: Telegram may have
// taken an edit without saying so, and the next thing to show may be what was drawn
// before. Where the lease is another's by now, the edit may have gone over one of
// that one's, who then draws the card again.
func (r *Reconciler) doubted(ctx context.Context, id, card string, message int, lease store.Lease) {
	r.recorded(ctx, id, func(ctx context.Context) (bool, error) {
		return r.cfg.Store.Edited(ctx, id, card, message, "", 0, lease)
	})
}

// kept is how long to leave a chat alone after what Telegram took was recorded,
// or was not: where the lease is another's by now, that one draws the card.
func (r *Reconciler) kept(ok bool, err error, id string) time.Duration {
	switch {
	case err != nil:
		return r.unrecorded(err, id)
	case !ok:
		return leaseSoon
	}
	return 0
}

// send posts a new message: the card, its lapse notice or its reminder.
func (r *Reconciler) send(ctx context.Context, reading *store.Reading, n need, lease store.Lease, p Present) time.Duration {
	c, err := r.cardFor(ctx, reading, n, lease)
	if err != nil {
		return r.unrecorded(err, reading.ID)
	}
	if c == nil {
		return leaseSoon // the lease is another's
	}
	switch status, err := r.cfg.Store.Intend(ctx, c.ID, n.what, lease, CallTimeout); {
	case err != nil:
		return r.unrecorded(err, reading.ID)
	case status == store.IsBusy || status == store.IsStale:
		return leaseSoon
	case status != store.MaySend:
		return 0
	}
	var sent telegram.Sent
	m, err := r.tell(ctx, reading.ID, c.Chat, p.Cards, func(s cards.Settings) cards.Message {
		return render(reading, n, c, p.with(s))
	}, func(ctx context.Context, m cards.Message, plain bool) (err error) {
		out := outgoing(c, n, m)
		out.PlainOnly = plain
		if n.what != store.TheCard && c.Topicless == c.Astray { // a reply would go to the card's topic
			out.ReplyTo = c.Message
		}
		// A card that comes finished asks nothing, so it makes no sound.
		out.Silent = n.what == store.TheCard && reading.Row.State != approval.Open
		sent, err = r.cfg.Bot.Send(ctx, out)
		if kindOf(err) == telegram.ReplyGone && out.ReplyTo != 0 {
			r.cfg.Pace.Charge(out.Chat)
			out.ReplyTo = 0
			sent, err = r.cfg.Bot.Send(ctx, out)
		}
		return err
	})
	if err != nil {
		return r.failed(ctx, reading, n, c, lease, err)
	}
	r.cfg.Count("sends", n.what)
	if n.what == store.TheCard && reading.Row.State == approval.Open && r.cfg.Carded != nil {
		r.cfg.Carded(reading.Row.OpenedAt)
	}
	return r.recorded(ctx, reading.ID, func(ctx context.Context) (bool, error) {
		return r.cfg.Store.Sent(ctx, reading.ID, c.ID, n.what, sent.MessageID, m.Hash(), stepOn(reading, c, p), lease)
	})
}

// recorded writes down what was sent, as often as it takes while this process
// leads: what is not written down would be sent again. It returns how long to
// leave the chat alone.
func (r *Reconciler) recorded(ctx context.Context, id string, write func(context.Context) (bool, error)) time.Duration {
	for {
		writing, cancel := recording(ctx)
		ok, err := write(writing)
		cancel()
		wait := r.kept(ok, err, id)
		if err == nil || !pauseFor(ctx, wait) {
			return wait
		}
	}
}

// cardFor is the card a send is about, made where there is none yet.
func (r *Reconciler) cardFor(ctx context.Context, reading *store.Reading, n need, lease store.Lease) (*store.Card, error) {
	if n.card != "" {
		return reading.Card(n.card), nil
	}
	cid, err := r.cfg.Store.NewCard(ctx, reading.ID, n.place, &lease, false)
	if err != nil || cid == "" {
		return nil, err
	}
	return &store.Card{ID: cid, Chat: n.place.Chat, Thread: n.place.Thread, Reader: n.place.Reader}, nil
}

// render makes the message of a send.
func render(reading *store.Reading, n need, c *store.Card, p Present) cards.Message {
	switch n.what {
	case store.TheNotice:
		return cards.LapseNotice(reading.Row, p.Cards)
	case store.TheReminder:
		return cards.Reminder(reading.Row, reading.Now, p.Cards)
	}
	return cards.Card(view(reading, c, p), p.Cards)
}

// recordTimeout is how long it may take to record what Telegram took.
const recordTimeout = 2 * time.Second

// recording is the context for writing down what Telegram took: that is done
// even while stopping.
func recording(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
}

// stepOn is the revision of the confirm step that a card shows with its Yes, 0
// where it shows none.
func stepOn(reading *store.Reading, c *store.Card, p Present) int64 {
	if s := step(reading, p); s != nil && s.CardID == c.ID && reading.Row.State == approval.Open {
		return s.Rev
	}
	return 0
}

// unrecorded logs that Redis could not be written and leaves the chat for a
// moment; the mark on the feed stays. Where the lease is another's by now, that one
// goes on, and nothing is amiss.
func (r *Reconciler) unrecorded(err error, id string) time.Duration {
	if errors.Is(err, store.ErrStale) {
		return leaseSoon
	}
	r.cfg.Log.Error().Err(err).Str("approval", id).Msg("a card could not be recorded; it is drawn again")
	r.cfg.Count("unrecorded")
	return time.Second
}

func chatText(chat int64) string { return strconv.FormatInt(chat, 10) }
