package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/schemas"
)

// typeUndo is the event by which an owner asks for the undo.
const typeUndo = string(schemas.UndoRequested)

// An Undo is an owner's wish to have an executed call undone: run UndoTool for
// what Calls did, and report the outcome undone.
type Undo struct {
	ID       string          `json:"approval_id"`
	UndoTool string          `json:"undo_tool"`
	Calls    json.RawMessage `json:"calls"`
	Context  json.RawMessage `json:"context"` // the runtime's own, nil if none
	By       approval.By     `json:"by"`
	Data     json.RawMessage `json:"-"` // the event's data, signature included
}

// AwaitUndo waits until an owner asks for the undo of an approval, or ctx is
// done. It comes once, and may be awaited again at any time while the row lives;
// when that is gone the error is [ErrUnknown].
func (c *Client) AwaitUndo(ctx context.Context, id string) (Undo, error) {
	for last := firstID; ; {
		streams, err := c.rdb.XRead(ctx, &redis.XReadArgs{
			Streams: []string{c.keys.Answer(id), last}, Block: c.slice,
		}).Result()
		if ctx.Err() != nil {
			return Undo{}, fmt.Errorf("queue: await the undo of %q: %w", id, context.Cause(ctx))
		}
		for _, s := range streams {
			for _, m := range s.Messages {
				if last = m.ID; m.Values["type"] == typeUndo {
					data, _ := m.Values["data"].(string)
					if err := c.signed(data); err != nil {
						return Undo{}, fmt.Errorf("queue: the undo of %q: %w", id, err)
					}
					return decodeUndo(data)
				}
			}
		}
		if errors.Is(err, redis.Nil) {
			_, err = c.Row(ctx, id)
		}
		switch {
		case err == nil:
		case errors.Is(err, ErrUnknown), isDenied(err):
			return Undo{}, fmt.Errorf("queue: await the undo of %q: %w", id, err)
		default:
			pause(ctx, c.poll)
		}
	}
}

func decodeUndo(data string) (Undo, error) {
	u := Undo{Data: json.RawMessage(data)}
	if err := json.Unmarshal(u.Data, &u); err != nil {
		return Undo{}, fmt.Errorf("queue: undo: %w", err)
	}
	return u, nil
}
