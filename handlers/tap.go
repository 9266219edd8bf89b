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

// counts reports whether a tap is one of ours: on a message of this very bot's
// chat, by a person.
func (h *Handlers) counts(c *telegram.Callback) bool {
	return !c.From.IsBot && (c.Message == nil || c.Message.Business == "" && c.Message.Guest == "")
}

// A tapped is a tap with what it was found to mean.
type tapped struct {
	*telegram.Callback
	press   cards.Press
	reading *store.Reading
	card    *store.Card
	who     Person
	present Present
}

// tap handles a tap on a button. Every tap is answered once, at once.
func (h *Handlers) tap(ctx context.Context, c *telegram.Callback) error {
	if !h.counts(c) {
		h.cfg.Count("updates_dropped")
		return nil
	}
	p := h.cfg.Present()
	who := p.People[c.From.ID]
	if who.Role == "" {
		h.cfg.Count("taps_refused", "stranger")
		h.answer(ctx, c.ID, cards.ToastStranger)
		return nil
	}
	press, err := cards.ParsePress(c.Data)
	if err != nil || c.Message == nil {
		return h.unknown(ctx, c, "no button of ours")
	}
	r, err := h.cfg.Store.ReadByCard(ctx, press.Card)
	if err != nil {
		return err
	}
	card := r.Card(press.Card)
	if r.Row == nil || card == nil || card.Chat != c.Message.ChatID {
		return h.unknown(ctx, c, "no card of this chat")
	}
	t := &tapped{Callback: c, press: press, reading: r, card: card, who: who, present: p}
	if err := h.saw(ctx, t); err != nil {
		return err
	}
	text, err := h.act(ctx, t)
	if err != nil {
		return err
	}
	h.answer(ctx, c.ID, text)
	return nil
}

// unknown answers a tap that leads nowhere.
func (h *Handlers) unknown(ctx context.Context, c *telegram.Callback, why string) error {
	h.cfg.Log.Warn().Int64("from", c.From.ID).Str("why", why).Msg("a tap leads nowhere")
	h.cfg.Count("taps_refused", "unknown")
	h.answer(ctx, c.ID, cards.ToastUnknown)
	return nil
}

// saw records that this person has the page in front of them, and adopts a
// message that was not recorded when it was sent.
func (h *Handlers) saw(ctx context.Context, t *tapped) error {
	page := strconv.Itoa(t.card.Page)
	_, copied := t.card.Copies[t.Message.MessageID]
	known := t.card.Message == t.Message.MessageID || copied
	if known && slices.Contains(t.card.Seen[t.who.ID], page) {
		return nil
	}
	return h.look(ctx, t, store.View{User: t.who.ID, Pages: []string{page}, Message: t.Message.MessageID})
}

// look changes the card's view and takes the fresh reading.
func (h *Handlers) look(ctx context.Context, t *tapped, v store.View) error {
	r, err := h.cfg.Store.Look(ctx, t.reading.ID, t.card.ID, v)
	if err != nil {
		return err
	}
	if card := r.Card(t.card.ID); card != nil && r.Row != nil {
		t.reading, t.card = r, card
	}
	return nil
}

// act does what the button says and returns the words for it, "" where the
// card shows it all.
func (h *Handlers) act(ctx context.Context, t *tapped) (string, error) {
	switch t.press.Letter {
	case cards.LetterPage, cards.LetterExact, cards.LetterWhole:
		return h.show(ctx, t)
	}
	switch {
	case t.who.Role == Reader:
		return cards.ToastReader, nil
	case !t.present.may(t.who.ID, t.reading.Row):
		return cards.ToastNotAllowed, nil
	case t.press.Letter == cards.LetterUndo:
		return h.undo(ctx, t)
	case t.reading.Row.State != approval.Open:
		return cards.Already(t.reading.Row, t.reading.Now, t.present.Cards), nil
	case t.card.Retired:
		return cards.ToastRetired, nil
	}
	switch t.press.Letter {
	case cards.LetterAction:
		return h.action(ctx, t)
	case cards.LetterYes:
		return h.yes(ctx, t)
	case cards.LetterCancel:
		status, r, err := h.cfg.Store.CancelStep(ctx, t.reading.ID, t.who.ID, t.present.confirm().Window, t.press.Rev)
		return h.words(status, r, t.present, cards.ToastCancelled), err
	case cards.LetterReject:
		status, r, err := h.cfg.Store.Decide(ctx, t.reading, t.attempt(approval.DecisionRejected, store.ByOwner))
		return h.words(status, r, t.present, cards.ToastRejected), err
	}
	return cards.ToastUnknown, nil
}

