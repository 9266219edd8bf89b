package handlers

import (
	"context"
	"slices"

	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// command handles a command.
func (h *Handlers) command(ctx context.Context, s *spoken) error {
	switch s.command {
	case "start":
		h.say(ctx, s.Message, cards.Start(s.who.ID, s.who.Name, string(s.who.Role), s.present.Cards))
		if s.Chat.Private() {
			return h.cfg.Store.ChatBack(ctx, s.Chat.ID) // whoever starts the bot can be reached
		}
		return nil
	case "pending":
		return h.pending(ctx, s.hearing())
	case "show", "approve", "reject":
		return h.referred(ctx, s)
	}
	if ours(s.command) || s.Chat.Private() {
		h.say(ctx, s.Message, cards.Help(s.present.Cards))
	}
	return nil
}

// ours reports whether this bot knows a command. In a group others may be for
// another bot.
func ours(command string) bool {
	return command == "start" || slices.ContainsFunc(Commands(), func(c telegram.Command) bool { return c.Name == command })
}

// referred handles a command about one approval: named by reference, or without
// one by being a reply, or in a direct chat by being the only one. What is no
// reference is unknown in the same words as a wrong one; but what follows /reject
// in a reply to a card, and was not meant as a reference, is the reason.
func (h *Handlers) referred(ctx context.Context, s *spoken) error {
	if s.ref == "" && s.rest == "" {
		return h.unnamed(ctx, s)
	}
	r := &store.Reading{}
	if s.ref != "" {
		var err error
		if r, err = h.cfg.Store.ReadByRef(ctx, s.ref); err != nil {
			return err
		}
	}
	here := r.Home(s.Chat.ID) // it may have been written just before the group moved
	known := r.Row != nil && r.Row.Request != nil && s.mayName(here, outline(r.Row))
	if !known && s.command == "reject" {
		card, err := h.repliedTo(ctx, s)
		if err != nil {
			return err
		}
		if first, _ := cutSpace(s.after); card != nil && !meantAsRef(first) {
			s.says, s.reason = reject, s.after
			return h.decide(ctx, s, card)
		}
	}
	switch {
	case !known:
		h.cfg.Count("words_refused", "unknown")
		h.say(ctx, s.Message, cards.Unknown())
		return nil
	case s.command == "show":
		return h.showAgain(ctx, s.actor, store.Place{Chat: here, Thread: s.Thread}, r)
	}
	return h.decide(ctx, s, r)
}

// unnamed handles a command that names no approval.
func (h *Handlers) unnamed(ctx context.Context, s *spoken) error {
	if s.says == nothing {
		return h.list(ctx, s)
	}
	r, err := h.repliedTo(ctx, s)
	switch {
	case err != nil:
		return err
	case r != nil:
		return h.decide(ctx, s, r)
	case s.Chat.Private() && s.repliesTo() == 0:
		return h.plainWord(ctx, s)
	}
	return h.list(ctx, s)
}

// Commands are the commands to show in Telegram's menu. They grant nothing.
func Commands() []telegram.Command {
	var list []telegram.Command
	for _, e := range cards.Menu() {
		list = append(list, telegram.Command{Name: e.Command, Description: e.About})
	}
	return list
}
