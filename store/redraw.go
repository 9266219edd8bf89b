package store

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// What may show more than Redis kept: what is open, and what was answered within
// the last hour, at most so many.
const (
	redrawSince = time.Hour
	redrawMost  = 1000
)

// Redraw has cards drawn anew, whatever they are believed to show: those of what
// is open, and of what was answered within the last hour. It is for a Redis that
// may have lost what it acknowledged last: a card may show an outcome that is
// gone. It returns how many approvals that concerns.
func (s *Store) Redraw(ctx context.Context) (int, error) {
	ids, err := s.rdb.ZRange(ctx, s.keys.Deadlines(), 0, -1).Result()
	if err != nil {
		return 0, fmt.Errorf("store: open approvals: %w", err)
	}
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	answers, err := s.rdb.XRevRangeN(ctx, s.keys.Answers(), "+",
		strconv.FormatInt(now.Add(-redrawSince).UnixMilli(), 10), redrawMost).Result()
	if err != nil {
		return 0, fmt.Errorf("store: late answers: %w", err)
	}
	for _, a := range answers {
		if id, _ := a.Values["subject"].(string); id != "" {
			ids = append(ids, id)
		}
	}
	done := make(map[string]bool, len(ids))
	for _, id := range ids {
		if done[id] {
			continue
		}
		done[id] = true
		k := s.keys
		if _, err := s.run(ctx, "redraw", []string{k.cards(id), k.dirty(), k.wake(), k.Row(id)}, k.Prefix(), id); err != nil && !Broken(err) {
			return 0, err
		}
	}
	return len(done), nil
}
