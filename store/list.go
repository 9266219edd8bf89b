package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// OpenIDs lists open approvals, nearest deadline first, at most limit of them, and
// how many there are in all.
func (s *Store) OpenIDs(ctx context.Context, limit int) ([]string, int64, error) {
	pipe := s.rdb.Pipeline()
	ids := pipe.ZRange(ctx, s.keys.Deadlines(), 0, int64(limit)-1)
	count := pipe.ZCard(ctx, s.keys.Deadlines())
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, 0, fmt.Errorf("store: open approvals: %w", err)
	}
	return ids.Val(), count.Val(), nil
}

// openInChat bounds how many open approvals of a chat are told apart for a
// plain word; more than one is too many already.
const openInChat = 20

// OpenInChat lists the approvals whose card stands in a chat above a message
// and that were open at a time, at most twenty. What was answered since is
// still listed: the caller says what became of it.
func (s *Store) OpenInChat(ctx context.Context, chat int64, above int, at time.Time) ([]*Reading, error) {
	pipe := s.rdb.Pipeline()
	open := pipe.ZRangeArgs(ctx, redis.ZRangeArgs{
		Key: s.keys.open(chat), Start: "-inf", Stop: "(" + strconv.Itoa(above), ByScore: true, Count: openInChat,
	})
	closed := pipe.ZRangeArgs(ctx, redis.ZRangeArgs{
		Key: s.keys.closed(chat), Start: toMillis(at), Stop: "+inf", ByScore: true, Count: openInChat,
	})
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("store: open in a chat: %w", err)
	}
	var there []*Reading
	for _, id := range append(open.Val(), closed.Val()...) {
		// One that cannot be read may be the one that is meant, so it is an error.
		r, err := s.Read(ctx, id)
		if err != nil {
			return nil, err
		}
		if r.Row != nil && r.Row.ExpiresAt.After(at) && r.stands(chat, above) {
			there = append(there, r)
		}
	}
	return there, nil
}

// stands reports whether a card, or the question for a typed yes, stands in a
// chat above a message.
func (r *Reading) stands(chat int64, above int) bool {
	for i := range r.Cards {
		if c := &r.Cards[i]; c.Chat == chat && c.Message != 0 && c.Message < above {
			return true
		}
	}
	return r.Step != nil && r.Step.QuestionChat == chat && r.Step.Question != 0 && r.Step.Question < above
}

// LapsedIDs lists what lapsed since, latest first, at most limit of it.
func (s *Store) LapsedIDs(ctx context.Context, since time.Time, limit int) ([]string, error) {
	ids, err := s.rdb.ZRevRangeByScore(ctx, s.keys.lapsed(), &redis.ZRangeBy{
		Min: toMillis(since), Max: "+inf", Count: int64(limit),
	}).Result()
	if err != nil {
		return nil, fmt.Errorf("store: lapsed approvals: %w", err)
	}
	return ids, nil
}

// Forget drops what the bot no longer needs to remember: handled updates and old
// lapses.
func (s *Store) Forget(ctx context.Context, now time.Time) error {
	pipe := s.rdb.Pipeline()
	pipe.ZRemRangeByScore(ctx, s.keys.updates(), "-inf", strconv.FormatInt(now.Add(-updateMemory).UnixMilli(), 10))
	pipe.ZRemRangeByScore(ctx, s.keys.lapsed(), "-inf", strconv.FormatInt(now.Add(-48*time.Hour).UnixMilli(), 10))
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("store: forget: %w", err)
	}
	return nil
}
