package simulator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Call is a call as the log keeps it.
type Call struct {
	Seq         int                        `json:"seq"` // from 1
	At          time.Time                  `json:"at"`  // when it was read
	Method      string                     `json:"method"`
	Params      map[string]json.RawMessage `json:"params"`
	Code        int                        `json:"code"` // 200, or the error code
	Description string                     `json:"description,omitempty"`
	Parameters  *Parameters                `json:"parameters,omitempty"`
	Result      json.RawMessage            `json:"result,omitempty"`
	Class       Class                      `json:"class,omitempty"`
	// Applied says that the call had its effect. With a fault it can have one although
	// Class is Faulted.
	Applied bool `json:"applied"`
}

// Text returns a parameter as text: strings without quotes, anything else as JSON.
func (c Call) Text(name string) string {
	var text string
	if json.Unmarshal(c.Params[name], &text) == nil {
		return text
	}
	return string(c.Params[name])
}

// Int returns an integer parameter, or 0.
func (c Call) Int(name string) int64 {
	var n json.Number
	if json.Unmarshal([]byte(c.Text(name)), &n) != nil {
		return 0
	}
	i, _ := n.Int64()
	return i
}

// String shows a call in one line.
func (c Call) String() string {
	return fmt.Sprintf("#%d %s %s: %d %s", c.Seq, c.Method, mustJSON(c.Params), c.Code, c.Description)
}

// A Warning is something that the real server accepts but changes in silence, or that
// works only by luck.
type Warning struct {
	Call Call
	Text string
}

// callLog keeps the calls of late. The server's mutex guards it.
type callLog struct {
	limit    int
	seq      int
	calls    []Call
	refusals []Call
	warnings []Warning
}

func (s *Server) record(c *call, result json.RawMessage, err error) {
	s.recordAs(c, result, asAPIError(err), err == nil)
}

func (s *Server) recordAs(c *call, result json.RawMessage, e *APIError, applied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.log
	l.seq++
	entry := Call{
		Seq: l.seq, At: c.at, Method: c.name, Params: c.logged(),
		Code: 200, Result: slices.Clone(result), Applied: applied,
	}
	if e != nil {
		entry.Code, entry.Description, entry.Parameters, entry.Class = e.Code, e.Description, e.Parameters, e.Class
	}
	l.calls = appendLimited(l.calls, entry, l.limit)
	if entry.Class == Refused {
		l.refusals = appendLimited(l.refusals, entry, l.limit)
	}
	for _, text := range c.warnings {
		l.warnings = appendLimited(l.warnings, Warning{entry, text}, l.limit)
	}
	s.wake()
}

// appendLimited appends to a list and forgets its oldest half when it gets too long.
func appendLimited[T any](list []T, item T, limit int) []T {
	if len(list) >= limit {
		list = slices.Clone(list[len(list)-limit/2:])
	}
	return append(list, item)
}

// Calls returns the calls so far, oldest first; with names, only calls of these methods.
func (s *Server) Calls(methods ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.log.calls {
		if len(methods) == 0 || slices.ContainsFunc(methods, func(m string) bool { return strings.EqualFold(m, c.Method) }) {
			out = append(out, c)
		}
	}
	return out
}

// Refusals returns the calls that were wrong in themselves. A test of a correct bot
// expects none.
func (s *Server) Refusals() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log.refusals)
}

// Warnings returns what the real server would have accepted in silence.
func (s *Server) Warnings() []Warning {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log.warnings)
}
