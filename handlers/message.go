package handlers

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// errNameless means that a command names a bot before this one knows its own
// name. The update comes again.
var errNameless = errors.New("the bot's own name is not known yet")

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
	actor
}

// message handles a message.
func (h *Handlers) message(ctx context.Context, m *telegram.Message) error {
	if m.MigrateTo != 0 || m.MigrateFrom != 0 {
		return h.moved(ctx, m)
	}
	if !theirs(m) {
		h.cfg.Count("updates_dropped")
		return nil
	}
	present := h.cfg.Present()
	s := &spoken{
		Message: m, utterance: understand(m.Text, present.Approve, present.Reject),
		actor: actor{who: present.People[m.From.ID], present: present},
	}
	if s.bot != "" {
		switch name := h.cfg.Username(); {
		case name == "":
			return errNameless
		case !strings.EqualFold(s.bot, name):
			return nil
		}
	}
	switch {
	case s.who.Role == "":
		h.stranger(ctx, s)
		return nil
	case s.command != "":
		return h.command(ctx, s)
	}
	return h.plainly(ctx, s)
}

// stranger answers somebody unknown, at most once a minute, and only where they
// spoke to the bot.
func (h *Handlers) stranger(ctx context.Context, s *spoken) {
	if !s.Chat.Private() && !ours(s.command) {
		return
	}
	if h.memory.answerStranger(s.From.ID) {
		h.say(ctx, s.Message, cards.Start(s.From.ID, "", "", s.present.Cards))
	}
}

// repliesTo is the message of this chat that this one replies to, 0 if none. In
// a topic Telegram names its first message where there is no reply.
func (s *spoken) repliesTo() int {
	if r := s.ReplyTo; r != nil && !r.TopicStart {
		return r.MessageID
	}
	return 0
}

// repliedTo reads the approval whose card, question or notice a message replies
// to. It returns nil where it replies to none of ours.
func (h *Handlers) repliedTo(ctx context.Context, s *spoken) (*store.Reading, error) {
	if s.repliesTo() == 0 {
		return nil, nil
	}
	r, err := h.cfg.Store.ReadByMessage(ctx, s.Chat.ID, s.repliesTo())
	if err != nil || r.Row == nil {
		return nil, err
	}
	return r, nil
}

// plainly handles words that are no command: a reply to a message of ours, or
// in a direct chat a plain word.
func (h *Handlers) plainly(ctx context.Context, s *spoken) error {
	r, err := h.repliedTo(ctx, s)
	switch {
	case err != nil:
		return err
	case r != nil:
		return h.decide(ctx, s, r)
	case !s.Chat.Private():
		return nil
	case s.says == nothing || s.repliesTo() != 0:
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
	if s.tooOld(written, now) {
		h.note(ctx, s, cards.ToastOldWord)
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
		if s.says == yes && there[0].Row.State == approval.Open {
			if v := asked(there[0].Step, s); v != approval.Allowed {
				h.note(ctx, s, cards.NotConfirmed(v, there[0].Step))
				return nil
			}
		}
		return h.decide(ctx, s, there[0])
	}
	return h.list(ctx, s)
}

// asked reports whether the question that a yes answers stands above it: a
// message of ours that asks for it, or the card since it shows the step.
func asked(step *approval.Step, s *spoken) approval.Verdict {
	switch {
	case step == nil:
		return approval.NoStep
	case step.Question != 0 && step.QuestionChat == s.Chat.ID && step.Question < s.ID:
		return approval.Allowed
	case step.Chat == s.Chat.ID && !step.ShownAt.IsZero() && s.Date > step.ShownAt.Unix():
		return approval.Allowed
	}
	return approval.NotShown
}

// answers reports whether a yes was written after the step it is to confirm was
// opened: updates may come late, and a word means what stood there when it was
// written. Below the step's own question it was; else by Telegram's date, which
// has whole seconds.
func (s *spoken) answers(step *approval.Step) bool {
	if step.Question != 0 && step.QuestionChat == s.Chat.ID && step.Question < s.ID {
		return true
	}
	return s.Date > step.OpenedAt.Unix()
}

// decide does what a word says about one approval.
func (h *Handlers) decide(ctx context.Context, s *spoken, r *store.Reading) error {
	var status store.Status
	var err error
	var done string
	switch {
	case s.says == nothing:
		h.say(ctx, s.Message, cards.NotAWord(s.present.Cards))
		return nil
	case s.who.Role == Reader:
		h.note(ctx, s, cards.ToastReader)
		return nil
	case !s.present.may(s.who.ID, r.Row):
		h.note(ctx, s, cards.ToastNotAllowed)
		return nil
	case !r.Row.Seal.Good():
		status, r, err := h.cfg.Store.Refuse(ctx, r)
		if err == nil {
			h.note(ctx, s, s.words(status, r, ""))
		}
		return err
	case r.Row.State != approval.Open:
		h.note(ctx, s, cards.Already(r.Row, r.Now, s.present.Cards))
		return nil
	}
	if r, err = h.sawAbove(ctx, s, r); err != nil {
		return err
	}
	switch {
	case s.says == approve:
		return h.ask(ctx, s, r)
	case s.says == reject:
		done = cards.ToastRejected
		status, r, err = h.cfg.Store.Decide(ctx, r, s.attempt(r, approval.DecisionRejected, store.ByOwner))
	case r.Step != nil && !s.answers(r.Step):
		h.note(ctx, s, cards.NotConfirmed(approval.OldStep, r.Step))
		return nil
	default:
		if text := s.unseen(r); text != "" && s.confirming(r) {
			h.note(ctx, s, text)
			return nil
		}
		done = cards.ToastApproved
		a := s.attempt(r, approval.DecisionApproved, store.ByWord)
		if r.Step != nil {
			a.StepRev = r.Step.Rev // it confirms no step that was opened since
		}
		status, r, err = h.cfg.Store.Decide(ctx, r, a)
	}
	if err != nil {
		return err
	}
	h.note(ctx, s, s.words(status, r, done))
	return nil
}

// sawAbove records that whoever writes has in front of them the page of the card
// that stands in this chat.
func (h *Handlers) sawAbove(ctx context.Context, s *spoken, r *store.Reading) (*store.Reading, error) {
	c := r.At(s.Chat.ID)
	if c == nil || c.Message == 0 {
		return r, nil
	}
	page := strconv.Itoa(c.Page)
	if slices.Contains(c.Seen[s.who.ID], page) {
		return r, nil
	}
	fresh, err := h.cfg.Store.Look(ctx, r.ID, c.ID, store.View{User: s.who.ID, Pages: []string{page}})
	if err != nil || fresh.Row == nil {
		return r, err
	}
	return fresh, nil
}

// attempt is an answer by this message.
func (s *spoken) attempt(r *store.Reading, d approval.Decision, g store.Guard) store.Attempt {
	a := s.actor.attempt(r, d, g, s.by(s.Chat.ID, s.ID, approval.Typed))
	a.Reason = s.reason
	return a
}

// note says a short text in reply.
func (h *Handlers) note(ctx context.Context, s *spoken, text string) {
	h.say(ctx, s.Message, cards.Note(text))
}
