package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

// Readings reads several approvals in one exchange, each as it stood when its turn
// came; what is gone, or cannot be read, has a nil row and keeps no other from its
// list.
func (s *Store) Readings(ctx context.Context, ids []string) ([]*Reading, error) {
	script := s.scripts["read"]
	replies, err := s.several(ctx, ids, func(pipe redis.Pipeliner, id string) {
		keys, args := s.reads("id", id)
		script.EvalSha(ctx, pipe, keys, args...)
	})
	if redis.HasErrorPrefix(errors.Unwrap(err), "NOSCRIPT") {
		return s.readEach(ctx, ids)
	}
	if err != nil {
		return nil, err
	}
	readings := make([]*Reading, len(ids))
	for i, id := range ids {
		readings[i] = &Reading{ID: id}
		if replies[i] == nil {
			continue
		}
		if readings[i], err = orBroken(s.parseReading(replies[i])); err != nil {
			return nil, err
		}
		readings[i].ID = id
	}
	return readings, nil
}

// readEach reads several one by one, for when Redis does not know the script yet.
func (s *Store) readEach(ctx context.Context, ids []string) ([]*Reading, error) {
	readings := make([]*Reading, len(ids))
	for i, id := range ids {
		var err error
		if readings[i], err = orBroken(s.Read(ctx, id)); err != nil {
			return nil, err
		}
		readings[i].ID = id
	}
	return readings, nil
}

// orBroken takes what cannot be read for gone.
func orBroken(r *Reading, err error) (*Reading, error) {
	if Broken(err) {
		return &Reading{}, nil
	}
	return r, err
}

// An Outline is as much of a row as tells where it may be named. It is quick to
// read, however long the request is. Its chats are named as they are now.
type Outline struct {
	ID     string
	State  approval.State // "" where there is no such row, or it cannot be read
	Owners []int64
	Chats  []approval.Chat
}

// Outlines reads the outlines of several approvals in one exchange.
func (s *Store) Outlines(ctx context.Context, ids []string) ([]Outline, error) {
	replies, err := s.several(ctx, ids, func(pipe redis.Pipeliner, id string) {
		pipe.HMGet(ctx, s.keys.Row(id), "state", "owners", "chats")
	})
	if err != nil {
		return nil, err
	}
	moved, err := s.rdb.HGetAll(ctx, s.keys.moved()).Result()
	if err != nil {
		return nil, fmt.Errorf("store: moved chats: %w", err)
	}
	outlines := make([]Outline, len(ids))
	for i, id := range ids {
		outlines[i].ID = id
		f, ok := replies[i].([]any)
		if !ok || len(f) != 3 {
			continue
		}
		row, err := parseRow(id, map[string]string{"state": asString(f[0]), "owners": asString(f[1]), "chats": asString(f[2])})
		if err != nil {
			continue
		}
		(&Reading{Row: row}).settleIn(moved)
		outlines[i] = Outline{ID: id, State: row.State, Owners: row.Owners, Chats: row.Chats}
	}
	return outlines, nil
}

// several asks one thing of each of several approvals. A reply is nil where what
// is kept of that one is to blame.
func (s *Store) several(ctx context.Context, ids []string, ask func(pipe redis.Pipeliner, id string)) ([]any, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := s.rdb.Pipeline()
	for _, id := range ids {
		ask(pipe, id)
	}
	commands, err := pipe.Exec(ctx)
	if len(commands) != len(ids) {
		return nil, fmt.Errorf("store: read several: %w", err)
	}
	replies := make([]any, len(ids))
	for i, c := range commands {
		switch err := c.Err(); {
		case Broken(err):
		case err != nil:
			return nil, fmt.Errorf("store: read several: %w", err)
		default:
			replies[i] = value(c)
		}
	}
	return replies, nil
}

// value is what a command came to.
func value(c redis.Cmder) any {
	switch c := c.(type) {
	case *redis.Cmd:
		return c.Val()
	case *redis.SliceCmd:
		return c.Val()
	}
	return nil
}
