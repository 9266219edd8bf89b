package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"countersign/approval"
)

// A Call is one tool call that an agent wants to make.
type Call struct {
	Tool    string          // as the agent names it, e.g. Bash or mcp__mail__send
	Input   json.RawMessage // a JSON object, as it came
	ID      string          // the agent's own, "" if it gives none
	Session string          // the agent's own, "" if it gives none
	Dir     string          // where the agent works, "" if it does not say
}

// newCall checks what an agent says of a call.
func newCall(c Call) (Call, error) {
	switch n := utf8.RuneCountInString(c.Tool); {
	case n == 0:
		return c, errors.New("tool_name is missing")
	case n > approval.MaxName:
		return c, fmt.Errorf("tool_name is over %d characters", approval.MaxName)
	}
	if _, err := approval.Object(c.Input); err != nil {
		return c, fmt.Errorf("the tool's input: %w", err)
	}
	return c, nil
}

// approvalID names the approval of a call that has a name, "" of one that has
// none. Who asks is part of it, so that no two agents share one.
func (c Call) approvalID(runtime string) string {
	if c.ID == "" || c.Session == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %s %s", len(runtime), runtime, len(c.Session), c.Session, c.ID))
	return "call-" + hex.EncodeToString(sum[:16])
}

// pin is the digest that a claim of the call names.
func (c Call) pin() (string, error) {
	return approval.PinOf([]approval.Call{{Tool: c.Tool, Arguments: c.Input}})
}

// object reads an object into the fields that are to be shown.
func object(data []byte) (members, error) {
	m, err := approval.Object(data)
	return m, err
}

// members are the fields of a JSON object that were not shown yet. Names are told
// apart by case.
type members map[string]json.RawMessage

// text takes a string out; ok is false, and nothing is taken, where there is none.
func (m members) text(name string) (value string, ok bool) {
	raw := m[name]
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &value) != nil {
		return "", false
	}
	delete(m, name)
	return value, true
}

// flag takes a boolean out; ok is false, and nothing is taken, where there is none.
func (m members) flag(name string) (value, ok bool) {
	switch string(m[name]) {
	case "true":
		value = true
	case "false":
	default:
		return false, false
	}
	delete(m, name)
	return value, true
}
