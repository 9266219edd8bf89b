package store

import (
	"context"
	"strconv"
	"time"

	"countersign/approval"
)

// A Reading is one approval as it stood at one instant.
type Reading struct {
	Now      time.Time
	ID       string
	Row      *approval.Row // nil where there is none
	Step     *approval.Step
	Votes    []approval.Vote // in order
	Reminded bool            // its reminders are due
	Cards    []Card          // oldest message first
	CardID   string          // the card by which it was found, "" otherwise

	moves   Moves  // see Home
	rev     string // the row's revision, as it is kept
	marks   string // likewise, how often it was marked beside its changes
	due     string // when it is to be looked at, in ms, "" for never; only of what was read by itself
	covered string // what the row's seal covers, as it is kept; "" where no key is configured
}

// Card returns the card of that id, or nil.
func (r *Reading) Card(id string) *Card {
	for i := range r.Cards {
		if r.Cards[i].ID == id {
			return &r.Cards[i]
		}
	}
	return nil
}

// Due reports whether the approval is to be looked at by now; only of what one of the
// Read methods read.
func (r *Reading) Due() bool { return r.due != "" && !millis(r.due).After(r.Now) }

// SeenBy lists the pages, from 0, that an approval's cards have shown to a
// person, or reports that the whole list was.
func (r *Reading) SeenBy(user int64) (pages []int, all bool) {
	for _, c := range r.Cards {
		for _, p := range c.Seen[user] {
			if p == SeenAll {
				all = true
				continue
			}
			pages = append(pages, int(number(p)))
		}
	}
	return pages, all
}

// At returns the newest card of a chat on which it can be answered, neither
// retired nor a reader's copy, or nil.
func (r *Reading) At(chat int64) *Card {
	for i := len(r.Cards) - 1; i >= 0; i-- {
		if c := &r.Cards[i]; c.Chat == chat && !c.Retired && !c.Reader {
			return c
		}
	}
	return nil
}

// What a card's field topicless holds, beside "" where its topic is fine.
const (
	Topicless = "0" // what follows the card goes to the main chat
	Astray    = "1" // the card itself does too
)

// A Card is one card's whereabouts.
type Card struct {
	ID        string
	Chat      int64
	Thread    int
	Sent      bool           // Telegram took it; it may not have said as which message
	Trying    time.Time      // unsent: when the last call that tried to send it is over at the latest; zero: none did
	Message   int            // 0 where it is not known
	Drawn     string         // digest of what the message shows, "" if unknown
	Copies    map[int]string // further messages of this card, and what they show
	Page      int
	Exact     bool
	Reader    bool               // a reader's copy, without deciding buttons
	Retired   bool               // shown again below
	Topicless bool               // its topic takes nothing more: what is sent of it goes to the main chat
	Astray    bool               // so the card itself stands there
	Failed    string             // why it can never be shown, "" if it can
	Doubt     string             // why it may be that it can no longer be shown, "" if that is known
	Notice    int                // the lapse notice's message, 0 if none, -1 if sent and not known
	Reminder  int                // likewise
	Seen      map[int64][]string // pages each person has had shown; "all" for the file
}

// Read reads one approval.
func (s *Store) Read(ctx context.Context, id string) (*Reading, error) {
	return s.read(ctx, "id", id)
}

// ReadByCard reads the approval of a card, by the card's id.
func (s *Store) ReadByCard(ctx context.Context, card string) (*Reading, error) {
	return s.read(ctx, "card", card)
}

// ReadByRef reads the approval of a short reference, in upper case.
func (s *Store) ReadByRef(ctx context.Context, ref string) (*Reading, error) {
	return s.read(ctx, "ref", ref)
}

// ReadByMessage reads the approval to which a message of ours in that chat
// belongs: a card, a question or a notice.
func (s *Store) ReadByMessage(ctx context.Context, chat int64, message int) (*Reading, error) {
	return s.read(ctx, "message", strconv.FormatInt(chat, 10)+":"+strconv.Itoa(message))
}

func (s *Store) read(ctx context.Context, how, what string) (*Reading, error) {
	keys, args := s.reads(how, what)
	v, err := s.run(ctx, "read", keys, args...)
	if err != nil {
		return nil, err
	}
	return s.parseReading(v)
}

// reads is what the script that reads is given.
func (s *Store) reads(how, what string) (keys []string, args []any) {
	return []string{s.keys.dirty()}, []any{s.keys.Prefix(), how, what, flag(s.signs != nil)}
}
