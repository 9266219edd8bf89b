package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"countersign/approval"
)

// isNoGroup reports whether the stream or its group has vanished. A read that
// was blocked when the stream was deleted says so in other words.
func isNoGroup(err error) bool {
	return redis.HasErrorPrefix(err, "NOGROUP") || redis.HasErrorPrefix(err, "UNBLOCKED")
}

// A panicked is a panic while one entry was handled.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// fault begins the line about something that failed beside the entries, and counts
// it where it is a panic.
func (in *Intake) fault(err error) *zerolog.Event {
	event := in.noise.fault.Error().Err(err)
	var p *panicked
	if errors.As(err, &p) {
		in.cfg.Count(EventPanicked, "")
		event = event.Bytes("stack", p.stack)
	}
	return event
}

// isOwnFault reports whether an entry, or the row it names, is to blame for an
// error, so that the next entry may go on. Everything else is Redis's trouble
// and holds the stream up: an entry must never be set aside for that.
func isOwnFault(err error) bool {
	var (
		p      *panicked
		rule   *approval.Invalid
		syntax *json.SyntaxError
		shape  *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &p), errors.As(err, &rule), errors.As(err, &syntax), errors.As(err, &shape):
		return true
	}
	for _, words := range [...]string{"WRONGTYPE", "not an integer", "would overflow", "attempt to compare", "attempt to perform arithmetic"} {
		if strings.Contains(err.Error(), words) {
			return true // a script met a row in which somebody wrote something else
		}
	}
	return false
}

// isDenied reports whether Redis will say no however often it is asked.
func isDenied(err error) bool {
	for _, prefix := range [...]string{"NOPERM", "NOAUTH", "WRONGPASS", "WRONGTYPE"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return errors.Is(err, redis.ErrClosed)
}

// noise holds one logger per cause, each bounded, so that a fault that repeats
// does not fill the log. Counters see every one.
type noise struct {
	fault, group, lost, differ, dead, failed zerolog.Logger
}

func newNoise(log zerolog.Logger) noise {
	each := func(burst uint32) zerolog.Logger {
		return log.Sample(&zerolog.BurstSampler{Burst: burst, Period: time.Second})
	}
	return noise{fault: each(1), group: each(1), lost: each(1), differ: each(1), dead: each(1), failed: each(1)}
}

// A backoff is how long to wait after failures in a row.
type backoff struct{ next time.Duration }

const (
	backoffFirst = 250 * time.Millisecond
	backoffMost  = 10 * time.Second
)

func (b *backoff) reset() { b.next = 0 }

// wait waits, longer each time, or until ctx is done.
func (b *backoff) wait(ctx context.Context) {
	b.next = min(max(2*b.next, backoffFirst), backoffMost)
	pause(ctx, b.next)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
