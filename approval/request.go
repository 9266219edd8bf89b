package approval

import (
	"encoding/json"
	"time"
)

// Kind says what an approval is about.
type Kind string

// The kinds of request.
const (
	ToolCall Kind = "tool_call" // one or more pinned calls
	Halt     Kind = "halt"      // an evaluator's stop; pins no call
)

// Effect says what an approved call does to the owner's data.
type Effect string

// The effects a call can have.
const (
	Destructive Effect = "destructive" // deletes or overwrites data
	Write       Effect = "write"       // acts for the owner
)

// A Call is one pinned tool call. Arguments is the JSON object as sent, byte
// for byte.
type Call struct {
	Tool      string
	Arguments json.RawMessage
	CallID    string // the runtime's own, "" if none
}

// A Request is what a runtime asks, decoded and checked. Text is as sent,
// never normalised; lengths are in code points.
type Request struct {
	ID      string // 1–128 of A-Za-z0-9._:-
	Kind    Kind
	Runtime string // ≤ 200
	RunID   string // ≤ 200
	Session string // ≤ 200
	Calls   []Call // 1–50; none for a halt
	Listed  bool   // the calls came as a list, not as tool and arguments
	Effect  Effect
	Pinned  bool // a write that only the operator naming it may pass by policy

	// Context is the runtime's own JSON, ≤ 16 KiB, nil if none. It is returned
	// in the answer byte for byte and shown to nobody.
	Context json.RawMessage

	Card   Card
	Expiry Expiry
	Risk   Risk
}

// A Card is what the runtime wants shown. It is frozen when the row opens.
type Card struct {
	Title    string   // ≤ 200, required
	Action   string   // ≤ 60; "" means the title stands in
	Lines    []string // ≤ 5,000 of ≤ 1,000
	UndoTool string   // "" if there is no undo
	UndoDays int      // 1–3,650; 0 if not said
	Request  string   // ≤ 2,000: what the owner asked for
	Summary  string   // ≤ 2,000: for a halt, why it stopped
}

// Expiry is the deadline as asked. At most one of In and At is set.
type Expiry struct {
	In time.Duration // counts from the entry's id
	At time.Time
}

// Risk is what the event says of its own risk. It is never trusted alone.
type Risk struct {
	Facts   json.RawMessage // nil if none declared
	Refiner string
}

// Tools lists the tools of the calls, in order.
func (r *Request) Tools() []string {
	tools := make([]string, len(r.Calls))
	for i, c := range r.Calls {
		tools[i] = c.Tool
	}
	return tools
}