// action opens the confirm step, or approves a halt where one tap does.
func (h *Handlers) action(ctx context.Context, t *tapped) (string, error) {
	if t.reading.Row.Request.Kind == approval.Halt && t.present.confirm().OneTap {
		if text := t.unseen(); text != "" {
			return text, nil
		}
		status, r, err := h.cfg.Store.Decide(ctx, t.reading, t.attempt(approval.DecisionApproved, store.ByTap))
		return h.words(status, r, t.present, cards.ToastApproved), err
	}
	status, r, err := h.cfg.Store.OpenStep(ctx, t.reading.ID, t.who.ID, t.who.Name, t.present.confirm().Window, t.card.Chat, t.card.ID)
	return h.words(status, r, t.present, ""), err
}

// yes confirms.
func (h *Handlers) yes(ctx context.Context, t *tapped) (string, error) {
	if text := t.unseen(); text != "" {
		return text, nil
	}
	status, r, err := h.cfg.Store.Decide(ctx, t.reading, t.attempt(approval.DecisionApproved, store.ByStep))
	return h.words(status, r, t.present, cards.ToastApproved), err
}

// unseen refuses an approval while lines were not opened, where that is asked.
func (t *tapped) unseen() string {
	shown := t.shown()
	if t.present.confirm().NoUnseen && shown.Lines < shown.Of {
		return cards.Unseen(shown.Lines, shown.Of)
	}
	return ""
}

func (t *tapped) shown() approval.Shown {
	pages, all := t.reading.SeenBy(t.who.ID)
	return cards.Seen(t.reading.Row, pages, all, t.present.Cards)
}

// attempt is an answer by this tap.
func (t *tapped) attempt(d approval.Decision, g store.Guard) store.Attempt {
	shown := t.shown()
	return store.Attempt{
		Decision: d, Guard: g, User: t.who.ID, Card: t.card.ID, StepRev: t.press.Rev,
		By: approval.By{
			Surface: approval.Telegram, ID: strconv.FormatInt(t.who.ID, 10), Name: t.who.Name,
			Chat: t.Message.ChatID, Message: t.Message.MessageID, Method: approval.Button,
		},
		Confirm: t.present.confirm(), Counts: t.present.owner, Shown: &shown,
	}
}

// show turns a page, toggles the exact call or sends a file.
func (h *Handlers) show(ctx context.Context, t *tapped) (string, error) {
	switch {
	case t.card.Retired:
		return cards.ToastRetired, nil
	case t.press.Letter == cards.LetterPage:
		page := min(t.press.Arg, max(cards.Pages(t.reading.Row, t.present.Cards)-1, 0))
		return "", h.look(ctx, t, store.View{User: t.who.ID, Pages: []string{strconv.Itoa(page)}, Page: &page})
	case t.press.Letter == cards.LetterWhole:
		name, content := cards.WholeList(t.reading.Row, t.present.Cards.Redact)
		h.file(ctx, t, name, content)
		return cards.ToastFile, h.look(ctx, t, store.View{User: t.who.ID, Pages: []string{store.SeenAll}})
	case t.press.Arg == cards.ExactSend:
		name, content := cards.ExactFile(t.reading.Row, t.present.Cards.Redact)
		h.file(ctx, t, name, content)
		return cards.ToastFile, nil
	}
	exact := t.press.Arg == 1
	return "", h.look(ctx, t, store.View{Exact: &exact})
}

func (h *Handlers) file(ctx context.Context, t *tapped, name string, content []byte) {
	d := telegram.Document{
		Chat: t.Message.ChatID, Thread: t.Message.Thread, ReplyTo: t.Message.MessageID, Name: name, Content: content, Silent: true,
	}
	h.speaking.Go(func() {
		if _, err := h.cfg.Voice.File(context.WithoutCancel(ctx), d); err != nil {
			h.cfg.Log.Warn().Err(err).Msg("a file was not sent")
		}
	})
}

// undo asks for the undo of what was done.
func (h *Handlers) undo(ctx context.Context, t *tapped) (string, error) {
	by := t.attempt("", "").By
	status, r, err := h.cfg.Store.Undo(ctx, t.reading, t.who.ID, by)
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
	}
	return cards.ToastNoUndo, nil
}

// words are what a transition came to, for the person who asked for it. done is
// what to say where it happened.
func (h *Handlers) words(status store.Status, r *store.Reading, p Present, done string) string {
	if status != store.Done && r != nil {
		h.cfg.Count("taps_refused", string(status))
	}
	switch status {
	case store.Done:
		return done
	case store.Voted, store.HasVoted:
		votes := 0
		for _, v := range r.Votes {
			if p.owner(v.User) {
				votes++
			}
		}
		return cards.Voted(votes, r.Row.Quorum, status == store.HasVoted)
	case store.AlreadyOpen:
		return cards.ToastSameStep
	case store.NotOpen:
		return cards.Already(r.Row, r.Now, p.Cards)
	case store.Late:
		return cards.Late(r.Row, r.Now, p.Cards)
	case store.NotOwner:
		return cards.ToastNotAllowed
	case store.OtherPerson, store.NoStep, store.OldStep, store.NotShown, store.TooSoon, store.WindowOver:
		return cards.NotConfirmed(approval.Verdict(status), r.Step)
	}
	return cards.ToastUnknown
}
