package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"
)

const (
	// largestUpdate is more than the size up to which Telegram keeps an update (512 KiB), in bytes.
	largestUpdate = 520 << 10

	// pollGrace is how much longer than its timeout a long poll may take.
	pollGrace = 10 * time.Second

	mostUpdates = 100
)

// RawUpdate is one update as it came. ID is 0 where it could not be read.
type RawUpdate struct {
	ID  int64
	Raw json.RawMessage
}

// NeededUpdates are the kinds of updates without which this program is deaf.
func NeededUpdates() []string { return allowedUpdates() }

// allowedUpdates returns the kinds that are asked for. Telegram remembers the list of an earlier call, perhaps of
// another program, so it is sent every time.
func allowedUpdates() []string {
	return []string{kindMessage, kindCallback, kindMyChatMember}
}

// Updates asks for the updates from offset on, waiting up to timeout (whole seconds, at most 50 s at Telegram) for the
// first. It confirms to Telegram every update below offset. At most limit updates are returned, 1 to 100. The call is
// given up 10 s after timeout, so that a dead connection is noticed. No update is decoded beyond its id.
func (c *Client) Updates(ctx context.Context, offset int64, timeout time.Duration, limit int) ([]RawUpdate, error) {
	return c.updates(ctx, offset, timeout, limit, allowedUpdates())
}

// Peek looks at the oldest updates that nobody has confirmed, as [Client.Updates] does, and leaves everything as it is:
// none is confirmed, and which kinds Telegram keeps stays as it was. Another program that polls with this token is told
// of a [Conflict], once; where it polls again before timeout, this call is.
func (c *Client) Peek(ctx context.Context, timeout time.Duration, limit int) ([]RawUpdate, error) {
	return c.updates(ctx, 0, timeout, limit, nil)
}

func (c *Client) updates(ctx context.Context, offset int64, timeout time.Duration, limit int, kinds []string) ([]RawUpdate, error) {
	limit = min(max(limit, 1), mostUpdates)
	timeout = max(timeout, 0).Truncate(time.Second)
	ctx, cancel := context.WithTimeout(ctx, timeout+pollGrace)
	defer cancel()
	params := struct {
		Offset         int64    `json:"offset,omitempty"`
		Limit          int      `json:"limit"`
		Timeout        int64    `json:"timeout"`
		AllowedUpdates []string `json:"allowed_updates,omitempty"`
	}{offset, limit, int64(timeout / time.Second), kinds}
	var batch []json.RawMessage
	if err := c.call(ctx, "getUpdates", params, &batch, int64(limit)*largestUpdate); err != nil {
		return nil, err
	}
	updates := make([]RawUpdate, 0, len(batch))
	for _, raw := range batch {
		updates = append(updates, RawUpdate{ID: leadingID(raw), Raw: raw})
	}
	return updates, nil
}

// updateID returns 0 where there is no id to read.
func updateID(raw json.RawMessage) int64 {
	var u struct {
		ID int64 `json:"update_id"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return 0
	}
	return u.ID
}

// leadingID is updateID of an update that is known to be JSON: Telegram writes the id first, and then the rest need not
// be read for it.
func leadingID(raw json.RawMessage) int64 {
	rest, first := bytes.CutPrefix(raw, []byte(`{"update_id":`))
	if end := bytes.IndexAny(rest, ",}"); first && end > 0 && !bytes.Contains(rest, []byte(`"update_id"`)) {
		if id, err := strconv.ParseInt(string(rest[:end]), 10, 64); err == nil {
			return id
		}
	}
	return updateID(raw)
}
