// Package handlers turns an update into a transition and a word back.
//
// # Who counts
//
// Only the numeric id of a real person who is in the configuration. Taps carry
// the real person's id. Messages are dropped without effect where that person
// is not certain or the words are not theirs, now, in this chat: from bots or on
// behalf of a chat, edited, forwarded, scheduled, written by another bot,
// captions, replies into other chats, business and guest messages.
//
// # What decides
//
// A button is a key, not a right: its data names a card, and the right comes
// from the person's id at the moment of the transition. Of words, only a whole
// message that is one of the configured words, a reject word followed by a
// reason, yes, or a command with a reference. Everything else decides nothing.
//
// A reply to a card, a question or a notice of ours means that approval. A
// plain word, in a direct chat, means the approval whose card stands above it
// and which was the only one open there when it was written; with several the
// bot lists them and decides nothing. A plain word older than the confirm
// window when it is handled decides nothing.
//
// # Every tap is answered
//
// Once, and within two seconds: with what came of it, or with the word that it
// is being tried; then the card shows what came of it. A tap that names no card
// of its chat, or hangs under another message of ours, leads nowhere.
//
// # Order and crashes
//
// Updates of one chat are handled one after the other, in the order in which they
// came to this process, different chats at once. By webhook each comes alone:
// Telegram delivers those of a chat in order, and waits for each. An update is confirmed to Telegram only when it was handled or set aside; what Redis
// could not take is handled again. Handled ids are remembered and compared
// exactly; an update whose id cannot be read is known by its bytes. What cannot
// be read at all, or makes a handler panic, is set aside for the operator and
// holds up nothing.
//
// A Yes whose question was asked by this process is first tried by what was read then,
// with one script. It takes nothing that has changed since, and no update that was handled.
//
// Effects are transitions that apply once. A kill between an effect and the
// record that its update was handled repeats words, not effects: a second answer
// to a tap, which Telegram ignores; a second reply, which says what stands by
// then; of /show, one more card.
package handlers

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// Role is what a person may do.
type Role string

// The roles. The empty role is a stranger's.
const (
	Owner  Role = "owner"
	Reader Role = "reader"
)

// A Person is somebody in the configuration.
type Person struct {
	ID   int64
	Name string // the operator's name for them, never the one they chose
	Role Role
}

// Present is the part of the configuration that handlers depend on. It may
// change while the bot runs.
type Present struct {
	People  map[int64]Person
	Cards   cards.Settings
	Approve []string // approve words, lower case
	Reject  []string
	// Routed reports whether cards go to a chat; of others it does not matter what
	// becomes of them. Nil: to every one.
	Routed func(chat int64) bool
}

// routed reports whether cards go to a chat.
func (p Present) routed(chat int64) bool { return p.Routed == nil || p.Routed(chat) }

// A Voice says what is no card. It waits for the limits, so handlers never wait
// for it.
type Voice interface {
	Answer(ctx context.Context, callback, text string, alert bool)
	Say(ctx context.Context, m telegram.Outgoing) (telegram.Sent, error)
	Ask(ctx context.Context, m telegram.Outgoing) (telegram.Sent, error)
	File(ctx context.Context, d telegram.Document) (telegram.Sent, error)
}

// Config is what Handlers work with.
type Config struct {
	Store    *store.Store
	Voice    Voice
	Present  func() Present
	Username func() string // the bot's own, without @, "" while unknown
	Now      func() time.Time
	Log      zerolog.Logger
	Count    func(event string, labels ...string)
	Tapped   func(since time.Time) // a tap that came at a time was handled; may be nil
}

// confirm is the configured confirm step.
func (p Present) confirm() approval.Confirm { return p.Cards.Confirm }

// owner reports whether a person is an owner now.
func (p Present) owner(id int64) bool { return p.People[id].Role == Owner }

// may reports whether a person may answer an approval: one of its owners, who
// is also one in the present configuration.
func (p Present) may(id int64, row *approval.Row) bool { return p.owner(id) && row.OwnedBy(id) }
