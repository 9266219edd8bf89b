package delivery

import (
	"maps"
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
	what    string // store.TheCard, TheNotice, TheReminder, edit or ask
	card    string // the card's id; "" where there is none yet
	place   store.Place
	message int // for an edit: which of the card's messages
}

const (
	edit = "edit"
	ask  = "ask" // whether the bot is out of the chat, as it may be
)

// A plan is what an approval needs, and when to look again if nothing changes.
type plan struct {
	needs []need
	next  time.Duration // negative: never
	drawn drawings
}

// drawings are what cards should show, by the card's id.
type drawings map[string]drawing

type drawing struct {
	message cards.Message // empty where nothing more than its digest is wanted
	hash    string
}

// of is the drawing of a card, made where it is not there yet.
func (d drawings) of(r *store.Reading, c *store.Card, p Present) drawing {
	have, ok := d[c.ID]
	if !ok {
		have.message = cards.Card(view(r, c, p), p.Cards)
		have.hash = have.message.Hash()
		d[c.ID] = have
	}
	return have
}

// planFor compares what each card shows with what it should show. It is pure. Of what
// it should show, what was drawn already is taken as it is, and not changed.
func planFor(r *store.Reading, p Present, drawn drawings) plan {
	out := plan{next: -1, drawn: maps.Clone(drawn)}
	if out.drawn == nil {
		out.drawn = drawings{}
	}
	if r.Row == nil || r.Row.Request == nil && r.Row.Seal.Good() && r.Row.Forgotten.IsZero() {
		return out // it was refused as it came
	}
	if r.Row.State == approval.Open && !r.Row.Seal.Good() {
		return out // it is refused first
	}
	for _, place := range r.Row.Chats {
		reader := p.Reader(place.ID)
		if !served(r, place, reader) && !quiet(r, place.ID) && p.listed(place.ID) {
			out.needs = append(out.needs, need{
				chat: place.ID, class: cardClass(r.Row), what: store.TheCard,
				place: store.Place{Chat: place.ID, Thread: place.Thread, Reader: reader},
			})
		}
	}
	for i := range r.Cards {
		c := &r.Cards[i]
		switch {
		case c.Failed != "" || r.Home(c.Chat) != c.Chat: // the latter goes first where its chat is
		case c.Doubt != "":
			out.needs = append(out.needs, need{chat: c.Chat, class: StepEdit, what: ask, card: c.ID})
		default:
			out.needs = append(out.needs, cardNeeds(r, c, p, out.drawn)...)
		}
	}
	if s := step(r, p); s != nil && r.Row.State == approval.Open {
		out.next = sooner(out.next, until(s.OpenedAt.Add(p.Cards.Confirm.Window), r.Now))
	}
	if late := cards.Overdue(r.Row); late.After(r.Now) {
		out.next = sooner(out.next, until(late, r.Now))
	}
	if r.Row.CanUndo(r.Now) {
		out.next = sooner(out.next, until(r.Row.UndoUntil, r.Now))
	}
	return out
}

// cardNeeds is what one card needs, an edit before a notice.
func cardNeeds(r *store.Reading, c *store.Card, p Present, drawn drawings) []need {
	n := need{chat: c.Chat, card: c.ID}
	if !c.Sent && !c.Retired {
		if quiet(r, c.Chat) && triedOpen(r.Row, c) {
			return nil // a shared notice speaks for it
		}
		n.class, n.what = cardClass(r.Row), store.TheCard
		return []need{n}
	}
	var needs []need
	hash := drawn.of(r, c, p).hash
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
	case r.Row.State == approval.Lapsed && !noticedAt(r, c) && !lapsedAtOnce(r.Row) && !quiet(r, c.Chat):
		n.class, n.what = Notice, store.TheNotice
		return []need{n}
	case r.Row.State == approval.Open && r.Reminded && !c.Reader && !remindedIn(r, c.Chat):
		n.class, n.what = Notice, store.TheReminder
		return []need{n}
	}
	return nil
}

// messages are a card's messages, as far as they are known, and what each was
// drawn as.
func messages(c *store.Card) map[int]string {
	m := maps.Clone(c.Copies)
	if c.Message != 0 {
		if m == nil {
			m = map[int]string{}
		}
		m[c.Message] = c.Drawn
	}
	return m
}

// cardClass puts cards that ask before those of what a policy let pass.
func cardClass(row *approval.Row) Class {
	if passed(row) {
		return Finished
	}
	return NewCard
}

// passed reports whether a policy let it pass, so that nobody was asked.
func passed(row *approval.Row) bool {
	return row.Answer != nil && row.Answer.By.Surface == approval.Policy
}

// editClass puts first what somebody is waiting to see.
func editClass(row *approval.Row) Class {
	if passed(row) && row.Undo == nil {
		return Finished
	}
	if row.State == approval.Open || row.Answer != nil && row.Answer.By.Surface == approval.Telegram && row.Claim == nil {
		return StepEdit
	}
	return OtherEdit
}

// served reports whether a place has a card. A retired one was shown again
// elsewhere in the chat; a reader's copy serves only a reader.
func served(r *store.Reading, place approval.Chat, reader bool) bool {
	return slices.ContainsFunc(r.Cards, func(c store.Card) bool {
		return r.Home(c.Chat) == place.ID && c.Thread == place.Thread && (reader || !c.Reader)
	})
}

// remindedIn reports whether a chat was reminded: a card shown again does not
// remind again.
func remindedIn(r *store.Reading, chat int64) bool {
	return slices.ContainsFunc(r.Cards, func(c store.Card) bool { return c.Chat == chat && c.Reminder != 0 })
}

// noticedAt reports whether the place of a card was told of the lapse: one that is
// shown again after it does not tell again.
func noticedAt(r *store.Reading, at *store.Card) bool {
	return slices.ContainsFunc(r.Cards, func(c store.Card) bool {
		return c.Chat == at.Chat && c.Thread == at.Thread && c.Reader == at.Reader && c.Notice != 0
	})
}

func quiet(r *store.Reading, chat int64) bool { return slices.Contains(r.Row.Quiet, chat) }

// triedOpen reports whether a card was last tried while its approval was open:
// nobody has asked since to be shown it.
func triedOpen(row *approval.Row, c *store.Card) bool {
	return !c.Trying.IsZero() && c.Trying.Add(-CallTimeout).Before(row.AnswerAt)
}

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
	for _, c := range r.Cards {
		switch {
		case c.Reader || c.Retired:
		case c.Failed == "":
			return ""
		default:
			why = c.Failed
		}
	}
	for _, place := range r.Row.Chats {
		if !served(r, place, true) {
			return "" // not tried yet
		}
	}
	return why
}
