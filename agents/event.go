package agents

import (
	"errors"
	"fmt"
)

// MaxEvent bounds what a hook reads, in bytes.
const MaxEvent = 8 << 20

// Events of a hook that are known here.
const (
	beforeCall    = "PreToolUse"
	beforeDialog  = "PermissionRequest"
	afterCall     = "PostToolUse"
	afterFailure  = "PostToolUseFailure"
	modeDefault   = "default"
	modeAccept    = "acceptEdits"
	modePlan      = "plan"
	fieldTool     = "tool_name"
	fieldInput    = "tool_input"
	fieldCallID   = "tool_use_id"
	fieldResponse = "tool_response"
)

// An Event is what a hook of Claude Code is given on its standard input.
type Event struct {
	Name        string // hook_event_name
	Mode        string // permission_mode, "" where it is not said
	Call        Call
	response    members // of a call that ran, nil where it is no object
	failure     string  // of a call that failed
	interrupted bool
}

// ReadEvent reads an event by the rules of an approval's JSON, so that no name is
// there twice and none is taken for another.
func ReadEvent(data []byte) (Event, error) {
	if len(data) > MaxEvent {
		return Event{}, fmt.Errorf("the hook's input is over %d MiB", MaxEvent>>20)
	}
	m, err := object(data)
	if err != nil {
		return Event{}, fmt.Errorf("the hook's input: %w", err)
	}
	var e Event
	for _, field := range []struct {
		name string
		to   *string
	}{
		{"hook_event_name", &e.Name},
		{"permission_mode", &e.Mode},
		{"session_id", &e.Call.Session},
		{"cwd", &e.Call.Dir},
		{fieldTool, &e.Call.Tool},
		{fieldCallID, &e.Call.ID},
		{"error", &e.failure},
	} {
		raw, there := m[field.name], m[field.name] != nil && string(m[field.name]) != "null"
		if value, ok := m.text(field.name); ok {
			*field.to = value
		} else if there {
			return e, fmt.Errorf("the hook's input: %s must be a string, not %.20s", field.name, raw)
		}
	}
	switch e.Name {
	case beforeCall, beforeDialog, afterCall, afterFailure:
	case "":
		return e, errors.New("the hook's input: hook_event_name is missing")
	default:
		return e, fmt.Errorf("the hook's input: this is no hook for %.40q", e.Name)
	}
	e.interrupted, _ = m.flag("is_interrupt")
	e.Call.Input = m[fieldInput]
	if e.response, err = object(m[fieldResponse]); err != nil {
		e.response = nil
	}
	e.Call, err = newCall(e.Call)
	return e, err
}
