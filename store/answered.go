package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// An Answered is what is to be counted of an answer.
type Answered struct {
	Decision string
	Surface  string
	Reason   string
	Took     time.Duration // from opening to answer; negative where the row is gone, or never was open
}

// AnsweredSince reads the answers on the stream of all of them after an entry, at most
// limit entries, and returns the last entry read.
func (s *Store) AnsweredSince(ctx context.Context, entry string, limit int64) (answers []Answered, last string, err error) {
	entries, err := s.rdb.XRangeN(ctx, s.keys.Answers(), "("+entry, "+", limit).Result()
	if err != nil || len(entries) == 0 {
		return nil, entry, wrapped(err, "answers")
	}
	pipe := s.rdb.Pipeline()
	opened := make([]*redis.SliceCmd, len(entries))
	for i, e := range entries {
		id, _ := e.Values["subject"].(string)
		opened[i] = pipe.HMGet(ctx, s.keys.Row(id), "opened_at", "answered_at")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, entry, wrapped(err, "times of answers")
	}
	for i, e := range entries {
		last = e.ID
		if e.Values["type"] != "approval.answered" {
			continue
		}
		var a struct {
			Decision string                   `json:"decision"`
			Reason   string                   `json:"reason"`
			By       struct{ Surface string } `json:"by"`
		}
		text, _ := e.Values["data"].(string)
		if json.Unmarshal([]byte(text), &a) != nil {
			continue
		}
		one := Answered{Decision: a.Decision, Surface: a.By.Surface, Reason: a.Reason, Took: -1}
		if row := opened[i].Val(); len(row) == 2 {
			one.Took = between(asString(row[0]), asString(row[1]))
		}
		answers = append(answers, one)
	}
	return answers, last, nil
}

// between is the time between two times in Unix ms, negative where one is not there.
func between(from, to string) time.Duration {
	a, err := strconv.ParseInt(from, 10, 64)
	b, berr := strconv.ParseInt(to, 10, 64)
	if err != nil || berr != nil {
		return -1
	}
	return time.Duration(b-a) * time.Millisecond
}

// oldestOf bounds how many open approvals are looked at for the oldest.
const oldestOf = 1000

// Waiting is how many approvals are open, and when the oldest was opened of the thousand
// that are due first; zero where none is open.
func (s *Store) Waiting(ctx context.Context) (open int64, oldest time.Time, err error) {
	ids, open, err := s.OpenIDs(ctx, oldestOf)
	if err != nil || len(ids) == 0 {
		return open, time.Time{}, err
	}
	pipe := s.rdb.Pipeline()
	times := make([]*redis.StringCmd, len(ids))
	for i, id := range ids {
		times[i] = pipe.HGet(ctx, s.keys.Row(id), "opened_at")
	}
	_, _ = pipe.Exec(ctx) // what is gone meanwhile is not open
	for _, t := range times {
		ms, err := t.Int64()
		if at := time.UnixMilli(ms); err == nil && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	return open, oldest, ctx.Err()
}

func wrapped(err error, what string) error {
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	return nil
}
