package handlers

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// How much a list looks at. Beyond it the list says how many more there are.
const (
	listScan  = 500
	listShown = 60
)

// recently is how long /pending names what lapsed.
const recently = 24 * time.Hour

// attempt is an answer by this message.
func (s *spoken) attempt(r *store.Reading, d approval.Decision, g store.Guard) store.Attempt {
	shown := s.shown(r)
	return store.Attempt{
		Decision: d, Guard: g, User: s.who.ID, Reason: s.reason,
		By: approval.By{
			Surface: approval.Telegram, ID: strconv.FormatInt(s.who.ID, 10), Name: s.who.Name,
			Chat: s.Chat.ID, Message: s.ID, Method: approval.Typed,
		},
		Confirm: s.present.confirm(), Counts: s.present.owner, Shown: &shown,
	}
}

// command handles a command.
func (h *Handlers) command(ctx context.Context, s *spoken) error {
	switch s.command {
	case "start":
		h.say(ctx, s.Message, cards.Start(s.who.ID, s.who.Name, string(s.who.Role), s.present.Cards))
		return nil
	case "pending":
		return h.pending(ctx, s)
	case "show", "approve", "reject":
		return h.referred(ctx, s)
	case "help":
		h.say(ctx, s.Message, cards.Help(s.present.Cards))
		return nil
	}
	if s.Chat.Private() {
		h.say(ctx, s.Message, cards.Help(s.present.Cards))
	}
	return nil
}

// referred handles a command about one approval: named by reference, by being
// a reply, or in a direct chat by being the only one.
func (h *Handlers) referred(ctx context.Context, s *spoken) error {
	if s.ref == "" && s.saying != nothing {
		return h.unnamed(ctx, s)
	}
	if s.ref == "" {
		return h.list(ctx, s)
	}
	r, err := h.cfg.Store.ReadByRef(ctx, s.ref)
	if err != nil {
		return err
	}
	if r.Row == nil || !s.named(r.Row) {
		h.cfg.Count("words_refused", "unknown")
		h.say(ctx, s.Message, cards.Note(cards.ToastUnknown))
		return nil
	}
	if s.command == "show" {
		return h.showAgain(ctx, s, r)
	}
	return h.decide(ctx, s, r)
}

// unnamed handles /approve and /reject without a reference.
func (h *Handlers) unnamed(ctx context.Context, s *spoken) error {
	if s.ReplyTo != nil && !s.ReplyTo.TopicStart {
		r, err := h.cfg.Store.ReadByMessage(ctx, s.Chat.ID, s.ReplyTo.MessageID)
		if err != nil {
			return err
		}
		if r.Row != nil {
			return h.decide(ctx, s, r)
		}
	}
	if s.Chat.Private() && s.ReplyTo == nil {
		return h.plainWord(ctx, s)
	}
	return h.list(ctx, s)
}

// list names what is open, and decides nothing.
func (h *Handlers) list(ctx context.Context, s *spoken) error {
	open, _, now, err := h.openHere(ctx, s)
	if err != nil {
		return err
	}
	if len(open) == 0 {
		h.say(ctx, s.Message, cards.Pending(nil, nil, now, s.present.Cards))
		return nil
	}
	h.say(ctx, s.Message, cards.Which(open, now, s.present.Cards))
	return nil
}

// named reports whether an approval may be named where this was said: in a
// group those of routes with that chat, in a direct chat to an owner those they
// may answer, to a reader all.
func (s *spoken) named(row *approval.Row) bool {
	if !s.Chat.Private() {
		return slices.ContainsFunc(row.Chats, func(c approval.Chat) bool { return c.ID == s.Chat.ID })
	}
	return s.who.Role == Reader || s.present.may(s.who.ID, row)
}

// pending lists what is open here and what lapsed within a day.
func (h *Handlers) pending(ctx context.Context, s *spoken) error {
	open, _, now, err := h.openHere(ctx, s)
	if err != nil {
		return err
	}
	ids, err := h.cfg.Store.LapsedIDs(ctx, now.Add(-recently), listScan)
	if err != nil {
		return err
	}
	readings, err := h.cfg.Store.Readings(ctx, ids)
	if err != nil {
		return err
	}
	h.say(ctx, s.Message, cards.Pending(open, h.listed(s, readings, false), now, s.present.Cards))
	return nil
}

// openHere lists what is open and may be named here.
func (h *Handlers) openHere(ctx context.Context, s *spoken) ([]cards.Listed, int64, time.Time, error) {
	now, err := h.cfg.Store.Now(ctx)
	if err != nil {
		return nil, 0, now, err
	}
	ids, total, err := h.cfg.Store.OpenIDs(ctx, listScan)
	if err != nil {
		return nil, 0, now, err
	}
	readings, err := h.cfg.Store.Readings(ctx, ids)
	if err != nil {
		return nil, 0, now, err
	}
	return h.listed(s, readings, true), total, now, nil
}

// listed keeps of some readings what may be named here, open or lapsed.
func (h *Handlers) listed(s *spoken, readings []*store.Reading, open bool) []cards.Listed {
	var list []cards.Listed
	for _, r := range readings {
		if r.Row == nil || r.Row.Request == nil || !s.named(r.Row) || (r.Row.State == approval.Open) != open {
			continue
		}
		if !open && r.Row.State != approval.Lapsed {
			continue
		}
		if list = append(list, cards.Listed{Row: r.Row, Link: link(r, s.Chat.ID)}); len(list) == listShown {
			break
		}
	}
	return list
}

// link is the address of an approval's card in a supergroup; Telegram has none
// for other chats.
func link(r *store.Reading, chat int64) string {
	const supergroup = "-100"
	c := r.At(chat)
	id, ok := strings.CutPrefix(strconv.FormatInt(chat, 10), supergroup)
	if c == nil || c.Message == 0 || !ok {
		return ""
	}
	path := id + "/"
	if c.Thread != 0 && !c.Topicless {
		path += strconv.Itoa(c.Thread) + "/"
	}
	return "https://t.me/c/" + path + strconv.Itoa(c.Message)
}

// showAgain posts a card again and retires the older ones of this chat. A
// reader gets one copy and retires nothing.
func (h *Handlers) showAgain(ctx context.Context, s *spoken, r *store.Reading) error {
	reader := s.who.Role == Reader
	if !reader && r.Step.OpenAt(r.Now, s.present.confirm().Window) && r.Row.State == approval.Open {
		if c := r.Card(r.Step.CardID); c != nil && c.Chat == s.Chat.ID && c.Message != 0 {
			at := *s.Message
			at.ID = c.Message
			h.say(ctx, &at, cards.Here())
			return nil
		}
	}
	place := store.Place{Chat: s.Chat.ID, Thread: s.topic(), Reader: reader}
	_, err := h.cfg.Store.NewCard(ctx, r.ID, place, nil, true)
	return err
}

// topic is the topic a message was written in, 0 outside topics: a reply thread
// of a plain group is none.
func (s *spoken) topic() int {
	if s.IsTopic {
		return s.Thread
	}
	return 0
}

// Commands are the commands to show in Telegram's menu. They grant nothing.
func Commands() []telegram.Command {
	return []telegram.Command{
		{Name: "pending", Description: "What is open, and what lapsed within a day"},
		{Name: "show", Description: "Post a card again: /show K7QF2"},
		{Name: "approve", Description: "Approve by reference: /approve K7QF2"},
		{Name: "reject", Description: "Reject by reference: /reject K7QF2 too many"},
		{Name: "help", Description: "How to answer"},
	}
}
