package queue

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	tidyFirst    = 5 * time.Second // by then the groups are made
	tidyEvery    = 10 * time.Minute
	consumerIdle = time.Hour
)

//go:embed tidy.lua
var tidyText string

// tidyNowAndThen deletes abandoned consumers until ctx is done: soon after the
// start, since a process may not live for long, and then at intervals.
func (in *Intake) tidyNowAndThen(ctx context.Context) {
	for next := tidyFirst; ; next = tidyEvery {
		pause(ctx, next)
		if ctx.Err() != nil {
			return
		}
		err := recovered(func() error {
			_, err := in.Tidy(ctx, consumerIdle)
			return err
		})
		if err != nil && ctx.Err() == nil {
			in.fault(err).Msg("removing abandoned consumers failed")
		}
	}
}

// Tidy deletes the consumers of our groups that have been idle for longer and
// hold no pending entry, and returns how many. [Intake.Run] does so now and
// then with an hour.
func (in *Intake) Tidy(ctx context.Context, idle time.Duration) (int, error) {
	tidy := redis.NewScript(tidyText)
	total := 0
	var errs []error
	for _, r := range in.readers {
		n, err := tidy.Run(ctx, in.cfg.Redis, []string{r.stream.Key},
			r.group, idle.Milliseconds(), in.cfg.Consumer).Int()
		if err != nil {
			errs = append(errs, fmt.Errorf("queue: tidy %s: %w", r.stream.Key, err))
		}
		total += n
	}
	return total, errors.Join(errs...)
}
