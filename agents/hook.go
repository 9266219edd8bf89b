package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// A Fallback is what a hook says of a call that no owner answered.
type Fallback string

// What can be said of it. Nothing ever allows it.
const (
	Deny Fallback = "deny" // it does not run
	Ask  Fallback = "ask"  // whoever sits at the agent is asked there
)

// Passed are the tools that a hook says nothing of, so that the agent's own rules
// decide: those that only read files, and those that are a question to whoever
// sits at the agent, which an answer from here would answer for them.
func Passed() []string {
	return []string{"Read", "Glob", "Grep", "LS", "NotebookRead", "AskUserQuestion", "ExitPlanMode"}
}

// A Hook answers the hooks of Claude Code.
type Hook struct {
	Desk      *Desk
	Pass      []string // tools it says nothing of, by their exact names
	Otherwise Fallback
}

// Passes reports whether nothing is said of an event before the call: the agent
// goes on as if there were no hook.
func (h *Hook) Passes(e Event) bool {
	return slices.Contains(h.Pass, e.Call.Tool)
}

// Before asks about a call, and returns what to print: a decision, which is never
// to allow unless the call was approved and claimed.
func (h *Hook) Before(ctx context.Context, e Event) []byte {
	return h.Say(e, h.Desk.AskCall(ctx, e.Call))
}

// Failed is what to print where not even a desk could be had.
func (h *Hook) Failed(e Event, err error) []byte { return h.Say(e, unanswered("", err)) }

// Say puts a result as the decision that the event expects. It is empty where the
// agent's own dialog is to decide.
func (h *Hook) Say(e Event, r Result) []byte {
	behaviour := "deny"
	switch {
	case r.Verdict == Allowed:
		behaviour = "allow"
	case r.Verdict == Unanswered && h.Otherwise == Ask && somebodyThere(e.Mode):
		behaviour = "ask"
	}
	if e.Name == beforeDialog {
		if behaviour == "ask" {
			return nil
		}
		return printed(e, "decision", dialogDecision(behaviour, r.Reason, e.Call.Input))
	}
	out := callDecision{Event: e.Name, Decision: behaviour, Reason: r.Reason}
	if behaviour == "allow" {
		out.Input = e.Call.Input
	}
	return encoded(map[string]any{"hookSpecificOutput": out})
}

// somebodyThere reports whether a question at the agent would be put to a person.
// In other modes it has been passed over without one.
func somebodyThere(mode string) bool {
	return slices.Contains([]string{"", modeDefault, modeAccept, modePlan}, mode)
}

// A callDecision is the answer to PreToolUse. Input is what was approved, so that
// this is what runs, whatever another hook made of it.
type callDecision struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision"`
	Reason   string          `json:"permissionDecisionReason"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
}

// A permission is the answer to PermissionRequest, and that of a tool for
// permission prompts.
type permission struct {
	Behaviour string          `json:"behavior"`
	Input     json.RawMessage `json:"updatedInput,omitempty"`
	Message   string          `json:"message,omitempty"`
}

func dialogDecision(behaviour, reason string, input json.RawMessage) permission {
	if behaviour == "allow" {
		return permission{Behaviour: behaviour, Input: input}
	}
	return permission{Behaviour: "deny", Message: reason}
}

func printed(e Event, name string, value any) []byte {
	return encoded(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": e.Name, name: value}})
}

// encoded is a value as one line of JSON.
func encoded(value any) []byte {
	out, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("unreachable: every part was read as JSON: %v", err))
	}
	return append(out, '\n')
}
