package delivery

import (
	"slices"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
)

// A need is one thing to do about one card.
type need struct {
	chat    int64
	class   Class
	what    string // store.TheCard, TheNotice, TheReminder, or edit
	card    string // the card's id; "" where there is none yet
	place   store.Place
	message int // for an edit: which of the card's messages
}

const edit = "edit"

// A plan is what an approval needs, and when to look again if nothing changes.
type plan struct {
	needs []need
	next  time.Duration // negative: never
}

// planFor compares what each card shows with what it should show. It is pure.
func planFor(r *store.Reading, p Present) plan {
	out := plan{next: -1}
	if r.Row == nil || r.Row.Request == nil {
		return out
	}
	for _, place := range r.Row.Chats {
		if cardAt(r, place) == nil && !quiet(r, place.ID) {
			out.needs = append(out.needs, need{
				chat: place.ID, class: NewCard, what: store.TheCard,
				place: store.Place{Chat: place.ID, Thread: place.Thread, Reader: p.Reader(place.ID)},
			})
		}
	}
	for i := range r.Cards {
		c := &r.Cards[i]
		if c.Failed == "" {
			out.needs = append(out.needs, cardNeeds(r, c, p)...)
		}
	}
	if s := step(r, p); s != nil && r.Row.State == approval.Open {
		out.next = sooner(out.next, until(s.OpenedAt.Add(p.Cards.Confirm.Window), r.Now))
	}
	if r.Row.CanUndo(r.Now) {
		out.next = sooner(out.next, until(r.Row.UndoUntil, r.Now))
	}
	return out
}

// cardNeeds is what one card needs, an edit before a notice.
func cardNeeds(r *store.Reading, c *store.Card, p Present) []need {
	n := need{chat: c.Chat, card: c.ID}
	if c.Message == 0 {
		if c.Retired {
			return nil
		}
		n.class, n.what = NewCard, store.TheCard
		return []need{n}
	}
	var needs []need
	hash := cards.Card(view(r, c, p), p.Cards).Hash()
	n.what, n.class = edit, editClass(r.Row)
	for message, drawn := range messages(c) {
		if drawn != hash {
			n.message = message
			needs = append(needs, n)
		}
	}
	if len(needs) > 0 || c.Retired {
		return needs
	}
	switch {
	case r.Row.State == approval.Lapsed && c.Notice == 0 && !lapsedAtOnce(r.Row) && !quiet(r, c.Chat):
		n.class, n.what = Notice, store.TheNotice
		return []need{n}
	case r.Row.State == approval.Open && r.Reminded && c.Reminder == 0 && !c.Reader:
		n.class, n.what = Notice, store.TheReminder
		return []need{n}
	}
	return nil
}

// messages are a card's messages and what each was drawn as.
func messages(c *store.Card) map[int]string {
	m := map[int]string{c.Message: c.Drawn}
	for message, drawn := range c.Copies {
		m[message] = drawn
	}
	return m
}

// editClass puts first what somebody is waiting to see.
func editClass(row *approval.Row) Class {
	if row.State == approval.Open || row.Answer != nil && row.Answer.By.Surface == approval.Telegram && row.Claim == nil {
		return StepEdit
	}
	return OtherEdit
}

// cardAt is the card that stands at a place, or nil.
func cardAt(r *store.Reading, place approval.Chat) *store.Card {
	for i := range r.Cards {
		if c := &r.Cards[i]; c.Chat == place.ID && c.Thread == place.Thread && !c.Retired {
			return c
		}
	}
	return nil
}

func quiet(r *store.Reading, chat int64) bool { return slices.Contains(r.Row.Quiet, chat) }

// lapsedAtOnce reports whether the row lapsed as it opened: its card comes
// finished, and no notice besides. Only the opening writes both times as one.
func lapsedAtOnce(row *approval.Row) bool { return row.OpenedAt.Equal(row.AnswerAt) }

// unreachable says why an open approval can be asked nowhere, "" if it can. A
// reader's copy asks nobody.
func unreachable(r *store.Reading) string {
	if r.Row == nil || r.Row.State != approval.Open {
		return ""
	}
	why := ""
	for _, place := range r.Row.Chats {
		switch c := cardAt(r, place); {
		case c == nil:
			return "" // not tried yet
		case c.Failed != "":
			why = c.Failed
		case !c.Reader:
			return ""
		}
	}
	return why
}
