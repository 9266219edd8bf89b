package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

// patience is how long after it was published a request must have a row, and
// after its deadline an answer.
const patience = 30 * time.Second

// An Answer is an answer and the bytes it came in, signature included.
type Answer struct {
	approval.Answer
	Data json.RawMessage
}

// Await waits for the answer to a request, until ctx is done. It may be called
// again at any time after, by whoever has the Pending; an answer is there for as
// long as its row. While Redis is away it tries again.
//
// The answer is believed only if it is to the very terms and call that were
// asked; else the error is [ErrNotMine], as it is once a row with other terms
// stands under the id, or [ErrBadSignature]. A refusal that could not read them is a no for whoever
// asked. The error is [ErrUnknown] if half a minute after
// publishing there is no row, and [ErrUnavailable] if half a minute after its
// deadline the row is still open.
func (c *Client) Await(ctx context.Context, p Pending) (Answer, error) {
	if !approval.ValidID(p.ID) {
		return Answer{}, fmt.Errorf("queue: await %q: %w", p.ID, ErrUnknown)
	}
	for last := firstID; ; {
		streams, err := c.rdb.XRead(ctx, &redis.XReadArgs{
			Streams: []string{c.keys.Answer(p.ID), last}, Block: c.slice,
		}).Result()
		if ctx.Err() != nil {
			return Answer{}, fmt.Errorf("queue: await %q: %w", p.ID, context.Cause(ctx))
		}
		for _, s := range streams {
			for _, m := range s.Messages {
				if m.Values["type"] == typeAnswered {
					data, _ := m.Values["data"].(string)
					return c.judge(p, data)
				}
				last = m.ID
			}
		}
		if errors.Is(err, redis.Nil) {
			var answer string
			if answer, err = c.look(ctx, p); answer != "" {
				return c.judge(p, answer)
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, ErrUnknown), errors.Is(err, ErrUnavailable), errors.Is(err, ErrNotMine), isDenied(err):
			return Answer{}, fmt.Errorf("queue: await %q: %w", p.ID, err)
		default:
			pause(ctx, c.poll)
		}
	}
}

// look reads the row, where the answer stands too, and decides whether there is
// still something to wait for.
func (c *Client) look(ctx context.Context, p Pending) (answer string, err error) {
	row, err := c.rdb.HMGet(ctx, c.keys.Row(p.ID), "state", "answer", "expires_at", "terms").Result()
	if err != nil {
		return "", err
	}
	now, err := c.rdb.Time(ctx).Result()
	if err != nil {
		return "", err
	}
	if row[0] == nil {
		if now.Sub(entry{id: p.Entry}.time()) >= patience {
			return "", ErrUnknown
		}
		return "", nil
	}
	if answer, _ := row[1].(string); answer != "" {
		return answer, nil
	}
	if row[3] != p.Terms {
		return "", ErrNotMine // this request was set aside
	}
	text, _ := row[2].(string)
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && now.Sub(time.UnixMilli(ms)) >= patience {
		return "", fmt.Errorf("still open half a minute after its deadline: %w", ErrUnavailable)
	}
	return "", nil
}

// signed reports whether data bears a signature by one of the keys, where any were
// given.
func (c *Client) signed(data string) error {
	if c.trusts == nil {
		return nil
	}
	if _, err := c.trusts.Check([]byte(data)); err != nil {
		return fmt.Errorf("%w: %w", ErrBadSignature, err)
	}
	return nil
}

// judge reads an answer and believes it only if it is signed, where that is asked, and
// to what p asked.
func (c *Client) judge(p Pending, data string) (Answer, error) {
	if err := c.signed(data); err != nil {
		return Answer{}, fmt.Errorf("queue: answer to %q: %w", p.ID, err)
	}
	a, err := approval.DecodeAnswer([]byte(data))
	if err != nil {
		return Answer{}, fmt.Errorf("queue: answer to %q: %w", p.ID, err)
	}
	mine := a.ID == p.ID && a.Terms == p.Terms && a.Pin == p.Pin
	if a.Decision == approval.DecisionRefused {
		mine = a.ID == p.ID && (a.Terms == "" || a.Terms == p.Terms) && (a.Pin == "" || a.Pin == p.Pin)
	}
	if !mine {
		return Answer{}, fmt.Errorf("queue: answer to %q: %w", p.ID, ErrNotMine)
	}
	return Answer{Answer: *a, Data: json.RawMessage(data)}, nil
}
