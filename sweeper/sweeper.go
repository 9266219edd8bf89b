// Package sweeper does what time asks for: it lapses approvals whose deadline
// has passed, makes reminders due, chains the audit, and drops what is old.
//
// The deadline itself is kept by the scripts of package store, by Redis's
// clock: a tap after it is refused whether a sweep has run or not. The sweep
// only takes note, so it may be late, run twice, or stop half way.
//
// More than five approvals that lapse in one chat in one sweep share one
// notice, and those whose card could not be sent yet get none. It is kept before they
// lapse and sent after, so that a crash in between makes it late, not lost.
package sweeper

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/store"
)

// Config is what a Sweeper works with.
type Config struct {
	Store    *store.Store
	Schedule cron.Schedule
	Streams  []string // the inbound streams, for trimming
	Keep     time.Duration
	Log      zerolog.Logger
	Count    func(event string, labels ...string)
	Chained  func(seq int64) // told where the audit's chain ends, once a second; may be nil
}

// Bounds of one sweep. What is beyond the limit is taken by the next. A part is read as
// a whole before the first of it lapses. What is done at once goes to Redis together,
// and is few beside what else may go, so that a sweep keeps nobody's tap waiting.
const (
	sweepLimit  = 10_000
	sweepPart   = 1000
	sweepAtOnce = 64
)

// tidyEvery is how often streams are trimmed.
const tidyEvery = "@every 1h"

// A Sweeper sweeps while it runs. One process runs one, while it holds the
// lease.
type Sweeper struct {
	cfg    Config
	part   int // how many approvals are read at a time
	unread unread
}

// New returns a Sweeper.
func New(cfg Config) *Sweeper { return &Sweeper{cfg: cfg, part: sweepPart} }

// Run tidies once and then hourly, sweeps by the schedule, and chains the audit every
// second, until ctx ends. It waits for a running sweep.
func (s *Sweeper) Run(ctx context.Context) error {
	log := cronLog{s.cfg.Log, s.cfg.Count}
	// Recover stands innermost: a panic must not keep the token of SkipIfStillRunning.
	c := cron.New(cron.WithLocation(time.UTC), cron.WithLogger(log),
		cron.WithChain(cron.SkipIfStillRunning(log), cron.Recover(log)))
	c.Schedule(s.cfg.Schedule, cron.FuncJob(func() {
		err := s.Sweep(ctx)
		if errors.Is(err, errPanicked) {
			s.cfg.Count("panics")
		}
		if err != nil && ctx.Err() == nil {
			s.cfg.Log.Error().Err(err).Msg("a sweep left something undone; the next one goes on")
		}
	}))
	tidy, err := c.AddFunc(tidyEvery, func() { s.tidy(ctx) })
	if err != nil {
		return err
	}
	c.Start()
	var chaining sync.WaitGroup
	chaining.Go(func() { s.chain(ctx) })
	c.Entry(tidy).WrappedJob.Run() // a process may not live for an hour
	<-ctx.Done()
	chaining.Wait()
	<-c.Stop().Done()
	return nil
}

// Sweep lapses what is overdue and makes due reminders due, once. An approval
// that cannot be swept keeps no other from being so; the error names it, where it
// cannot be read once an hour.
func (s *Sweeper) Sweep(ctx context.Context) error {
	return errors.Join(s.lapseOverdue(ctx), s.remind(ctx))
}

// lapseOverdue lapses what is overdue, a part at a time: however much that is, it takes
// little memory. Where the parts to come decide whether a chat's lapses share a notice,
// those wait for the last of them.
func (s *Sweeper) lapseOverdue(ctx context.Context) error {
	ids, err := s.cfg.Store.Overdue(ctx, sweepLimit)
	if err != nil {
		return err
	}
	told := &tellings{store: s.cfg.Store, by: map[int64]*telling{}}
	whole := len(ids) <= s.part
	var waiting []string
	first := s.inParts(ctx, ids, func(readings []*store.Reading) error {
		told.count(readings)
		if err := told.share(ctx); err != nil {
			return err
		}
		return s.lapseAll(ctx, slices.DeleteFunc(readings, func(r *store.Reading) bool {
			waits := !whole && !told.decided(r)
			if waits {
				waiting = append(waiting, r.ID)
			}
			return waits
		}), told)
	})
	rest := s.inParts(ctx, waiting, func(readings []*store.Reading) error {
		if err := told.share(ctx); err != nil { // again, where it failed before
			return err
		}
		return s.lapseAll(ctx, readings, told)
	})
	return errors.Join(first, rest, told.release(ctx))
}

