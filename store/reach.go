package store

import "context"

// FailCard records that a card can never be shown where it was meant to be, as
// far as anybody knows now: [Store.ChatBack] brings it back. The error is [ErrStale] where
// the lease is another's.
func (s *Store) FailCard(ctx context.Context, card, why string, lease Lease) error {
	return fenced(s.run(ctx, "fail", []string{s.keys.card(card), s.keys.lease()},
		s.keys.Prefix(), why, s.retention.Milliseconds(), lease.Number))
}

// DoubtChat records that the bot may be out of a chat, and has what is open there
// looked at: whoever delivers asks Telegram. What was said of a membership may
// be old by the time it is heard, so it decides nothing.
func (s *Store) DoubtChat(ctx context.Context, chat int64, why string) error {
	return s.chat(ctx, chat, "doubt", why, "", nil)
}

// ChatOut ends the doubt about a chat, which id was looked at for: the cards in
// doubt there fail, those of what is open and of id. The error is [ErrStale] where
// the lease is another's.
func (s *Store) ChatOut(ctx context.Context, chat int64, id, why string, lease Lease) error {
	return s.chat(ctx, chat, "out", why, id, &lease)
}

// ChatFine ends the doubt about a chat in the same way: the bot can write there.
func (s *Store) ChatFine(ctx context.Context, chat int64, id string, lease Lease) error {
	return s.chat(ctx, chat, "fine", "", id, &lease)
}

// ChatBack records that the bot may write in a chat again. Failed cards of open
// approvals are sent again, and messages of finished ones brought in line.
func (s *Store) ChatBack(ctx context.Context, chat int64) error {
	return s.chat(ctx, chat, "back", "", "", nil)
}

func (s *Store) chat(ctx context.Context, chat int64, what, why, id string, lease *Lease) error {
	return fenced(s.run(ctx, "chat", []string{s.keys.dirty(), s.keys.wake(), s.keys.lease()},
		s.keys.Prefix(), chat, what, why, s.retention.Milliseconds(), id, fence(lease)))
}
