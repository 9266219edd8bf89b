package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Due is what the changes feed holds now.
type Due struct {
	Now       time.Time
	Approvals []string      // ids to look at; what people wait for comes first
	Urgent    int           // how many marks people wait for
	Notices   []string      // notice ids to send
	Next      time.Duration // until the next mark falls due; negative: none waits
}

// Dirty lists what is to be looked at, at most limit of it.
func (s *Store) Dirty(ctx context.Context, limit int) (Due, error) {
	d, err := s.due(ctx, s.keys.dirty(), limit)
	if err != nil {
		return Due{}, err
	}
	members := d.Approvals
	d.Approvals = nil
	for _, m := range members {
		if id, ok := strings.CutPrefix(m, "a:"); ok {
			d.Approvals = append(d.Approvals, id)
		} else if nid, ok := strings.CutPrefix(m, "n:"); ok {
			d.Notices = append(d.Notices, nid)
		}
	}
	return d, nil
}

// due reads what of a sorted set is due; all of it counts as approvals here.
func (s *Store) due(ctx context.Context, key string, limit int) (Due, error) {
	v, err := s.run(ctx, "due", []string{key}, limit)
	if err != nil {
		return Due{}, err
	}
	list, ok := v.([]any)
	if !ok || len(list) < 3 {
		return Due{}, fmt.Errorf("store: unexpected due list %T", v)
	}
	d := Due{
		Now: millis(asString(list[0])), Next: time.Duration(number(asString(list[1]))) * time.Millisecond,
		Urgent: int(number(asString(list[2]))),
	}
	for _, m := range list[3:] {
		d.Approvals = append(d.Approvals, asString(m))
	}
	return d, nil
}

// Settle takes an approval off the changes feed, or puts it off for a while from
// the time of the reading (negative: off), however late that is recorded. It
// reports false where the approval has changed since, and stays due. The error is
// [ErrStale] where the lease is another's by now; it stays due for that one.
func (s *Store) Settle(ctx context.Context, r *Reading, again time.Duration, lease Lease) (bool, error) {
	return s.settle(ctx, "a:"+r.ID, s.keys.Row(r.ID), r.revision(), r.marks, again, r.Now, &lease)
}

// revision is that of the row as a script compares it, "0" where there was none.
func (r *Reading) revision() string {
	if r.Row == nil {
		return "0"
	}
	return strconv.FormatInt(r.Row.Rev, 10)
}

// SettleNotice takes a notice off the changes feed, or puts it off for a while
// from now. With a lease it does so as [Store.Settle] does; nil is for whoever wants
// it looked at without leading, which is harmless at any time.
func (s *Store) SettleNotice(ctx context.Context, nid string, again time.Duration, lease *Lease) error {
	_, err := s.settle(ctx, "n:"+nid, s.keys.notice(nid), "", "", again, time.Time{}, lease)
	return err
}

func (s *Store) settle(ctx context.Context, member, key, rev, marks string, again time.Duration, from time.Time, lease *Lease) (bool, error) {
	base := ""
	if !from.IsZero() {
		base = strconv.FormatInt(from.UnixMilli(), 10)
	}
	v, err := s.run(ctx, "settle", []string{s.keys.dirty(), key, s.keys.lease()}, member, rev, wait(again), base, marks, fence(lease))
	return asString(v) == "1", fenced(v, err)
}

// wait is a wait as settle in lib.lua takes it.
func wait(again time.Duration) string {
	if again < 0 {
		return "-1"
	}
	return strconv.FormatInt(again.Milliseconds(), 10)
}

// Touch marks an approval as to be looked at now, before what nobody waits for.
func (s *Store) Touch(ctx context.Context, id string) error { return s.touch(ctx, id, urgent) }

// urgent is the time of a mark that a person waits for.
const urgent = "1"

func (s *Store) touch(ctx context.Context, id, at string) error {
	k := s.keys
	_, err := s.run(ctx, "touch", []string{k.Row(id), k.dirty(), k.wake()}, id, at)
	return err
}

// TouchOpen marks every open approval as to be looked at now: what cards depend
// on beside the rows has changed.
func (s *Store) TouchOpen(ctx context.Context) error {
	ids, err := s.rdb.ZRange(ctx, s.keys.Deadlines(), 0, -1).Result()
	if err != nil {
		return fmt.Errorf("store: open approvals: %w", err)
	}
	for _, id := range ids {
		if err := s.touch(ctx, id, ""); err != nil && !Broken(err) {
			return fmt.Errorf("store: mark open approvals: %w", err)
		}
	}
	return nil
}

// Changes are what was marked after a point of the changes feed.
type Changes struct {
	Point     string
	Approvals []string
	// All says that nothing else was marked: else the marks themselves tell.
	All bool
}

// keptMessages is how many of its latest messages the feed keeps at least (mark in
// lib.lua): whoever reads fewer at once has missed none before them.
const keptMessages = 64

// WaitChange waits until something is marked after the given point of the feed, or for
// at most d. The first point is "0".
func (s *Store) WaitChange(ctx context.Context, after string, d time.Duration) (Changes, error) {
	c := Changes{Point: after, All: true}
	res, err := s.rdb.XRead(ctx, &redis.XReadArgs{Streams: []string{s.keys.wake(), after}, Block: d, Count: 256}).Result()
	if errors.Is(err, redis.Nil) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("store: wait for changes: %w", err)
	}
	for _, stream := range res {
		c.All = c.All && len(stream.Messages) < keptMessages
		for _, m := range stream.Messages {
			c.Point = m.ID
			member, _ := m.Values["m"].(string)
			if id, ok := strings.CutPrefix(member, "a:"); ok {
				c.Approvals = append(c.Approvals, id)
			} else {
				c.All = false
			}
		}
	}
	return c, nil
}

// Overdue lists approvals whose deadline has passed, at most limit of them.
func (s *Store) Overdue(ctx context.Context, limit int) ([]string, error) {
	d, err := s.due(ctx, s.keys.Deadlines(), limit)
	return d.Approvals, err
}

// Unreminded lists approvals whose reminder has fallen due.
func (s *Store) Unreminded(ctx context.Context, limit int) ([]string, error) {
	d, err := s.due(ctx, s.keys.reminders(), limit)
	return d.Approvals, err
}

// Remind makes the reminders of one approval due, once, while it is open.
func (s *Store) Remind(ctx context.Context, id string) error {
	k := s.keys
	_, err := s.run(ctx, "remind", []string{k.Row(id), k.memory(id), k.reminders(), k.dirty(), k.wake()}, id)
	return err
}

// DropDeadline takes an id off the deadlines that has no row (any more).
func (s *Store) DropDeadline(ctx context.Context, id string) error {
	return s.rdb.ZRem(ctx, s.keys.Deadlines(), id).Err()
}
