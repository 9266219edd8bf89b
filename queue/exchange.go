package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// clockText reads Redis's clock. It is a script that names the stream, so that in a
// cluster the node is asked that has it.
const clockText = `return redis.call('TIME')`

// ask asks one thing about the stream, in one exchange with all that goes with it. What
// was settled is acknowledged before: a read that then blocks does not delay that. Trimmed
// entries are looked for before, too, since a read makes some servers forget them. The
// clock is read behind it, once it no longer blocks, so that entries and the time come
// together.
func (r *reader) ask(ctx context.Context, cmd *redis.Cmd) (any, error) {
	pipe := r.in.cfg.Redis.Pipeline()
	var acked *redis.IntCmd
	if len(r.settled) > 0 {
		acked = pipe.XAck(ctx, r.stream.Key, r.group, r.settled...)
	}
	gone := r.lookForLost(ctx, pipe)
	_ = pipe.Process(ctx, cmd)
	clock := pipe.Eval(ctx, clockText, []string{r.stream.Key})
	// Each command keeps its error, but where none was sent.
	if _, err := pipe.Exec(ctx); err != nil && clock.Err() == nil && clock.Val() == nil {
		return nil, err
	}
	r.tellLost(gone)
	if acked != nil {
		if err := r.acked(acked.Err()); err != nil {
			return nil, err
		}
	}
	v, err := cmd.Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	now, fault := parseClock(clock.Result())
	if fault != nil {
		return nil, fmt.Errorf("time: %w", fault)
	}
	r.now = now
	return v, err
}

// ack acknowledges what was settled, without waiting for the next exchange; it does so
// also when the intake is told to stop.
func (r *reader) ack(ctx context.Context) error {
	if len(r.settled) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), effectTimeout)
	defer cancel()
	return r.acked(r.in.cfg.Redis.XAck(ctx, r.stream.Key, r.group, r.settled...).Err())
}

// acked takes what an acknowledgement came to. What was not acknowledged stays settled.
func (r *reader) acked(err error) error {
	if err != nil {
		return fmt.Errorf("queue: acknowledge on %s: %w", r.stream.Key, err)
	}
	r.settled = r.settled[:0]
	return nil
}

// parseClock reads [seconds, microseconds].
func parseClock(v any, err error) (time.Time, error) {
	if err != nil {
		return time.Time{}, err
	}
	if parts, ok := v.([]any); ok && len(parts) == 2 {
		s, _ := parts[0].(string)
		us, _ := parts[1].(string)
		sec, err1 := strconv.ParseInt(s, 10, 64)
		usec, err2 := strconv.ParseInt(us, 10, 64)
		if err1 == nil && err2 == nil {
			return time.UnixMilli(sec*1000 + usec/1000).UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: a time is %T", errReply, v)
}
