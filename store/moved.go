package store

import (
	"context"
	"fmt"
	"time"

	"countersign/approval"
)

// A group that becomes a supergroup goes on under another id, and its messages
// stay behind. Rows and the configuration may name the old id for long: a
// [Reading] names chats as they are now.

// Moved records that a group goes on under another id, as Telegram says, and has
// what is open there looked at. It is kept for as long as rows are, counted from
// the last time that it was said. It reports whether that is news, and whether it
// makes sense: no id is a group's before and after. No lease fences it: where a
// group went is so whoever was told, and a move is never taken back.
func (s *Store) Moved(ctx context.Context, old, now int64) (news, sense bool, err error) {
	v, err := s.run(ctx, "moved", []string{s.keys.moved(), s.keys.dirty(), s.keys.wake()},
		s.keys.Prefix(), old, now, s.retention.Milliseconds())
	return asString(v) == "1", asString(v) != "-1", err
}

// Moves lead from groups to the supergroups they became.
type Moves map[int64]int64

// Home is where a chat is now: its own id, or that of the supergroup it became.
func (m Moves) Home(chat int64) int64 {
	for range m { // no chain is longer, and a circle would end
		to, ok := m[chat]
		if !ok {
			break
		}
		chat = to
	}
	return chat
}

// Moves are all that were recorded. They are kept for as long again from now on.
func (s *Store) Moves(ctx context.Context) (Moves, error) {
	pipe := s.rdb.Pipeline()
	all := pipe.HGetAll(ctx, s.keys.moved())
	pipe.PExpire(ctx, s.keys.moved(), s.retention)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("store: moved chats: %w", err)
	}
	return parseMoves(all.Val()), nil
}

// oldMessages is how long messages of a group that moved still lead to their
// card: as long as Telegram keeps updates.
const oldMessages = 24 * time.Hour

// Rehome moves the cards of an approval to where their chats are now, to be sent
// again there. Only the lease holder may, and only while it sends nothing of
// this approval; the error is [ErrStale] where the lease is another's.
func (s *Store) Rehome(ctx context.Context, id string, lease Lease) error {
	k := s.keys
	return fenced(s.run(ctx, "rehome", []string{k.Row(id), k.cards(id), k.memory(id), k.lease()},
		k.Prefix(), id, oldMessages.Milliseconds(), lease.Number))
}

// Home is [Moves.Home] at the reading's time.
func (r *Reading) Home(chat int64) int64 { return r.moves.Home(chat) }

// Strayed reports whether a card stands in a chat that has moved.
func (r *Reading) Strayed() bool {
	for i := range r.Cards {
		if c := &r.Cards[i]; r.Home(c.Chat) != c.Chat {
			return true
		}
	}
	return false
}

// settleIn names the row's chats as they are now.
func (r *Reading) settleIn(moved map[string]string) {
	r.moves = parseMoves(moved)
	if r.Row == nil || len(r.moves) == 0 {
		return
	}
	var chats []approval.Chat
	there := map[approval.Chat]bool{}
	for _, c := range r.Row.Chats {
		c.ID = r.Home(c.ID)
		if !there[c] {
			there[c] = true
			chats = append(chats, c)
		}
	}
	r.Row.Chats = chats
	for i, chat := range r.Row.Quiet {
		r.Row.Quiet[i] = r.Home(chat)
	}
}

func parseMoves(fields map[string]string) Moves {
	if len(fields) == 0 {
		return nil
	}
	moves := make(Moves, len(fields))
	for from, to := range fields {
		moves[number(from)] = number(to)
	}
	return moves
}
