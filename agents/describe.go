package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign/approval"
	"countersign/queue"
)

// A ReadFile reads a file of the agent's machine. An error that is
// [fs.ErrNotExist] says that there is none.
type ReadFile func(path string) ([]byte, error)

// A drawing is what a card says of a call.
type drawing struct {
	title, action string
	effect        approval.Effect
	facts         map[string]bool // nil: nothing is known of the tool
	sheet
}

// longestTitle is how much of a command or a path a title holds.
const longestTitle = 120

// room is what is kept free in a request for all that is neither the call nor its
// lines, in bytes.
const room = 8 << 10

// errTooLarge is the error for a call that no request can hold.
var errTooLarge = errors.New("the call is too large to be asked: over 248 KiB")

// Describe draws the request for one call: its card, effect and risk facts. It
// asks nothing; id, runtime and deadline are the caller's to set. read is called
// for a file that would be written over, and may be nil. The call's input must be
// an object by the rules of [approval.Object].
func Describe(c Call, read ReadFile) (queue.Ask, error) {
	input, err := approval.Object(c.Input)
	if err != nil {
		return queue.Ask{}, fmt.Errorf("the tool's input: %w", err)
	}
	if size, err := written(c.Input); err != nil || size > approval.MaxData-room {
		return queue.Ask{}, errTooLarge // before it is drawn, which takes time
	}
	d := draw(c, input, read)
	d.rest(input)
	var where sheet
	if c.Dir != "" {
		where.say("in %s", quotedIfBroken(c.Dir))
	}
	ask := queue.Ask{
		Tool: c.Tool, Arguments: c.Input, Session: c.Session, Effect: d.effect,
		Card: queue.AskCard{Title: d.title, Action: d.action},
	}
	if utf8.RuneCountInString(ask.Session) > approval.MaxName {
		ask.Session = ""
	}
	if d.facts != nil {
		ask.Risk = &queue.AskRisk{Facts: d.facts}
	}
	ask.Card.Lines, err = fitting(&ask, d.lines, where.lines)
	return ask, err
}

// draw draws the part of a call that its tool is known for, and takes what it has
// shown out of the input. Where an input is not what its tool takes, the call is
// drawn like that of a tool nobody knows.
func draw(c Call, input members, read ReadFile) drawing {
	switch c.Tool {
	case "Bash":
		if d, ok := drawCommand(input); ok {
			return d
		}
	case "Edit", "MultiEdit":
		if d, ok := drawEdit(input); ok {
			return d
		}
	case "Write":
		if d, ok := drawWrite(c, input, read); ok {
			return d
		}
	case "NotebookEdit":
		if d, ok := drawCell(input); ok {
			return d
		}
	case "WebFetch":
		if d, ok := drawFetch(input); ok {
			return d
		}
	}
	name := quotedIfBroken(c.Tool)
	d := drawing{title: "Call " + shortened(name, longestTitle), action: "Call it", effect: approval.Destructive}
	switch server, tool, ok := strings.Cut(strings.TrimPrefix(c.Tool, "mcp__"), "__"); {
	case utf8.RuneCountInString(name) > longestTitle:
		d.text("tool: ", "| ", name)
	case ok && strings.HasPrefix(c.Tool, "mcp__") && plain(server) == server && plain(tool) == tool:
		d.title = fmt.Sprintf("Call %s on the server %s", tool, server)
	}
	return d
}

// drawCommand draws a shell command. What a command does cannot be told from its
// text, so it counts as able to do all that a shell can.
func drawCommand(input members) (d drawing, ok bool) {
	command, ok := input.text("command")
	if !ok {
		return d, false
	}
	d = drawing{action: "Run it", effect: approval.Destructive, facts: map[string]bool{
		"destructive_capable": true, "mutating": true, "remote_write_capable": true, "comms_send": true,
		"captures_environment": true, "standing_effect": true, "model_controlled_destination": true,
	}}
	lines := strings.Count(strings.TrimSuffix(command, "\n"), "\n") + 1
	switch {
	case oneLine(command, longestTitle):
		d.title = "Run: " + command
	case lines > 1:
		d.title = fmt.Sprintf("Run a command of %d lines", lines)
	default:
		d.title = fmt.Sprintf("Run a command of %d characters", utf8.RuneCountInString(command))
	}
	d.text("$ ", "> ", command)
	return d, true
}

// drawFetch draws a request to an address that the model chose.
func drawFetch(input members) (d drawing, ok bool) {
	address, ok := input.text("url")
	if !ok {
		return d, false
	}
	d = drawing{
		title: "Fetch a page", action: "Fetch it", effect: approval.Write,
		facts: map[string]bool{"remote_write_capable": true, "model_controlled_destination": true},
	}
	if oneLine(address, longestTitle) {
		d.title = "Fetch " + address
	}
	d.text("url: ", "| ", address)
	return d, true
}

// quotedIfBroken is a path, in quotes where it is more than one line.
func quotedIfBroken(path string) string {
	if strings.ContainsAny(path, "\n\r") {
		return quoted(path)
	}
	return path
}

// fitting cuts lines to what a request can hold beside its call and the last lines,
// which stay. What is cut is said in the title and in the first line.
func fitting(ask *queue.Ask, lines, last []string) ([]string, error) {
	ask.Card.Lines = last
	call, err := ask.Request()
	if err != nil {
		return nil, fmt.Errorf("the call: %w", err)
	}
	left := approval.MaxData - room - len(call.Data)
	if left < 0 {
		return nil, errTooLarge
	}
	fit := 0
	for ; fit < len(lines); fit++ {
		size, err := written(lines[fit])
		if err != nil {
			return nil, fmt.Errorf("a line: %w", err)
		}
		if left -= size + 1; left < 0 || fit+len(last) == approval.MaxLines {
			break
		}
	}
	if fit == len(lines) {
		return append(lines, last...), nil
	}
	fit = max(0, fit-1) // the line that says so takes a place, and the room kept free
	ask.Card.Title += " (not shown in full)"
	first := fmt.Sprintf("NOT SHOWN IN FULL: %d of %d lines follow. The exact call is whole.", fit, len(lines))
	return slices.Concat([]string{first}, lines[:fit], last), nil
}

// written is how many bytes a value has in a request.
func written(value any) (int, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return text.Len() - 1, err // less the newline
}
