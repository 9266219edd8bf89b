// Package sweeper does what time asks for: it lapses approvals whose deadline
// has passed, makes reminders due, chains the audit, and drops what is old.
//
// The deadline itself is kept by the scripts of package store, by Redis's
// clock: a tap after it is refused whether a sweep has run or not. The sweep
// only takes note, so it may be late, run twice, or stop half way.
//
// More than five approvals that lapse in one chat in one sweep share one
// notice, and those whose card could not be sent yet get none. It is kept before they lapse and sent after, so that a crash in
// between makes it late, not lost.
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

// Bounds of one sweep. What is beyond is taken by the next.
const (
	sweepLimit  = 10_000
	sweepAtOnce = 16
)

// sharedFrom is how many lapses in one chat in one sweep have a notice each;
// more share one.
const sharedFrom = 5

// noticeDelay holds a shared notice back until its lapses are written, should
// the sweep stop half way.
const noticeDelay = 30 * time.Second

// tidyEvery is how often streams are trimmed.
const tidyEvery = "@every 1h"

// A Sweeper sweeps while it runs. One process runs one, while it holds the
// lease.
type Sweeper struct {
	cfg    Config
	unread unread
}

// New returns a Sweeper.
func New(cfg Config) *Sweeper { return &Sweeper{cfg: cfg} }

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

func (s *Sweeper) lapseOverdue(ctx context.Context) error {
	ids, err := s.cfg.Store.Overdue(ctx, sweepLimit)
	if err != nil {
		return err
	}
	readings, unread := s.readAll(ctx, ids)
	shared, err := s.share(ctx, readings)
	if err != nil {
		return errors.Join(unread, err)
	}
	err = each(ctx, s.alive, readings, func(ctx context.Context, r *store.Reading) error { return s.lapse(ctx, r, shared) })
	for _, nid := range shared {
		err = errors.Join(err, s.cfg.Store.SettleNotice(ctx, nid, 0, nil))
	}
	return errors.Join(unread, err)
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

// share keeps a notice for every chat in which more than five lapse at once.
// It returns the notices by chat. They name nothing yet: what lapses with one is
// added as it lapses, so that two sweeps at once, or one after half of another,
// tell of each approval once.
func (s *Sweeper) share(ctx context.Context, readings []*store.Reading) (map[int64]string, error) {
	type lapses struct{ count, thread int }
	by := map[int64]*lapses{}
	for _, r := range readings {
		for _, chat := range cardChats(r) {
			if by[chat.ID] == nil {
				by[chat.ID] = &lapses{thread: chat.Thread}
			}
			by[chat.ID].count++
		}
	}
	shared := map[int64]string{}
	for chat, l := range by {
		if l.count <= sharedFrom {
			continue
		}
		nid, err := s.cfg.Store.NewNotice(ctx, store.Notice{
			Kind: store.SharedLapse, Chat: chat, Thread: l.thread,
		}, noticeDelay)
		if err != nil {
			return nil, err
		}
		shared[chat] = nid
	}
	return shared, nil
}

// cardChats are the chats that a lapse concerns: those in which the approval has
// a card, and those where it was to get one that was not sent yet. Where its
// card has failed nothing can be told.
func cardChats(r *store.Reading) []approval.Chat {
	if r.Row == nil {
		return nil
	}
	var chats []approval.Chat
	seen := map[int64]bool{}
	add := func(c approval.Chat) {
		if !seen[c.ID] {
			seen[c.ID] = true
			chats = append(chats, c)
		}
	}
	failed := map[int64]bool{}
	for _, c := range r.Cards {
		chat := r.Home(c.Chat) // as the row's chats are named
		switch {
		case c.Failed != "":
			failed[chat] = true
		case c.Sent && !c.Retired && c.Topicless:
			add(approval.Chat{ID: chat})
		case c.Sent && !c.Retired:
			add(approval.Chat{ID: chat, Thread: c.Thread})
		}
	}
	for _, c := range r.Row.Chats {
		if !failed[c.ID] {
			add(c)
		}
	}
	return chats
}

// lapse lapses one approval.
func (s *Sweeper) lapse(ctx context.Context, r *store.Reading, shared map[int64]string) error {
	if r.Row == nil {
		return s.cfg.Store.DropDeadline(ctx, r.ID)
	}
	var quiet []int64
	var notices []string
	for _, chat := range cardChats(r) {
		if nid := shared[chat.ID]; nid != "" {
			quiet, notices = append(quiet, chat.ID), append(notices, nid)
		}
	}
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
