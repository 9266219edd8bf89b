package handlers

import (
	"context"
	"strconv"
	"strings"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
)

// listScan is how many approvals a list looks at, those with the nearest
// deadline first.
const listScan = 500

// recently is how long /pending names what lapsed.
const recently = 24 * time.Hour

// list names what is open, and decides nothing.
func (h *Handlers) list(ctx context.Context, s *spoken) error {
	open, now, err := h.openHere(ctx, s)
	if err != nil {
		return err
	}
	if len(open) < 2 {
		h.say(ctx, s.Message, cards.Pending(open, nil, now, s.present.Cards))
		return nil
	}
	h.say(ctx, s.Message, cards.Which(open, now, s.present.Cards))
	return nil
}

// pending lists what is open here and what lapsed within a day.
func (h *Handlers) pending(ctx context.Context, s *spoken) error {
	open, now, err := h.openHere(ctx, s)
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
	h.say(ctx, s.Message, cards.Pending(open, s.listed(readings, approval.Lapsed), now, s.present.Cards))
	return nil
}

// openHere lists what is open and may be named here.
func (h *Handlers) openHere(ctx context.Context, s *spoken) ([]cards.Listed, time.Time, error) {
	now, err := h.cfg.Store.Now(ctx)
	if err != nil {
		return nil, now, err
	}
	ids, _, err := h.cfg.Store.OpenIDs(ctx, listScan)
	if err != nil {
		return nil, now, err
	}
	readings, err := h.cfg.Store.Readings(ctx, ids)
	if err != nil {
		return nil, now, err
	}
	return s.listed(readings, approval.Open), now, nil
}

// listed keeps of some readings what may be named here and is in that state.
func (s *spoken) listed(readings []*store.Reading, state approval.State) []cards.Listed {
	var list []cards.Listed
	for _, r := range readings {
		if r.Row != nil && r.Row.Request != nil && r.Row.State == state && s.named(r.Row) {
			list = append(list, cards.Listed{Row: r.Row, Link: link(r, s.Chat.ID)})
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
	if topic := topicOf(c); topic != 0 {
		path += strconv.Itoa(topic) + "/"
	}
	return "https://t.me/c/" + path + strconv.Itoa(c.Message)
}

// topicOf is the topic that a card stands in, 0 for the main chat.
func topicOf(c *store.Card) int {
	if c.Topicless {
		return 0
	}
	return c.Thread
}
