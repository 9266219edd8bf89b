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

const (
	// listScan is how many approvals a list looks at, those with the nearest deadline,
	// or that lapsed last, first.
	listScan = 5000

	// listed is how many of them are read whole: more than a message holds.
	listed = 25

	// recently is how long /pending names what lapsed.
	recently = 24 * time.Hour
)

// A hearing is a chat and somebody there who is told something.
type hearing struct {
	actor
	place   store.Place
	replyTo int
}

func (s *spoken) hearing() hearing {
	return hearing{actor: s.actor, place: store.Place{Chat: s.Chat.ID, Thread: s.Thread}, replyTo: s.ID}
}

// mayName reports whether an approval may be named to somebody in a chat: in a
// group those of routes with that chat, in a direct chat to an owner those they may
// answer, to a reader all.
func (a actor) mayName(chat int64, o store.Outline) bool {
	if chat < 0 {
		return slices.ContainsFunc(o.Chats, func(c approval.Chat) bool { return c.ID == chat })
	}
	return a.who.Role == Reader || a.present.owner(a.who.ID) && slices.Contains(o.Owners, a.who.ID)
}

func outline(row *approval.Row) store.Outline {
	return store.Outline{ID: row.ID, State: row.State, Owners: row.Owners, Chats: row.Chats}
}

// list names what is open, and decides nothing.
func (h *Handlers) list(ctx context.Context, s *spoken) error {
	to := s.hearing()
	open, now, err := h.open(ctx, to, 0)
	if err != nil {
		return err
	}
	m := cards.Which(open, now, s.present.Cards)
	if open.Of < 2 {
		m = cards.Pending(open, cards.Listing{}, now, s.present.Cards)
	}
	h.tell(ctx, to, m)
	return nil
}

// pending lists what is open here and what lapsed within a day.
func (h *Handlers) pending(ctx context.Context, to hearing) error {
	open, now, err := h.open(ctx, to, 0)
	if err != nil {
		return err
	}
	lapsed, err := h.lapsed(ctx, to, now, 0)
	if err != nil {
		return err
	}
	h.tell(ctx, to, cards.Pending(open, lapsed, now, to.present.Cards))
	return nil
}

// more goes on with a list, from an entry on.
func (h *Handlers) more(ctx context.Context, to hearing, which string, from int) error {
	now, err := h.cfg.Store.Now(ctx)
	if err != nil {
		return err
	}
	var list cards.Listing
	if which == cards.ListOpen {
		list, now, err = h.open(ctx, to, from)
	} else {
		list, err = h.lapsed(ctx, to, now, from)
	}
	if err != nil {
		return err
	}
	h.tell(ctx, to, cards.More(which, list, now, to.present.Cards))
	return nil
}

// open lists what is open and may be named here, from an entry on.
func (h *Handlers) open(ctx context.Context, to hearing, from int) (cards.Listing, time.Time, error) {
	now, err := h.cfg.Store.Now(ctx)
	if err != nil {
		return cards.Listing{}, now, err
	}
	ids, _, err := h.cfg.Store.OpenIDs(ctx, listScan)
	if err != nil {
		return cards.Listing{}, now, err
	}
	list, err := h.listing(ctx, to, ids, approval.Open, from)
	return list, now, err
}

// lapsed lists what lapsed of late and may be named here, from an entry on.
func (h *Handlers) lapsed(ctx context.Context, to hearing, now time.Time, from int) (cards.Listing, error) {
	ids, err := h.cfg.Store.LapsedIDs(ctx, now.Add(-recently), listScan)
	if err != nil {
		return cards.Listing{}, err
	}
	return h.listing(ctx, to, ids, approval.Lapsed, from)
}

// listing keeps of some approvals what may be named here and is in that state, and
// reads as many of these as are to be shown from an entry on.
func (h *Handlers) listing(ctx context.Context, to hearing, ids []string, state approval.State, from int) (cards.Listing, error) {
	outlines, err := h.cfg.Store.Outlines(ctx, ids)
	if err != nil {
		return cards.Listing{}, err
	}
	var here []string
	for _, o := range outlines {
		if o.State == state && to.mayName(to.place.Chat, o) {
			here = append(here, o.ID)
		}
	}
	list := cards.Listing{From: min(from, len(here)), Of: len(here)}
	readings, err := h.cfg.Store.Readings(ctx, here[list.From:min(list.From+listed, len(here))])
	if err != nil {
		return list, err
	}
	for _, r := range readings {
		if r.Row != nil && r.Row.Request != nil && r.Row.State == state {
			list.Items = append(list.Items, cards.Listed{Row: r.Row, Link: link(r, to.place.Chat)})
		} else {
			list.Of-- // answered since, or it cannot be read
		}
	}
	return list, nil
}

// tell says something that may have buttons.
func (h *Handlers) tell(ctx context.Context, to hearing, m cards.Message) {
	out := telegram.Outgoing{
		Chat: to.place.Chat, Thread: to.place.Thread, ReplyTo: to.replyTo, HTML: m.HTML, Plain: m.Plain, Silent: true,
	}
	for _, row := range m.Keyboard {
		var buttons []telegram.Button
		for _, b := range row {
			buttons = append(buttons, telegram.Button{Text: b.Text, Data: b.Data, Style: b.Style})
		}
		out.Keyboard = append(out.Keyboard, buttons)
	}
	h.speak(ctx, out)
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
	if topic := topicOf(c); topic != 0 {
		path += strconv.Itoa(topic) + "/"
	}
	return "https://t.me/c/" + path + strconv.Itoa(c.Message)
}

// topicOf is the topic that a card stands in, 0 for the main chat.
func topicOf(c *store.Card) int {
	if c.Astray {
		return 0
	}
	return c.Thread
}
