package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A Lease is the right to poll and to send. Its number rises with every change
// of holder; what is recorded under an old number is drawn again.
type Lease struct {
	Number int64
	Left   time.Duration // how long it was good for when it was taken
}

// ErrStale is found with errors.Is where something was to be written under a lease
// that is another's by now. Nothing was changed; what it was about is left to that one.
var ErrStale = errors.New("store: the lease is another's by now")

// fenced is the error of a script that writes for the holder of a lease alone.
func fenced(v any, err error) error {
	if err == nil && asString(v) == "stale" {
		return ErrStale
	}
	return err
}

// fence is a lease's number as scripts take it; ” stands for none.
func fence(lease *Lease) string {
	if lease == nil {
		return ""
	}
	return strconv.FormatInt(lease.Number, 10)
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
