package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

// Notice kinds.
const (
	SharedLapse = "lapsed" // several approvals lapsed in one chat in one sweep
	Unapproved  = "unapproved"
	Looser      = "looser"   // the operator's policies let more pass
	Tampered    = "tampered" // a row's seal does not hold
)

// A Notice is a message of ours that belongs to no single card. It is sent
// once.
type Notice struct {
	ID     string `json:"-"`
	Kind   string `json:"kind"`
	Chat   int64  `json:"chat"`
	Thread int    `json:"thread,omitempty"`
	// IDs are the approvals it names, the first twenty of Total. A notice kept
	// without any speaks for those that lapsed with it ([Attempt.Notices]).
	IDs   []string `json:"ids"`
	Total int      `json:"total"`
	// Outcome is what was reported of an approval that was never approved.
	Outcome approval.State `json:"outcome,omitempty"`
	// What says what policies newly let pass, one sentence each.
	What []string `json:"what,omitempty"`
}

// NewNotice keeps a notice and makes it due after a delay, so that whatever it
// tells of is written first; a crash in between only makes it late. A notice
// with an ID is kept once under it; else it gets a random one.
func (s *Store) NewNotice(ctx context.Context, n Notice, delay time.Duration) (string, error) {
	id := n.ID
	if id == "" {
		var err error
		if id, err = s.NewID(); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(n)
	if err != nil {
		return "", fmt.Errorf("store: notice: %w", err)
	}
	now, err := s.Now(ctx)
	if err != nil {
		return "", err
	}
	pipe := s.rdb.TxPipeline()
	pipe.HSet(ctx, s.keys.notice(id), "notice", data, "chat", n.Chat)
	pipe.PExpire(ctx, s.keys.notice(id), s.retention)
	pipe.ZAdd(ctx, s.keys.dirty(), redis.Z{Score: float64(now.Add(delay).UnixMilli()), Member: "n:" + id})
	pipe.XAdd(ctx, &redis.XAddArgs{Stream: s.keys.wake(), MaxLen: 64, Approx: true, Values: []any{"m", "n:" + id}})
	if _, err := pipe.Exec(ctx); err != nil {
		return "", fmt.Errorf("store: notice: %w", err)
	}
	return id, nil
}

// ReadNotice reads a notice, for where its chat is now, and whether it was sent. It returns nil where
// there is none.
func (s *Store) ReadNotice(ctx context.Context, id string) (*Notice, bool, error) {
	pipe := s.rdb.Pipeline()
	kept, moved := pipe.HGetAll(ctx, s.keys.notice(id)), pipe.HGetAll(ctx, s.keys.moved())
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, false, fmt.Errorf("store: notice %q: %w", id, err)
	}
	f := kept.Val()
	if f["notice"] == "" {
		return nil, false, nil
	}
	n := &Notice{ID: id}
	if err := json.Unmarshal([]byte(f["notice"]), n); err != nil {
		return nil, false, fmt.Errorf("store: notice %q: %w", id, err)
	}
	n.Chat = parseMoves(moved.Val()).Home(n.Chat)
	if n.Kind == SharedLapse && len(n.IDs) == 0 {
		if err := s.readTold(ctx, n); err != nil {
			return nil, false, err
		}
	}
	return n, f[TheCard] != "", nil
}

// namedInNotice is how many approvals a notice names.
const namedInNotice = 20

// readTold fills in what lapsed with a notice.
func (s *Store) readTold(ctx context.Context, n *Notice) error {
	pipe := s.rdb.Pipeline()
	named := pipe.LRange(ctx, s.keys.told(n.ID), 0, namedInNotice-1)
	total := pipe.LLen(ctx, s.keys.told(n.ID))
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("store: notice %q: %w", n.ID, err)
	}
	n.IDs, n.Total = named.Val(), int(total.Val())
	return nil
}

// IntendNotice is [Store.Intend] for a notice.
func (s *Store) IntendNotice(ctx context.Context, id string, lease Lease, timeout time.Duration) (IntentStatus, error) {
	v, err := s.run(ctx, "intent", []string{s.keys.notice(id), s.keys.lease()},
		TheCard, lease.Number, timeout.Milliseconds())
	return IntentStatus(asString(v)), err
}

// SentNotice records that a notice was sent and takes it off the feed. No lease
// fences it: it was sent, whoever did, and to know that keeps it from being sent again.
func (s *Store) SentNotice(ctx context.Context, id string, message int) error {
	pipe := s.rdb.TxPipeline()
	pipe.HSet(ctx, s.keys.notice(id), TheCard, strconv.Itoa(message))
	pipe.ZRem(ctx, s.keys.dirty(), "n:"+id)
	_, err := pipe.Exec(ctx)
	return err
}
