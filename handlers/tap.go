package handlers

import (
	"context"
	"slices"
	"strconv"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// counts reports whether a tap is one of ours: by a person, and not under a
// message of a business or guest chat, whose ids mean other chats than ours.
func counts(c *telegram.Callback) bool {
	return !c.From.IsBot && (c.Message == nil || c.Message.Business == "" && c.Message.Guest == "")
}

// A tapped is a tap with what it was found to mean.
type tapped struct {
	*telegram.Callback
	actor
	press   cards.Press
	reading *store.Reading
	card    *store.Card
	sees    string // the page in front of this person, where that is not recorded yet
}

// tap handles a tap on a button. Every tap is answered once, at once. The reading is
// that of its card; nil where it is to be read.
func (h *Handlers) tap(ctx context.Context, c *telegram.Callback, r *store.Reading) error {
	if !counts(c) {
		h.cfg.Count("updates_dropped")
		return nil
	}
	present := h.cfg.Present()
	a := actor{who: present.People[c.From.ID], present: present}
	if a.who.Role == "" {
		h.cfg.Count("taps_refused", "stranger")
		h.answer(ctx, c.ID, cards.ToastStranger)
		return nil
	}
	press, err := cards.ParsePress(c.Data)
	if err != nil || c.Message == nil {
		h.nowhere(ctx, c, "no button of ours")
		return nil
	}
	if press.Letter == cards.LetterShow || press.Letter == cards.LetterMore {
		return h.listTap(ctx, c, a, press)
	}
	t := &tapped{Callback: c, actor: a, press: press, reading: r}
	why, err := h.find(ctx, t)
	if err != nil {
		return err
	}
	if why != "" {
		h.nowhere(ctx, c, why)
		return nil
	}
	text, err := h.act(ctx, t)
	if err != nil {
		return err
	}
	h.answer(ctx, c.ID, text)
	return nil
}

// nowhere answers a tap that leads nowhere.
func (h *Handlers) nowhere(ctx context.Context, c *telegram.Callback, why string) {
	h.cfg.Log.Warn().Int64("from", c.From.ID).Str("why", why).Msg("a tap leads nowhere")
	h.cfg.Count("taps_refused", "unknown")
	h.answer(ctx, c.ID, cards.ToastUnknown)
}

// find finds the card that was tapped, and the page that this person has in front of
// them. It returns why there is no such card, "" if there is.
func (h *Handlers) find(ctx context.Context, t *tapped) (why string, err error) {
	r := t.reading
	if r == nil {
		if r, err = h.cfg.Store.ReadByCard(ctx, t.press.Card); err != nil {
			return "", err
		}
	}
	card := r.Card(t.press.Card)
	if r.Row == nil || r.Row.Request == nil && r.Row.Seal.Good() || card == nil || r.Home(card.Chat) != r.Home(t.Message.ChatID) {
		return "no card of this chat", nil
	}
	t.reading, t.card = r, card
	if card.Chat != t.Message.ChatID {
		return "", nil // the chat has moved between the two: which page is shown there is not known
	}
	if !stands(card, t.Message.MessageID) {
		mine, err := h.adoptable(ctx, t)
		if err != nil || !mine {
			return "a button of another message", err
		}
	} else if card.Failed == "" {
		if page := strconv.Itoa(card.Page); !slices.Contains(card.Seen[t.who.ID], page) {
			t.sees = page
		}
		return "", nil
	}
	t.sees = strconv.Itoa(t.card.Page)
	return "", h.look(ctx, t, store.View{Message: t.Message.MessageID, Chat: t.Message.ChatID})
}

// stands reports whether a card stands in a message.
func stands(c *store.Card, message int) bool {
	_, copied := c.Copies[message]
	return c.Message == message || copied
}

// adoptable reports whether the message tapped is the card's, though it was not
// known when the card was read: it was recorded since, or never, and then looking
// at it adopts it. Whatever else of ours it may be is left alone.
func (h *Handlers) adoptable(ctx context.Context, t *tapped) (bool, error) {
	r, err := h.cfg.Store.ReadByMessage(ctx, t.Message.ChatID, t.Message.MessageID)
	if err != nil || r.Row == nil {
		// Only who may answer has a message taken for a card by their word.
		return err == nil && t.who.Role == Owner, err
	}
	card := r.Card(t.press.Card)
	if card == nil || !stands(card, t.Message.MessageID) {
		return false, nil
	}
	t.reading, t.card = r, card
	return true, nil
}

// look changes the card's view, with what this person sees, and takes the fresh reading.
func (h *Handlers) look(ctx context.Context, t *tapped, v store.View) error {
	if t.sees != "" {
		v.User, v.Pages = t.who.ID, append([]string{t.sees}, v.Pages...)
	}
	r, err := h.cfg.Store.Look(ctx, t.reading.ID, t.card.ID, v)
	if err != nil {
		return err
	}
	t.sees = ""
	h.kept.put(t.card.ID, r, h.cfg.Now())
	if card := r.Card(t.card.ID); card != nil && r.Row != nil {
		t.reading, t.card = r, card
	}
	return nil
}

// clear reports whether nothing is known to be in the way of an answer by this tap.
func (t *tapped) clear() bool {
	row := t.reading.Row
	return t.who.Role == Owner && t.present.may(t.who.ID, row) && row.Seal.Good() && row.State == approval.Open && !t.card.Retired
}

// oneTap reports whether the action answers, without a confirm step.
func (t *tapped) oneTap() bool {
	return t.reading.Row.Request.Kind == approval.Halt && t.present.confirm().OneTap
}

// records reports whether what the button does is recorded together with what this person
// sees, so that one script does both.
func (t *tapped) records() bool {
	switch t.press.Letter {
	case cards.LetterPage:
		return !t.card.Retired
	case cards.LetterExact:
		return !t.card.Retired && t.press.Arg != cards.ExactSend
	case cards.LetterAction:
		return t.clear() && !t.oneTap()
	}
	return false
}

// act does what the button says and returns the words for it, "" where the
// card shows it all.
func (h *Handlers) act(ctx context.Context, t *tapped) (string, error) {
	if t.sees != "" && !t.records() {
		if err := h.look(ctx, t, store.View{}); err != nil {
			return "", err
		}
	}
	switch t.press.Letter {
	case cards.LetterPage, cards.LetterExact, cards.LetterWhole:
		return h.show(ctx, t)
	}
	switch {
	case t.who.Role == Reader:
		return h.refused("reader", cards.ToastReader), nil
	case !t.present.may(t.who.ID, t.reading.Row):
		return h.refused("not_owner", cards.ToastNotAllowed), nil
	case t.press.Letter == cards.LetterUndo:
		return h.undo(ctx, t)
	case !t.reading.Row.Seal.Good():
		status, r, err := h.cfg.Store.Refuse(ctx, t.reading)
		return h.outcome(t, status, r, err, "")
	case t.reading.Row.State != approval.Open:
		return h.refused("answered", cards.Already(t.reading.Row, t.reading.Now, t.present.Cards)), nil
	case t.card.Retired:
		return h.refused("retired", cards.ToastRetired), nil
	}
	switch t.press.Letter {
	case cards.LetterAction:
		return h.action(ctx, t)
	case cards.LetterYes:
		if text := t.unseen(t.reading); text != "" && t.confirming(t.reading) {
			return h.refused("unseen", text), nil
		}
		status, r, err := h.cfg.Store.Decide(ctx, t.reading, t.confirmation(0))
		return h.outcome(t, status, r, err, cards.ToastApproved)
	case cards.LetterCancel:
		status, r, err := h.cfg.Store.CancelStep(ctx, t.reading.ID, t.who.ID, t.present.confirm().Window, t.press.Rev)
		return h.outcome(t, status, r, err, cards.ToastCancelled)
	case cards.LetterReject:
		return h.press(ctx, t, approval.DecisionRejected, store.ByOwner, cards.ToastRejected)
	}
	return cards.ToastUnknown, nil
}

// refused counts a tap that did nothing, and returns the words for it.
func (h *Handlers) refused(why, text string) string {
	h.cfg.Count("taps_refused", why)
	return text
}

// outcome is what a transition came to, in words.
func (h *Handlers) outcome(t *tapped, status store.Status, r *store.Reading, err error, done string) (string, error) {
	if err != nil {
		return "", err
	}
	if status != store.Done && status != store.Voted {
		h.cfg.Count("taps_refused", string(status))
	}
	return t.words(status, r, done), nil
}

// action opens the confirm step, or approves a halt where one tap does.
func (h *Handlers) action(ctx context.Context, t *tapped) (string, error) {
	if t.oneTap() {
		if text := t.unseen(t.reading); text != "" && t.reading.Now.Before(t.reading.Row.ExpiresAt) {
			return h.refused("unseen", text), nil
		}
		return h.press(ctx, t, approval.DecisionApproved, store.ByTap, cards.ToastApproved)
	}
	by := t.opens(t.card.Chat, t.card.ID)
	by.Page = t.sees
	status, r, err := h.cfg.Store.OpenStep(ctx, t.reading.ID, by)
	if err == nil && status != store.Done && t.sees != "" {
		err = h.look(ctx, t, store.View{})
	}
	h.kept.put(t.card.ID, r, h.cfg.Now())
	return h.outcome(t, status, r, err, "")
}

// press answers by this tap alone.
func (h *Handlers) press(ctx context.Context, t *tapped, d approval.Decision, g store.Guard, done string) (string, error) {
	status, r, err := h.cfg.Store.Decide(ctx, t.reading, t.attempt(t.reading, d, g, t.by()))
	return h.outcome(t, status, r, err, done)
}

// by is who tapped, and where.
func (t *tapped) by() approval.By {
	return t.actor.by(t.Message.ChatID, t.Message.MessageID, approval.Button)
}

// undo asks for the undo of what was done.
func (h *Handlers) undo(ctx context.Context, t *tapped) (string, error) {
	status, r, err := h.cfg.Store.Undo(ctx, t.reading, t.who.ID, t.by())
	if err != nil {
		return "", err
	}
	switch {
	case status == store.Done:
		return "", nil
	case status == store.UndoAsked && r.Row.Undo != nil:
		return cards.UndoAsked(*r.Row.Undo), nil
	case status == store.NotOwner:
		return cards.ToastNotAllowed, nil
	case status == store.Meddled:
		return cards.ToastAltered, nil
	}
	return cards.ToastNoUndo, nil
}
