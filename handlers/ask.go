package handlers

import (
	"context"

	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// ask opens the confirm step and asks for a yes.
func (h *Handlers) ask(ctx context.Context, s *spoken, r *store.Reading) error {
	card := ""
	if c := r.At(s.Chat.ID); c != nil {
		card = c.ID
	}
	status, r, err := h.cfg.Store.OpenStep(ctx, r.ID, s.opens(s.Chat.ID, card))
	if err != nil {
		return err
	}
	if status != store.Done && status != store.AlreadyOpen {
		h.note(ctx, s, s.words(status, r, ""))
		return nil
	}
	shown := s.shown(r)
	m := cards.Question(cards.View{
		Row: r.Row, Step: r.Step, CardID: card, Opened: shown.Lines, OfLines: shown.Of, Now: r.Now,
	}, s.present.Cards)
	out := telegram.Outgoing{
		Chat: s.Chat.ID, Thread: s.Thread, ReplyTo: s.ID, HTML: m.HTML, Plain: m.Plain, ForceReply: true,
	}
	ctx = context.WithoutCancel(ctx)
	h.beside(func() { h.question(ctx, r, out, card) })
	return nil
}

// question sends the question and records it, so that a reply to it counts. A
// crash in between costs the question, not the step: the word can be said again.
func (h *Handlers) question(ctx context.Context, r *store.Reading, out telegram.Outgoing, card string) {
	sent, err := h.cfg.Voice.Ask(ctx, out)
	if err == nil && sent.MessageID != 0 {
		_, err = h.cfg.Store.Asked(ctx, r.ID, r.Step.Rev, out.Chat, sent.MessageID, card)
	}
	if err != nil {
		h.cfg.Log.Warn().Err(err).Str("approval", r.ID).Msg("a question was not asked")
	}
}
