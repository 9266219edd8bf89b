package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Trim drops entries of a stream that are older than a time, but none that any
// of the stream's groups has not acknowledged. Streams outside the namespace
// are left alone.
func (s *Store) Trim(ctx context.Context, stream string, before time.Time) (int64, error) {
	if !strings.HasPrefix(stream, s.keys.Prefix()) {
		return 0, nil
	}
	limit := entryID{ms: uint64(max(before.UnixMilli(), 0))}
	groups, err := s.rdb.XInfoGroups(ctx, stream).Result()
	if err != nil {
		if isNoKey(err) {
			return 0, nil
		}
		return 0, fmt.Errorf("store: trim %s: %w", stream, err)
	}
	for _, g := range groups {
		need, err := s.firstNeeded(ctx, stream, g)
		if err != nil {
			return 0, fmt.Errorf("store: trim %s: %w", stream, err)
		}
		if need.less(limit) {
			limit = need
		}
	}
	n, err := s.rdb.XTrimMinID(ctx, stream, limit.String()).Result()
	if err != nil {
		return 0, fmt.Errorf("store: trim %s: %w", stream, err)
	}
	return n, nil
}

// firstNeeded is the oldest entry that a group still needs.
func (s *Store) firstNeeded(ctx context.Context, stream string, g redis.XInfoGroup) (entryID, error) {
	if g.Pending > 0 {
		p, err := s.rdb.XPending(ctx, stream, g.Name).Result()
		if err != nil {
			return entryID{}, err
		}
		if p.Count > 0 {
			return parseEntryID(p.Lower)
		}
	}
	last, err := parseEntryID(g.LastDeliveredID)
	if err != nil {
		return entryID{}, err
	}
	return entryID{ms: last.ms, seq: last.seq + 1}, nil
}

// An entryID is a stream entry's id.
type entryID struct{ ms, seq uint64 }

func (a entryID) less(b entryID) bool { return a.ms < b.ms || a.ms == b.ms && a.seq < b.seq }

func (a entryID) String() string {
	return strconv.FormatUint(a.ms, 10) + "-" + strconv.FormatUint(a.seq, 10)
}

// parseEntryID reads an id; without a sequence number that is 0.
func parseEntryID(s string) (entryID, error) {
	ms, seq, found := strings.Cut(s, "-")
	if !found {
		seq = "0"
	}
	m, err := strconv.ParseUint(ms, 10, 64)
	if err != nil {
		return entryID{}, fmt.Errorf("entry id %q: %w", s, err)
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil {
		return entryID{}, fmt.Errorf("entry id %q: %w", s, err)
	}
	return entryID{ms: m, seq: n}, nil
}

// isNoKey reports whether Redis says that a stream is not there. Redis gives
// only text for it.
func isNoKey(err error) bool {
	return err != nil && !errors.Is(err, redis.Nil) && strings.Contains(err.Error(), "no such key")
}
