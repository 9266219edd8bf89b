package handlers

import (
	"context"

	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// listTap handles a tap on a button of a list. It is what a command typed there
// would be, whatever message it hangs under: it needs no more right than to name an
// approval in that chat.
func (h *Handlers) listTap(ctx context.Context, c *telegram.Callback, a actor, press cards.Press) error {
	to := hearing{
		actor: a, place: store.Place{Chat: c.Message.ChatID, Thread: c.Message.Thread}, replyTo: c.Message.MessageID,
	}
	if press.Letter == cards.LetterMore {
		err := h.more(ctx, to, press.Card, press.Arg)
		if err == nil {
			h.answer(ctx, c.ID, "")
		}
		return err
	}
	r := &store.Reading{}
	if isRef(press.Card) {
		var err error
		if r, err = h.cfg.Store.ReadByRef(ctx, press.Card); err != nil {
			return err
		}
	}
	if r.Row == nil || r.Row.Request == nil || !a.mayName(to.place.Chat, outline(r.Row)) {
		h.nowhere(ctx, c, "no approval to name here")
		return nil
	}
	if err := h.showAgain(ctx, a, to.place, r); err != nil {
		return err
	}
	h.answer(ctx, c.ID, cards.ToastBelow)
	return nil
}
