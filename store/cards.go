package store

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// A Place is where a card goes.
type Place struct {
	Chat   int64
	Thread int
	Reader bool // a reader's copy
}

// NewCard makes a card of an approval for a place, or finds the one that stands
// there. With again the older ones there are retired and a new one is made. It
// returns "" where the row is gone, or the lease is no longer ours; a lease of
// nil makes a card without holding it (a person asked for it).
func (s *Store) NewCard(ctx context.Context, id string, p Place, lease *Lease, again bool) (string, error) {
	cid, err := s.NewID()
	if err != nil {
		return "", err
	}
	k := s.keys
	v, err := s.run(ctx, "card",
		[]string{k.Row(id), k.cards(id), k.card(cid), k.lease(), k.dirty(), k.wake()},
		k.Prefix(), id, cid, p.Chat, p.Thread, fence(lease), flag(p.Reader), flag(again))
	return asString(v), err
}

// What a message of ours is, beside a card's own.
const (
	TheCard     = "message"
	TheNotice   = "notice"
	TheReminder = "reminder"
	anEdit      = "edit"
)

// IntentStatus is whether a message may be sent now.
type IntentStatus string

// What an intent can come to.
const (
	MaySend IntentStatus = "ok"
	IsSent  IntentStatus = "sent"  // it was sent before
	IsBusy  IntentStatus = "busy"  // another process may be sending it; look again later
	IsStale IntentStatus = "stale" // the lease is no longer ours, or ends too soon
)

// Intend says that a message is about to be sent: the card itself, its lapse
// notice or its reminder. At least timeout of the lease must be left.
func (s *Store) Intend(ctx context.Context, card, what string, lease Lease, timeout time.Duration) (IntentStatus, error) {
	v, err := s.run(ctx, "intent", []string{s.keys.card(card), s.keys.lease()},
		what, lease.Number, timeout.Milliseconds())
	return IntentStatus(asString(v)), err
}

// Sent records a message that Telegram took. drawn is the digest of what it
// shows, stepRev the confirm step it shows (0: none). It reports false where
// the lease is another's by now.
func (s *Store) Sent(ctx context.Context, id, card, what string, message int, drawn string, stepRev int64, lease Lease) (bool, error) {
	step := ""
	if stepRev != 0 {
		step = strconv.FormatInt(stepRev, 10)
	}
	k := s.keys
	v, err := s.run(ctx, "sent",
		[]string{k.card(card), k.lease(), k.Row(id), k.memory(id), k.dirty(), k.wake()},
		k.Prefix(), id, card, lease.Number, what, message, drawn, step)
	return asString(v) == "ok", err
}

// Edited records an edit that Telegram took, as [Store.Sent] does a send.
func (s *Store) Edited(ctx context.Context, id, card string, message int, drawn string, stepRev int64, lease Lease) (bool, error) {
	return s.Sent(ctx, id, card, anEdit, message, drawn, stepRev, lease)
}

// SeenAll stands for all pages: the whole list was sent as a file.
const SeenAll = "all"

// A View is how one card is to be looked at, and what somebody saw there.
type View struct {
	User    int64    // who saw Pages; 0: nobody
	Pages   []string // pages by number from 0, or SeenAll
	Message int      // the message tapped, adopted if unknown; 0: none
	Chat    int64    // where that stands; it is adopted only where the card's chat is the same
	Page    *int
	Exact   *bool
}

// Look changes a card's view. A message that is not known yet is adopted: it is
// kept in line from then on.
func (s *Store) Look(ctx context.Context, id, card string, v View) (*Reading, error) {
	user, message := "", ""
	if v.User != 0 {
		user = strconv.FormatInt(v.User, 10)
	}
	if v.Message != 0 {
		message = strconv.Itoa(v.Message)
	}
	k := s.keys
	args := []any{k.Prefix(), id, user, strings.Join(v.Pages, ","), message, v.Chat}
	if v.Page != nil {
		args = append(args, "page", *v.Page)
	}
	if v.Exact != nil {
		args = append(args, "exact", flag(*v.Exact))
	}
	out, err := s.run(ctx, "view", []string{k.Row(id), k.card(card), k.dirty(), k.wake()}, args...)
	if err != nil {
		return nil, err
	}
	_, r, err := s.parseResult(out)
	return r, err
}

// LoseTopic records that a card's topic is gone or closed: how is [Topicless] or
// [Astray]. The error is [ErrStale] where the lease is another's.
func (s *Store) LoseTopic(ctx context.Context, card, how string, lease Lease) error {
	return fenced(s.run(ctx, "topic", []string{s.keys.card(card), s.keys.lease()}, lease.Number, how))
}

// LoseMessage forgets a message of a card, because somebody deleted it or it
// cannot be edited: where it was the card's own, a new one is to be sent. The
// error is [ErrStale] where the lease is another's.
func (s *Store) LoseMessage(ctx context.Context, card string, message int, lease Lease) error {
	k := s.keys
	return fenced(s.run(ctx, "gone", []string{k.card(card), k.lease()}, k.Prefix(), lease.Number, message))
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
