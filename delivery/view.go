package delivery

import (
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// Present is the part of the configuration that cards depend on. It may change
// while the bot runs.
type Present struct {
	Cards cards.Settings
	// Owner reports whether a person is an owner in the configuration now.
	Owner func(user int64) bool
	// Listed reports whether a direct chat is that of somebody in the
	// configuration; nobody else is sent a new card or a notice of its own. Nil
	// lists everybody.
	Listed func(chat int64) bool
	// Reader reports whether a direct chat is that of a person who may only look.
	Reader func(chat int64) bool
}

// with is p with other settings for cards.
func (p Present) with(s cards.Settings) Present {
	p.Cards = s
	return p
}

// listed reports whether a new card, or a notice of its own, may go to a chat.
func (p Present) listed(chat int64) bool { return chat < 0 || p.Listed == nil || p.Listed(chat) }

// step is the confirm step that is open at the reading's time, or nil.
func step(r *store.Reading, p Present) *approval.Step {
	if !r.Step.OpenAt(r.Now, p.Cards.Confirm.Window) {
		return nil
	}
	return r.Step
}

// view is how one card is to be drawn.
func view(r *store.Reading, c *store.Card, p Present) cards.View {
	v := cards.View{
		Row: r.Row, Step: step(r, p), CardID: c.ID, Page: c.Page, Exact: c.Exact,
		Reader: c.Reader, Retired: c.Retired, Astray: c.Astray, Now: r.Now,
	}
	for _, vote := range r.Votes {
		if p.Owner(vote.User) {
			v.Votes = append(v.Votes, vote)
		}
	}
	v.Short = short(r.Row, len(v.Votes), p)
	if v.Step != nil {
		pages, all := r.SeenBy(v.Step.By)
		shown := cards.Seen(r.Row, pages, all, p.Cards)
		v.Opened, v.OfLines = shown.Lines, shown.Of
	}
	return v
}

// short is how many owners are left who may still vote, where they are too few,
// -1 where nobody is; 0 where they are enough.
func short(row *approval.Row, votes int, p Present) int {
	left := 0
	for _, o := range row.Owners {
		if p.Owner(o) {
			left++
		}
	}
	switch {
	case left >= row.Quorum:
		return 0
	case left == votes:
		return -1
	}
	return left - votes
}

// astray reports whether what is sent of a card goes to the main chat, because its
// topic takes nothing more. Of the card itself that is not so before its own send
// failed there.
func astray(c *store.Card, n need) bool {
	if n.what == store.TheCard {
		return c.Astray
	}
	return c.Topicless
}

// outgoing is what is rendered of a card as Telegram takes it.
func outgoing(c *store.Card, n need, m cards.Message) telegram.Outgoing {
	thread := c.Thread
	if astray(c, n) {
		thread = 0
	}
	return telegram.Outgoing{
		Chat: c.Chat, Thread: thread, HTML: m.HTML, Plain: m.Plain, Keyboard: keyboard(m),
	}
}

// keyboard is a rendered keyboard as Telegram takes it.
func keyboard(m cards.Message) telegram.Keyboard {
	rows := make(telegram.Keyboard, 0, len(m.Keyboard))
	for _, row := range m.Keyboard {
		buttons := make([]telegram.Button, 0, len(row))
		for _, b := range row {
			buttons = append(buttons, telegram.Button{Text: b.Text, Data: b.Data, Style: b.Style})
		}
		rows = append(rows, buttons)
	}
	return rows
}

// until is how long until something is due at t; negative means never.
func until(t, now time.Time) time.Duration {
	if t.IsZero() {
		return -1
	}
	return max(t.Sub(now), 0) + time.Millisecond
}

// sooner is the nearer of two waits, where negative means never.
func sooner(a, b time.Duration) time.Duration {
	switch {
	case a < 0:
		return b
	case b < 0:
		return a
	}
	return min(a, b)
}
