package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Presence is who serves the namespace just now.
type Presence struct {
	Alive   bool     // a bot gave a sign of life within the last 15 s
	Streams []string // the inbound streams it reads
	Holder  string   // the instance that polls and sends, "" for none
}

// Presence asks who serves the namespace. It changes nothing, and above all takes
// no lease.
func (s *Store) Presence(ctx context.Context) (Presence, error) {
	var p Presence
	switch text, err := s.rdb.Get(ctx, s.keys.Alive()).Result(); {
	case errors.Is(err, redis.Nil):
	case err != nil:
		return p, fmt.Errorf("store: presence: %w", err)
	default:
		p.Alive = true
		// What is not a list was not written by a bot of this version; it lives all the same.
		_ = json.Unmarshal([]byte(text), &p.Streams)
	}
	now, err := s.Now(ctx)
	if err != nil {
		return p, err
	}
	lease, err := s.rdb.HMGet(ctx, s.keys.lease(), "holder", "until").Result()
	if err != nil {
		return p, fmt.Errorf("store: presence: %w", err)
	}
	if until, _ := lease[1].(string); number(until) > now.UnixMilli() {
		p.Holder, _ = lease[0].(string)
	}
	return p, nil
}

// farAhead bounds what an id may say, in ms: the end of the year 9999.
const farAhead uint64 = 253402300799999

// Newest is the time in the highest id that a stream has given out, as far as the
// user may know it, and the zero time for a stream that has none. Full reports that
// the id is the highest there can be, so that nothing can be added any more.
func (s *Store) Newest(ctx context.Context, stream string) (at time.Time, full bool, err error) {
	var top entryID
	higher := func(id string) {
		if e, err := parseEntryID(id); err == nil && top.less(e) {
			top = e
		}
	}
	entries, err := s.rdb.XRevRangeN(ctx, stream, "+", "-", 1).Result()
	if err != nil {
		return time.Time{}, false, fmt.Errorf("store: newest of %s: %w", stream, err)
	}
	for _, e := range entries {
		higher(e.ID)
	}
	// What was removed again is remembered by the stream alone, which not everybody may ask.
	if groups, err := s.rdb.XInfoGroups(ctx, stream).Result(); err == nil {
		for _, g := range groups {
			higher(g.LastDeliveredID)
		}
	}
	if about, err := s.rdb.XInfoStream(ctx, stream).Result(); err == nil {
		higher(about.LastGeneratedID)
	}
	if top.ms == 0 {
		return time.Time{}, false, nil
	}
	full = top.ms == math.MaxUint64 && top.seq == math.MaxUint64
	return time.UnixMilli(int64(min(top.ms, farAhead))).UTC(), full, nil
}
