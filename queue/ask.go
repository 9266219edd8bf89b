package queue

import (
	"bytes"
	"encoding/json"
	"fmt"

	"countersign/approval"
)

// An Ask builds the data of a request from Go values. Limits are those of
// [approval.Request]; empty fields are left out.
type Ask struct {
	ID        string          `json:"approval_id"`
	Kind      approval.Kind   `json:"kind,omitempty"`
	Runtime   string          `json:"runtime,omitempty"`
	RunID     string          `json:"run_id,omitempty"`
	Session   string          `json:"session,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // a JSON object, pinned as it is
	Calls     []AskCall       `json:"calls,omitempty"`     // instead of tool and arguments
	Effect    approval.Effect `json:"effect,omitempty"`
	Approval  string          `json:"approval,omitempty"` // pinned, or empty
	Context   json.RawMessage `json:"context,omitempty"`  // returned in the answer
	Card      AskCard         `json:"card"`
	ExpiresIn float64         `json:"expires_in,omitempty"` // seconds
	Risk      *AskRisk        `json:"risk,omitempty"`
}

// An AskCall is one of several calls.
type AskCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	CallID    string          `json:"call_id,omitempty"`
}

// An AskCard is what the owner is shown.
type AskCard struct {
	Title    string   `json:"title"`
	Action   string   `json:"action,omitempty"`
	Lines    []string `json:"lines,omitempty"`
	UndoTool string   `json:"undo_tool,omitempty"`
	UndoDays int      `json:"undo_window_days,omitempty"`
	Request  string   `json:"request,omitempty"`
	Summary  string   `json:"summary,omitempty"`
}

// AskRisk is what the runtime declares of the tools.
type AskRisk struct {
	Facts   map[string]bool `json:"facts,omitempty"`
	Refiner string          `json:"refiner,omitempty"`
}

// Request makes the request to publish. It checks no rule; publishing does.
func (a Ask) Request() (Request, error) {
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false) // which would make six bytes of each <, > and &
	if err := e.Encode(a); err != nil {
		return Request{}, fmt.Errorf("queue: ask %q: %w", a.ID, err)
	}
	return Request{Data: bytes.TrimSuffix(data.Bytes(), []byte("\n"))}, nil
}