// inParts reads approvals, so many at a time, and does something with them. It goes on
// after an error as long as Redis answers.
func (s *Sweeper) inParts(ctx context.Context, ids []string, do func([]*store.Reading) error) error {
	var failed failures
	for part := range slices.Chunk(ids, s.part) {
		readings, err := s.readAll(ctx, part)
		if err = errors.Join(err, do(readings)); err != nil {
			failed.add(err)
			if !s.alive(ctx) {
				break
			}
		}
	}
	return errors.Join(failed.kept...)
}

func (s *Sweeper) lapseAll(ctx context.Context, readings []*store.Reading, told *tellings) error {
	return each(ctx, s.alive, readings, func(ctx context.Context, r *store.Reading) error { return s.lapse(ctx, r, told) })
}

// alive reports whether Redis answers at all.
func (s *Sweeper) alive(ctx context.Context) bool {
	_, err := s.cfg.Store.Now(ctx)
	return err == nil
}

// readAll reads the approvals that are overdue, as far as they can be read. The
// error tells of one that cannot be read unless that was told within the hour.
func (s *Sweeper) readAll(ctx context.Context, ids []string) ([]*store.Reading, error) {
	readings := make([]*store.Reading, len(ids))
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	err := each(ctx, s.alive, ids, func(ctx context.Context, id string) error {
		r, err := s.cfg.Store.Read(ctx, id)
		if bad := (*store.UnreadableError)(nil); errors.As(err, &bad) {
			return s.unread.tell(bad)
		}
		if err == nil {
			readings[at[id]] = r
			s.unread.forget(id)
		}
		return err
	})
	return slices.DeleteFunc(readings, func(r *store.Reading) bool { return r == nil }), err
}

// lapse lapses one approval.
func (s *Sweeper) lapse(ctx context.Context, r *store.Reading, told *tellings) error {
	if r.Row == nil {
		return s.cfg.Store.DropDeadline(ctx, r.ID)
	}
	quiet, notices := told.of(r)
	status, _, err := s.cfg.Store.Decide(ctx, r, store.Attempt{
		Decision: approval.DecisionLapsed, Guard: store.ByDeadline, Quiet: quiet, Notices: notices,
		By: approval.By{Surface: approval.Sweeper, ID: "sweeper"},
	})
	if status == store.Done {
		s.cfg.Count("answers", string(approval.DecisionLapsed), string(approval.Sweeper))
	}
	return err
}

// remind makes due reminders due.
func (s *Sweeper) remind(ctx context.Context) error {
	ids, err := s.cfg.Store.Unreminded(ctx, sweepLimit)
	if err != nil {
		return err
	}
	return each(ctx, s.alive, ids, s.cfg.Store.Remind)
}

// tidy drops what is old. Inbound entries go a day before the rows made from
// them, so that a group made anew never reads an entry whose row is gone.
func (s *Sweeper) tidy(ctx context.Context) {
	now, err := s.cfg.Store.Now(ctx)
	if err == nil {
		err = s.cfg.Store.Forget(ctx, now)
	}
	if err != nil {
		s.cfg.Log.Error().Err(err).Msg("old memory was not dropped; the next round tries again")
		return
	}
	trims := map[string]time.Duration{s.cfg.Store.Keys().Answers(): s.cfg.Keep}
	for _, stream := range s.cfg.Streams {
		trims[stream] = s.cfg.Keep - 24*time.Hour
	}
	for stream, keep := range trims {
		n, err := s.cfg.Store.Trim(ctx, stream, now.Add(-keep))
		switch {
		case err != nil:
			s.cfg.Log.Error().Err(err).Str("stream", stream).Msg("a stream was not trimmed; the next round tries again")
		case n > 0:
			s.cfg.Log.Info().Str("stream", stream).Int64("entries", n).Msg("old entries were trimmed")
		}
	}
	if _, err := s.cfg.Store.TrimChain(ctx, now.Add(-s.cfg.Keep)); err != nil {
		s.cfg.Log.Error().Err(err).Msg("the audit was not trimmed; the next round tries again")
	}
}

// cronLog passes the words of cron on.
type cronLog struct {
	log   zerolog.Logger
	count func(event string, labels ...string)
}

// Info is not passed on: cron tells of every run.
func (cronLog) Info(string, ...any) {}

// Error passes a panic of a job on.
func (l cronLog) Error(err error, msg string, keysAndValues ...any) {
	l.count("panics")
	l.log.Error().Err(err).Fields(keysAndValues).Msg("a sweep panicked: " + msg)
}
