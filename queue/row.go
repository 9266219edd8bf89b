package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"countersign/approval"
)

// A Row is what a runtime may know of an approval. Raw JSON is as it stands in
// Redis, nil where there is none.
type Row struct {
	ID        string          `json:"approval_id"`
	State     approval.State  `json:"state"`
	Ref       string          `json:"ref"` // what an owner may answer by text
	Stream    string          `json:"stream"`
	Terms     string          `json:"terms"`
	Pin       string          `json:"pin,omitempty"`
	OpenedAt  time.Time       `json:"opened_at"`
	ExpiresAt time.Time       `json:"expires_at"`
	Request   json.RawMessage `json:"request,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
	Report    json.RawMessage `json:"report,omitempty"`
	Undo      json.RawMessage `json:"undo,omitempty"` // who asked for the undo
}

// Row reads an approval. The error is [ErrUnknown] where there is none.
func (c *Client) Row(ctx context.Context, id string) (Row, error) {
	f, err := c.rdb.HGetAll(ctx, c.keys.Row(id)).Result()
	if err != nil {
		return Row{}, fmt.Errorf("queue: row %q: %w", id, err)
	}
	if f["state"] == "" {
		return Row{}, fmt.Errorf("queue: row %q: %w", id, ErrUnknown)
	}
	return Row{
		ID: id, State: approval.State(f["state"]), Ref: f["ref"], Stream: f["stream"],
		Terms: f["terms"], Pin: f["pin"],
		OpenedAt:  time.UnixMilli(clamped(f["opened_at"])).UTC(),
		ExpiresAt: time.UnixMilli(clamped(f["expires_at"])).UTC(),
		Request:   rawJSON(f["request"]), Answer: rawJSON(f["answer"]), Report: rawJSON(f["report"]),
		Undo: rawJSON(f["undo"]),
	}, nil
}

func rawJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
