package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// updateMemory is how long handled update ids are remembered. Telegram keeps
// updates for a day; ids may start anew after a quiet week, so they are
// compared exactly, never by order.
const updateMemory = 48 * time.Hour

// Offset is the last update id confirmed to Telegram, 0 if none was.
func (s *Store) Offset(ctx context.Context) (int64, error) {
	v, err := s.rdb.Get(ctx, s.keys.offset()).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return v, err
}

// SetOffset keeps the offset.
func (s *Store) SetOffset(ctx context.Context, offset int64) error {
	return s.rdb.Set(ctx, s.keys.offset(), offset, 0).Err()
}

// An Incoming is what is known of updates that came.
type Incoming struct {
	Now    time.Time
	Fresh  map[int64]bool      // which of them were not handled yet
	Tapped map[string]*Reading // of the cards tapped, as they stood then; without what is to be read
}

// Incoming tells in one exchange which updates were not handled yet, and reads the
// approvals of cards.
func (s *Store) Incoming(ctx context.Context, ids []int64, cards []string) (Incoming, error) {
	in := Incoming{Fresh: make(map[int64]bool, len(ids)), Tapped: make(map[string]*Reading, len(cards))}
	pipe := s.rdb.Pipeline()
	scores := make([]*redis.FloatCmd, len(ids))
	for i, id := range ids {
		scores[i] = pipe.ZScore(ctx, s.keys.updates(), strconv.FormatInt(id, 10))
	}
	clock := pipe.Time(ctx)
	found := make([]*redis.Cmd, len(cards))
	for i, card := range cards {
		keys, args := s.reads("card", card)
		found[i] = s.scripts["read"].EvalSha(ctx, pipe, keys, args...)
	}
	_, failed := pipe.Exec(ctx)
	now, err := clock.Result()
	if err == nil && now.IsZero() {
		err = failed
	}
	if err != nil {
		return Incoming{}, fmt.Errorf("store: updates: %w", err)
	}
	in.Now = now.Truncate(time.Millisecond).UTC()
	for i, id := range ids {
		err := scores[i].Err()
		if err != nil && !errors.Is(err, redis.Nil) {
			return Incoming{}, fmt.Errorf("store: update %d: %w", id, err)
		}
		in.Fresh[id] = errors.Is(err, redis.Nil)
	}
	for i, card := range cards {
		// What cannot be read here is read again by whoever needs it, and told of then.
		if r, err := s.parseReading(found[i].Val()); err == nil && found[i].Err() == nil {
			in.Tapped[card] = r
		}
	}
	return in, nil
}

// UpdateHandled remembers an update whose effect is in Redis.
func (s *Store) UpdateHandled(ctx context.Context, id int64, now time.Time) error {
	return s.rdb.ZAdd(ctx, s.keys.updates(), redis.Z{
		Score: float64(now.UnixMilli()), Member: strconv.FormatInt(id, 10),
	}).Err()
}

// asideLimit bounds how many unreadable updates are kept for the operator.
const asideLimit = 1000

// SetAside keeps an update that could not be read.
func (s *Store) SetAside(ctx context.Context, id int64, raw []byte, why string) error {
	return s.rdb.XAdd(ctx, &redis.XAddArgs{
		Stream: s.keys.aside(), MaxLen: asideLimit, Approx: true,
		Values: []any{"update", id, "reason", why, "raw", raw},
	}).Err()
}

// Setting reads what was told to Telegram last, "" if nothing was.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	v, err := s.rdb.HGet(ctx, s.keys.settings(), name).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return v, err
}

// SetSetting keeps what was told to Telegram.
func (s *Store) SetSetting(ctx context.Context, name, value string) error {
	return s.rdb.HSet(ctx, s.keys.settings(), name, value).Err()
}
