package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrUnreadable is found with errors.Is in the error of an approval that is
// there and cannot be read. Redis is well; reading again helps only once
// somebody has mended what is kept of it.
var ErrUnreadable = errors.New("it cannot be read")

// An UnreadableError says which approval cannot be read, and why.
type UnreadableError struct {
	ID  string
	Now time.Time // by Redis's clock, when it was read
	Err error     // what is wrong with it

	rev   string // its revision, as it is kept
	marks string // likewise, see [Store.Touch]
}

// Error names the approval and what is wrong with it.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("store: approval %q: %v: %v", e.ID, ErrUnreadable, e.Err)
}

// Unwrap returns [ErrUnreadable] and the cause.
func (e *UnreadableError) Unwrap() []error { return []error{ErrUnreadable, e.Err} }

// PutOff is [Store.Settle] for an approval that cannot be read.
func (s *Store) PutOff(ctx context.Context, e *UnreadableError, again time.Duration, lease Lease) (bool, error) {
	return s.settle(ctx, "a:"+e.ID, s.keys.Row(e.ID), e.rev, e.marks, again, e.Now, &lease)
}

// Broken reports whether what is kept of one approval is to blame for an error,
// and not Redis: then others can go on. A key of the wrong type is told apart by
// Redis's text alone.
func Broken(err error) bool {
	return errors.Is(err, ErrUnreadable) || err != nil && strings.Contains(err.Error(), "WRONGTYPE")
}
