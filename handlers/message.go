package handlers

import (
	"context"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// strangerQuiet is how long a stranger gets no second answer.
const strangerQuiet = time.Minute

// theirs reports whether a message is a real person's own words, now, in this
// chat. Everything else has no effect.
func theirs(m *telegram.Message) bool {
	return m.From != nil && !m.From.IsBot && m.SenderChat == 0 && m.EditDate == 0 && !m.HasCaption &&
		!m.ExternalReply && !m.Forwarded && !m.ViaBot && !m.FromOffline && m.Business == "" && m.Guest == "" && m.Text != ""
}

// A spoken is a message with what it was found to say.
type spoken struct {
	*telegram.Message
	utterance
	who     Person
	present Present
}

// message handles a message.
func (h *Handlers) message(ctx context.Context, m *telegram.Message) error {
	if !theirs(m) {
		h.cfg.Count("updates_dropped")
		return nil
	}
	p := h.cfg.Present()
	u, other := understand(m.Text, h.cfg.Username(), p)
	if other {
		return nil
	}
	s := &spoken{Message: m, utterance: u, who: p.People[m.From.ID], present: p}
	if s.who.Role == "" {
		h.stranger(ctx, s)
		return nil
	}
	if u.command != "" {
		return h.command(ctx, s)
	}
	return h.plainly(ctx, s)
}

// stranger answers somebody unknown, at most once a minute, and only where they
// spoke to the bot.
func (h *Handlers) stranger(ctx context.Context, s *spoken) {
	if !s.Chat.Private() && s.command == "" {
		return
	}
	h.mu.Lock()
	now := h.cfg.Now()
	last, seen := h.strange[s.From.ID]
	quiet := seen && now.Sub(last) < strangerQuiet
	if !quiet {
		for id, at := range h.strange {
			if now.Sub(at) >= strangerQuiet {
				delete(h.strange, id)
			}
		}
		h.strange[s.From.ID] = now
	}
	h.mu.Unlock()
	if !quiet {
		h.say(ctx, s.Message, cards.Start(s.From.ID, "", "", s.present.Cards))
	}
}

// plainly handles words that are no command: a reply to a message of ours, or
// in a direct chat a plain word.
func (h *Handlers) plainly(ctx context.Context, s *spoken) error {
	if s.ReplyTo != nil && !s.ReplyTo.TopicStart {
		r, err := h.cfg.Store.ReadByMessage(ctx, s.Chat.ID, s.ReplyTo.MessageID)
		if err != nil {
			return err
		}
		if r.Row != nil {
			return h.decide(ctx, s, r)
		}
	}
	if !s.Chat.Private() {
		return nil
	}
	if s.saying == nothing || s.ReplyTo != nil {
		h.say(ctx, s.Message, cards.Help(s.present.Cards))
		return nil
	}
	return h.plainWord(ctx, s)
}

// plainWord handles a word said plainly in a direct chat.
func (h *Handlers) plainWord(ctx context.Context, s *spoken) error {
	now, err := h.cfg.Store.Now(ctx)
	if err != nil {
		return err
	}
	written := time.Unix(s.Date, 0)
	if now.Sub(written) > s.present.confirm().Window {
		h.say(ctx, s.Message, cards.Note(cards.ToastOldWord))
		return nil
	}
	there, err := h.cfg.Store.OpenInChat(ctx, s.Chat.ID, s.ID, written)
	if err != nil {
		return err
	}
	switch len(there) {
	case 0:
		h.say(ctx, s.Message, cards.Help(s.present.Cards))
		return nil
	case 1:
		if s.saying == yes && !askedAbove(there[0], s) {
			h.say(ctx, s.Message, cards.Note(cards.NotConfirmed(approval.NoStep, nil)))
			return nil
		}
		return h.decide(ctx, s, there[0])
	}
	h.say(ctx, s.Message, cards.Which(h.listed(s, there, true), now, s.present.Cards))
	return nil
}

// askedAbove reports whether the question that a yes answers stands above it: a
// message of ours that asks for it, or the card since it shows the step.
func askedAbove(r *store.Reading, s *spoken) bool {
	step := r.Step
	if step == nil {
		return false
	}
	if step.Question != 0 && step.QuestionChat == s.Chat.ID && step.Question < s.ID {
		return true
	}
	return step.Chat == s.Chat.ID && !step.ShownAt.IsZero() && s.Date > step.ShownAt.Unix()
}

// decide does what a word says about one approval.
func (h *Handlers) decide(ctx context.Context, s *spoken, r *store.Reading) error {
	var status store.Status
	var err error
	done := ""
	switch {
	case s.saying == nothing:
		h.say(ctx, s.Message, cards.NotAWord(s.present.Cards))
		return nil
	case s.who.Role == Reader:
		h.say(ctx, s.Message, cards.Note(cards.ToastReader))
		return nil
	case !s.present.may(s.who.ID, r.Row):
		h.say(ctx, s.Message, cards.Note(cards.ToastNotAllowed))
		return nil
	case r.Row.State != approval.Open:
		h.say(ctx, s.Message, cards.Note(cards.Already(r.Row, r.Now, s.present.Cards)))
		return nil
	case s.saying == approve:
		return h.ask(ctx, s, r)
	case s.saying == reject:
		done = cards.ToastRejected
		status, r, err = h.cfg.Store.Decide(ctx, r, s.attempt(r, approval.DecisionRejected, store.ByOwner))
	default:
		if text := s.unseen(r); text != "" {
			h.say(ctx, s.Message, cards.Note(text))
			return nil
		}
		done = cards.ToastApproved
		status, r, err = h.cfg.Store.Decide(ctx, r, s.attempt(r, approval.DecisionApproved, store.ByWord))
	}
	if err != nil {
		return err
	}
	h.say(ctx, s.Message, cards.Note(h.words(status, r, s.present, done)))
	return nil
}

// ask opens the confirm step and asks for a yes.
func (h *Handlers) ask(ctx context.Context, s *spoken, r *store.Reading) error {
	card := ""
	if c := r.At(s.Chat.ID); c != nil {
		card = c.ID
	}
	status, r, err := h.cfg.Store.OpenStep(ctx, r.ID, s.who.ID, s.who.Name, s.present.confirm().Window, s.Chat.ID, card)
	if err != nil {
		return err
	}
	if status != store.Done && status != store.AlreadyOpen {
		h.say(ctx, s.Message, cards.Note(h.words(status, r, s.present, "")))
		return nil
	}
	pages, all := r.SeenBy(s.who.ID)
	shown := cards.Seen(r.Row, pages, all, s.present.Cards)
	m := cards.Question(cards.View{
		Row: r.Row, Step: r.Step, CardID: card, Opened: shown.Lines, OfLines: shown.Of, Now: r.Now,
	}, s.present.Cards)
	out := telegram.Outgoing{
		Chat: s.Chat.ID, Thread: s.Thread, ReplyTo: s.ID, HTML: m.HTML, Plain: m.Plain, ForceReply: !s.Chat.Private(),
	}
	h.speaking.Go(func() { h.question(context.WithoutCancel(ctx), r, out, card) })
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

// unseen refuses an approval while lines were not opened, where that is asked.
func (s *spoken) unseen(r *store.Reading) string {
	shown := s.shown(r)
	if s.present.confirm().NoUnseen && shown.Lines < shown.Of {
		return cards.Unseen(shown.Lines, shown.Of)
	}
	return ""
}

func (s *spoken) shown(r *store.Reading) approval.Shown {
	pages, all := r.SeenBy(s.who.ID)
	return cards.Seen(r.Row, pages, all, s.present.Cards)
}
