package storetest

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"countersign/approval"
)

// The people, the place and the runtime of a good request.
const (
	Ann     int64 = 1001
	Ben     int64 = 1002
	Cleo    int64 = 1003
	Runtime       = "iris"
)

// An Option changes a request's fields before it is written.
type Option func(fields map[string]any)

// With sets a field; nil takes it away.
func With(name string, value any) Option {
	return func(fields map[string]any) {
		if value == nil {
			delete(fields, name)
			return
		}
		fields[name] = value
	}
}

// WithCard sets fields of the card beside those it has.
func WithCard(card map[string]any) Option {
	return func(fields map[string]any) {
		merged := maps.Clone(fields["card"].(map[string]any))
		maps.Copy(merged, card)
		fields["card"] = merged
	}
}

// WithUndo declares an undo for so many days.
func WithUndo(days int) Option {
	return WithCard(map[string]any{"undo_tool": "untrash_emails", "undo_window_days": days})
}

// Halt makes it an evaluator's stop.
func Halt() Option {
	return func(fields map[string]any) {
		delete(fields, "tool")
		delete(fields, "arguments")
		fields["kind"] = approval.Halt
		fields["card"] = map[string]any{"title": "Stopped: too many tries", "summary": "It tried 12 times."}
	}
}

// Request returns the data of a good request: three emails to be trashed within
// an hour, with a context of the runtime's own.
func Request(id string, options ...Option) []byte {
	fields := map[string]any{
		"approval_id": id,
		"runtime":     Runtime,
		"run_id":      "run-1",
		"tool":        "trash_emails",
		"arguments":   map[string]any{"ids": []string{"m1", "m2", "m3"}},
		"context":     map[string]any{"wait": "w-1"},
		"expires_in":  int(time.Hour.Seconds()),
		"card": map[string]any{
			"title":  "Trash 3 emails",
			"action": "Trash them",
			"lines":  []string{"Invoice from Acme", "Your order", "Weekly news"},
		},
	}
	for _, change := range options {
		change(fields)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		panic("a request of plain values always encodes: " + err.Error())
	}
	return data
}

// Decode reads a good request.
func Decode(t testing.TB, raw []byte) approval.Request {
	t.Helper()
	q, err := approval.Decode(raw)
	if err != nil {
		t.Fatalf("decode request: %v", err)
	}
	return q
}
