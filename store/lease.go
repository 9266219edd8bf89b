package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A Lease is the right to poll and to send. Its number rises with every change
// of holder; what is recorded under an old number is drawn again.
type Lease struct {
	Number int64
	Left   time.Duration // how long it was good for when it was taken
}

// TakeLease takes or keeps the lease; it reports false while another holds it,
// with how long that one has left.
func (s *Store) TakeLease(ctx context.Context, holder string, ttl time.Duration) (Lease, bool, error) {
	v, err := s.run(ctx, "lease", []string{s.keys.lease()}, holder, ttl.Milliseconds())
	if err != nil {
		return Lease{}, false, err
	}
	n, left := asPair(v)
	l := Lease{Number: number(n), Left: time.Duration(number(left)) * time.Millisecond}
	return l, l.Number != 0, nil
}

// GiveLease gives the lease up, so that another can take it at once.
func (s *Store) GiveLease(ctx context.Context, holder string) error {
	_, err := s.run(ctx, "lease", []string{s.keys.lease()}, holder, 0)
	return err
}

// aliveFor is how long a sign of life lasts.
const aliveFor = 15 * time.Second

// Alive gives a sign of life: a bot serves this queue and reads these streams.
func (s *Store) Alive(ctx context.Context, streams []string) error {
	data, err := json.Marshal(streams)
	if err != nil {
		return fmt.Errorf("store: alive: %w", err)
	}
	return s.rdb.Set(ctx, s.keys.Alive(), data, aliveFor).Err()
}
