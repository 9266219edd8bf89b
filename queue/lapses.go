package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/store"
)

const (
	// sharedAbove is how many lapses in one chat in one read still get a card
	// each.
	sharedAbove = 5
	// namedInNotice is how many of them a notice names.
	namedInNotice = 20
	// noticeDelay lets the rows be there before the notice that names them.
	noticeDelay = 2 * time.Second
)

// shareLapses finds the requests of a batch that will lapse at once, and where
// one chat would get more than five finished cards gives it one notice instead.
func (in *Intake) shareLapses(ctx context.Context, jobs []*job, now time.Time) error {
	late, err := in.lateOnes(ctx, jobs, now)
	if err != nil {
		return err
	}
	if len(late) <= sharedAbove {
		return nil
	}
	var chats []approval.Chat // in order of first mention
	lapses := map[int64][]*store.Opening{}
	for _, o := range late {
		for _, c := range o.Chats {
			if lapses[c.ID] == nil {
				chats = append(chats, c)
			}
			lapses[c.ID] = append(lapses[c.ID], o)
		}
	}
	for _, c := range chats {
		openings := lapses[c.ID]
		if len(openings) <= sharedAbove {
			continue
		}
		n := store.Notice{Kind: store.SharedLapse, Chat: c.ID, Thread: c.Thread, Total: len(openings)}
		for _, o := range openings {
			o.Quiet = append(o.Quiet, c.ID)
			if len(n.IDs) < namedInNotice {
				n.IDs = append(n.IDs, o.ID)
			}
		}
		if _, err := in.cfg.Store.NewNotice(ctx, n, noticeDelay); err != nil {
			return err
		}
	}
	return nil
}

// lateOnes are the openings past their deadline that have no row yet: a replay
// of the stream must not tell of them again.
func (in *Intake) lateOnes(ctx context.Context, jobs []*job, now time.Time) ([]*store.Opening, error) {
	var late []*store.Opening
	seen := map[string]bool{}
	for _, j := range jobs {
		if o := j.opening; o != nil && o.ExpiresAt.Sub(now) < tooShort && !seen[o.ID] {
			seen[o.ID] = true
			late = append(late, o)
		}
	}
	if len(late) <= sharedAbove {
		return late, nil
	}
	rows := make([]*redis.IntCmd, len(late))
	_, err := in.cfg.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, o := range late {
			rows[i] = p.Exists(ctx, in.keys.Row(o.ID))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("queue: late requests: %w", err)
	}
	fresh := late[:0]
	for i, o := range late {
		if rows[i].Val() == 0 {
			fresh = append(fresh, o)
		}
	}
	return fresh, nil
}
