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
	cid, _, err := s.newCard(ctx, id, p, fence(lease), again, "")
	return cid, err
}

// NewCardIntended is [Store.NewCard] and [Store.Intend] in one step: it makes a card
// that is about to be sent. Where the id is "" the status is [IsStale].
func (s *Store) NewCardIntended(ctx context.Context, id string, p Place, lease Lease, timeout time.Duration) (string, IntentStatus, error) {
	return s.newCard(ctx, id, p, fence(&lease), false, strconv.FormatInt(timeout.Milliseconds(), 10))
}

func (s *Store) newCard(ctx context.Context, id string, p Place, fence string, again bool, timeout string) (string, IntentStatus, error) {
	cid, err := s.NewID()
	if err != nil {
		return "", "", err
	}
	k := s.keys
	v, err := s.run(ctx, "card",
		[]string{k.Row(id), k.cards(id), k.card(cid), k.lease(), k.dirty(), k.wake()},
		k.Prefix(), id, cid, p.Chat, p.Thread, fence, flag(p.Reader), flag(again), timeout)
	cid, status := asPair(v)
	return cid, IntentStatus(status), err
}

// What a message of ours is, beside a card's own.
const (
	TheCard     = "message"
	TheNotice   = "notice"
	TheReminder = "reminder"
	AnEdit      = "edit" // of a card's message
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

// A Record is what Telegram took of a card: a new message, or an edit of one.
type Record struct {
	ID      string // the approval
	Card    string
	What    string // [TheCard], [TheNotice], [TheReminder] or [AnEdit]
	Message int
	Drawn   string // the digest of what the message shows; "": nobody knows
	StepRev int64  // the confirm step it shows with its Yes, 0: none
}

// Record writes a record down. It reports false where the lease is another's by now.
func (s *Store) Record(ctx context.Context, rec Record, lease Lease) (bool, error) {
	status, err := s.record(ctx, rec, lease, "", "", "", "")
	return status != "stale", err
}

// RecordLast writes down a record after which the approval needs nothing more, as far
// as the reading goes, and settles it in the same step as [Store.Settle] does. It
// reports whether it is kept, and whether the approval is settled: it is not where it
// has changed since. The lease has to be that of the reading.
func (s *Store) RecordLast(ctx context.Context, rec Record, r *Reading, again time.Duration, lease Lease) (kept, settled bool, err error) {
	status, err := s.record(ctx, rec, lease, wait(again), strconv.FormatInt(r.Now.UnixMilli(), 10), r.revision(), r.marks)
	return status != "stale", status == "settled", err
}

func (s *Store) record(ctx context.Context, rec Record, lease Lease, settle ...any) (string, error) {
	step := ""
	if rec.StepRev != 0 {
		step = strconv.FormatInt(rec.StepRev, 10)
	}
	k := s.keys
	args := []any{k.Prefix(), rec.ID, rec.Card, lease.Number, rec.What, rec.Message, rec.Drawn, step}
	v, err := s.run(ctx, "sent",
		[]string{k.card(rec.Card), k.lease(), k.Row(rec.ID), k.memory(rec.ID), k.dirty(), k.wake()},
		append(args, settle...)...)
	if err != nil {
		return "", err
	}
	return asString(v), nil
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
