package handlers

import (
	"context"
	"strconv"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// show turns a page, toggles the exact call or sends a file. It decides nothing,
// so that everybody in people may, and after the end too.
func (h *Handlers) show(ctx context.Context, t *tapped) (string, error) {
	switch {
	case t.card.Retired:
		return cards.ToastRetired, nil
	case t.press.Letter == cards.LetterPage:
		page := min(t.press.Arg, max(cards.Pages(t.reading.Row, t.present.Cards)-1, 0))
		return "", h.look(ctx, t, store.View{User: t.who.ID, Pages: []string{strconv.Itoa(page)}, Page: &page})
	case t.press.Letter == cards.LetterWhole:
		name, content := cards.WholeList(t.reading.Row, t.present.Cards.Redact)
		h.file(ctx, t, name, content, store.SeenAll)
		return cards.ToastFile, nil
	case t.press.Arg == cards.ExactSend:
		name, content := cards.ExactFile(t.reading.Row, t.present.Cards.Redact)
		h.file(ctx, t, name, content, "")
		return cards.ToastFile, nil
	}
	exact := t.press.Arg == cards.ExactShow
	return "", h.look(ctx, t, store.View{Exact: &exact})
}

// file sends a file without waiting for it. What it shows counts as seen once
// Telegram has taken it.
func (h *Handlers) file(ctx context.Context, t *tapped, name string, content []byte, seen string) {
	d := telegram.Document{
		Chat: t.Message.ChatID, Thread: t.Message.Thread, ReplyTo: t.Message.MessageID, Name: name, Content: content, Silent: true,
	}
	id, card, user := t.reading.ID, t.card.ID, t.who.ID
	ctx = context.WithoutCancel(ctx)
	h.beside(func() {
		if _, err := h.cfg.Voice.File(ctx, d); err != nil {
			h.cfg.Log.Warn().Err(err).Str("approval", id).Msg("a file was not sent")
			return
		}
		if seen == "" {
			return
		}
		if _, err := h.cfg.Store.Look(ctx, id, card, store.View{User: user, Pages: []string{seen}}); err != nil {
			h.cfg.Log.Warn().Err(err).Str("approval", id).Msg("a list that was sent does not count as seen")
		}
	})
}

// showAgain posts a card again at a place and retires the older ones of that chat;
// where a step is open on one, it is pointed at instead. A reader gets one copy and
// retires nothing.
func (h *Handlers) showAgain(ctx context.Context, a actor, place store.Place, r *store.Reading) error {
	place.Reader = a.who.Role == Reader
	if !place.Reader && r.Step.OpenAt(r.Now, a.present.confirm().Window) && r.Row.State == approval.Open {
		if c := r.Card(r.Step.CardID); c != nil && c.Chat == place.Chat && c.Message != 0 {
			m := cards.Here()
			h.speak(ctx, telegram.Outgoing{
				Chat: c.Chat, Thread: topicOf(c), ReplyTo: c.Message, HTML: m.HTML, Plain: m.Plain, Silent: true,
			})
			return nil
		}
	}
	_, err := h.cfg.Store.NewCard(ctx, r.ID, place, nil, true)
	return err
}
