package handlers

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
)

// Bounds of what is kept.
const (
	keptMost  = 256
	keptBytes = 8 << 10 // of a request; one that is larger is read again
)

// kept are the last readings of approvals whose confirm step was opened here, by the card
// that it stands on. The Yes that follows is then answered by one script: that the reading
// is from before does no harm, since the script takes nothing where anything has changed.
// What is not kept costs one exchange. It is safe for concurrent use.
type kept struct {
	mu  sync.Mutex // guards all
	all []keptReading
}

type keptReading struct {
	card    string
	reading *store.Reading
	at      time.Time // when it was read, by this process's clock
}

// put keeps a reading for the card where a confirm step stands on it.
func (k *kept) put(card string, r *store.Reading, now time.Time) {
	if r == nil || r.Row == nil || r.Row.State != approval.Open || r.Row.Request == nil || len(r.Row.Raw) > keptBytes ||
		r.Step == nil || r.Step.CardID != card {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = slices.DeleteFunc(k.all, func(one keptReading) bool { return one.card == card })
	if len(k.all) == keptMost {
		k.all = slices.Delete(k.all, 0, 1)
	}
	k.all = append(k.all, keptReading{card, r, now})
}

// take returns what is kept of a card, as of now, and keeps it no longer; nil where nothing is.
func (k *kept) take(card string, now time.Time) *store.Reading {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.all, func(one keptReading) bool { return one.card == card })
	if i < 0 {
		return nil
	}
	one := k.all[i]
	k.all = slices.Delete(k.all, i, i+1)
	return one.reading.AsOf(one.reading.Now.Add(now.Sub(one.at)))
}

// confirm answers a Yes by what is kept of its approval, with one script, which also finds
// out whether the update is new. It reports false where that does not do: the update is then
// handled like any other, which meets whatever was in the way again, and sees to it.
func (h *Handlers) confirm(ctx context.Context, u *received) (handled bool) {
	var err error
	defer func() { h.notePanic(err, "a Yes by what was kept panicked; it is handled as any other") }()
	defer caught(&err)
	t := h.foreseen(*u)
	if t == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	status, r, err := h.cfg.Store.Decide(ctx, t.reading, t.confirmation(u.id))
	if err != nil || status == store.Changed {
		return false
	}
	if status == store.Handled {
		u.old = true
		return true
	}
	if u.now = t.reading.Now; r != nil {
		u.now = r.Now
	}
	h.kept.put(t.card.ID, r, h.cfg.Now())
	text, _ := h.outcome(t, status, r, nil, cards.ToastApproved)
	h.answer(ctx, u.Callback.ID, text)
	return true
}

// foreseen is a Yes with what is kept of its approval, where by that nothing is in its way;
// else nil.
func (h *Handlers) foreseen(u received) *tapped {
	c := u.Callback
	if u.fault != nil || c == nil || c.Message == nil || !counts(c) || h.memory.wasDone(u.id) {
		return nil
	}
	press, err := cards.ParsePress(c.Data)
	if err != nil || press.Letter != cards.LetterYes {
		return nil
	}
	r := h.kept.take(press.Card, h.cfg.Now())
	if r == nil {
		return nil
	}
	present := h.cfg.Present()
	t := &tapped{
		Callback: c, actor: actor{who: present.People[c.From.ID], present: present},
		press: press, reading: r, card: r.Card(press.Card),
	}
	if !r.Now.Before(r.Row.ExpiresAt) { // by our own clock; let Redis's say so
		return nil
	}
	if t.card == nil || t.card.Chat != c.Message.ChatID || !stands(t.card, c.Message.MessageID) || t.card.Failed != "" ||
		!slices.Contains(t.card.Seen[t.who.ID], strconv.Itoa(t.card.Page)) || !t.clear() || t.unseen(r) != "" {
		return nil
	}
	return t
}

// confirmation is the answer by a Yes. update is its update where nobody has asked whether
// that is new, else 0.
func (t *tapped) confirmation(update int64) store.Attempt {
	a := t.attempt(t.reading, approval.DecisionApproved, store.ByStep, t.by())
	a.Card, a.StepRev, a.Update = t.card.ID, t.press.Rev, update
	return a
}
