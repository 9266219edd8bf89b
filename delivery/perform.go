package delivery

import (
	"context"
	"errors"
	"slices"
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

// perform waits for its turn and does one thing about one card. Where all went well or
// nothing was to do, the chat is not to be left alone.
func (r *Reconciler) perform(ctx context.Context, t task) outcome {
	n := t.need
	waited, err := r.cfg.Pace.Wait(ctx, n.class, n.chat)
	if err != nil {
		return outcome{wait: leaseSoon}
	}
	if waited {
		r.cfg.Count("waits", "limit")
		// What was read before the wait may be old: draw what is true now.
		t.present = r.present()
		t.lease, _ = r.cfg.Leader.Lease()
		if t.reading, err = r.cfg.Store.Read(ctx, t.id); err != nil {
			return outcome{wait: time.Second}
		}
		now := planFor(t.reading, t.present, nil)
		if !slices.ContainsFunc(now.needs, n.same) {
			return outcome{}
		}
		t.drawn = now.drawn
	}
	lease, left := r.cfg.Leader.Lease()
	if left < CallTimeout {
		return outcome{wait: leaseSoon}
	}
	switch n.what {
	case edit:
		return r.edit(ctx, t, lease)
	case ask:
		return outcome{wait: r.ask(ctx, t.reading, n, lease)}
	}
	return r.send(ctx, t, lease)
}

// same reports whether two needs are about the same.
func (n need) same(m need) bool {
	return m.chat == n.chat && m.what == n.what && m.card == n.card && m.message == n.message
}

// edit draws one message of a card anew.
func (r *Reconciler) edit(ctx context.Context, t task, lease store.Lease) outcome {
	n, reading, p := t.need, t.reading, t.present
	c := reading.Card(n.card)
	if c == nil {
		return outcome{}
	}
	drawn, planned := t.drawn[c.ID]
	m, err := r.tell(ctx, reading.ID, c.Chat, p.Cards, func(s cards.Settings) cards.Message {
		if planned && s.TimeTag == p.Cards.TimeTag {
			return drawn.message
		}
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
		return outcome{wait: r.failed(ctx, reading, n, c, lease, err)}
	}
	r.cfg.Count("edits")
	return r.record(ctx, t, c, store.Record{
		ID: t.id, Card: c.ID, What: store.AnEdit, Message: n.message, Drawn: m.Hash(), StepRev: stepOn(reading, c, p),
	}, lease)
}

// doubted writes down that nobody knows what a message shows: Telegram may have
// taken an edit without saying so, and the next thing to show may be what was drawn
// before. Where the lease is another's by now, the edit may have gone over one of
// that one's, who then draws the card again.
func (r *Reconciler) doubted(ctx context.Context, id, card string, message int, lease store.Lease) {
	r.recorded(ctx, id, func(ctx context.Context) (bool, error) {
		return r.cfg.Store.Record(ctx, store.Record{ID: id, Card: card, What: store.AnEdit, Message: message}, lease)
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
func (r *Reconciler) send(ctx context.Context, t task, lease store.Lease) outcome {
	n, reading, p := t.need, t.reading, t.present
	c, status, err := r.intend(ctx, reading, n, lease)
	switch {
	case err != nil:
		return outcome{wait: r.unrecorded(err, reading.ID)}
	case status == store.IsBusy || status == store.IsStale:
		return outcome{wait: leaseSoon}
	case status != store.MaySend:
		return outcome{}
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
		return outcome{wait: r.failed(ctx, reading, n, c, lease, err)}
	}
	r.cfg.Count("sends", n.what)
	if n.what == store.TheCard && reading.Row.State == approval.Open && r.cfg.Carded != nil {
		r.cfg.Carded(reading.Row.OpenedAt)
	}
	return r.record(ctx, t, c, store.Record{
		ID: t.id, Card: c.ID, What: n.what, Message: sent.MessageID, Drawn: m.Hash(), StepRev: stepOn(reading, c, p),
	}, lease)
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

// intend says that a send is about to be made, and returns the card that it is about,
// made where there is none yet. The card is nil only where it may not be sent.
func (r *Reconciler) intend(ctx context.Context, reading *store.Reading, n need, lease store.Lease) (*store.Card, store.IntentStatus, error) {
	if n.card == "" {
		cid, status, err := r.cfg.Store.NewCardIntended(ctx, reading.ID, n.place, lease, CallTimeout)
		return &store.Card{ID: cid, Chat: n.place.Chat, Thread: n.place.Thread, Reader: n.place.Reader}, status, err
	}
	c := reading.Card(n.card)
	if c == nil {
		return nil, store.IsStale, nil // the lease is another's
	}
	status, err := r.cfg.Store.Intend(ctx, c.ID, n.what, lease, CallTimeout)
	return c, status, err
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
