package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Decode reads the data of an approval.requested event and checks every rule
// of a request. Its error is an [*Invalid] that names the first field in the
// wrong and the rule it breaks.
//
// Null counts as absent, except where absence means something weaker than a
// value: arguments, approval, expires_in and expires_at must not be null.
// Unknown fields change nothing, and nothing inside risk makes a request bad.
//
// Where the text itself could be read, the request holds what was good in it
// beside the error, for a refusal to repeat; Calls is nil unless all of them
// were good. The request shares no memory with data.
func Decode(data []byte) (Request, error) { return ReadData(data).Request() }

// Request is [Decode] of data that has been read.
func (d *Data) Request() (Request, error) {
	f, o := d.openEvent()
	if o == nil {
		return Request{ID: f.id}, f.err()
	}
	r := Request{
		ID:      f.id,
		Kind:    oneOf(f, o, "kind", ToolCall, Halt),
		Runtime: f.text(o, "runtime", MaxName),
		RunID:   f.text(o, "run_id", MaxName),
		Session: f.text(o, "session", MaxName),
	}
	r.Calls, r.Listed = decodeCalls(f, o, r.Kind)
	r.Effect = oneOf(f, o, "effect", Destructive, Write)
	r.Pinned = decodePinned(f, o)
	r.Context = decodeContext(f, o)
	r.Card = decodeCard(f, o)
	r.Expiry = decodeExpiry(f, o)
	r.Risk = decodeRisk(o)
	return r, f.err()
}

// oneOf reads an optional word out of a closed list; absent is the first, which
// may be empty and cannot be said then.
func oneOf[T ~string](f *fields, o *object, name string, words ...T) T {
	v := o.get(name)
	if !v.there() {
		return words[0]
	}
	if v.kind() == '"' {
		if word := T(v.text()); word != "" && slices.Contains(words, word) {
			return word
		}
	}
	f.invalid(o.path+name, "must be "+orList(words))
	return ""
}

// orList writes words as "a, b or c".
func orList[T ~string](words []T) string {
	var b strings.Builder
	if words[0] == "" {
		words = words[1:]
	}
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}

// decodeCalls reads the calls, given one way or the other.
func decodeCalls(f *fields, o *object, kind Kind) (calls []Call, listed bool) {
	if kind == Halt {
		for _, name := range [...]string{"tool", "arguments", "calls"} {
			if o.get(name).there() {
				f.invalid(name, "not allowed: a halt pins no call")
				return nil, false
			}
		}
		return []Call{}, false
	}
	before := f.faults
	if !o.get("calls").there() {
		call := decodeCall(f, o)
		if f.faults > before {
			return nil, false
		}
		return []Call{call}, false
	}
	for _, name := range [...]string{"tool", "arguments"} {
		if o.get(name).there() {
			f.invalid("calls", "not allowed beside "+name)
			return nil, true
		}
	}
	list, n := f.list(o, "calls", MaxCalls)
	if list.there() {
		if n == 0 {
			f.invalid("calls", "must have at least 1 item")
		}
		for _, item := range f.items("calls", list) {
			calls = append(calls, decodeListed(f, &item))
		}
	}
	if f.faults > before {
		return nil, true
	}
	return calls, true
}

// decodeCall reads tool and arguments.
func decodeCall(f *fields, o *object) Call {
	call := Call{Tool: f.required(o, "tool", MaxName)}
	switch v := o.at("arguments"); v.kind() {
	case 0:
		f.invalid(o.path+"arguments", ruleRequired)
	case '{':
		call.Arguments = bytes.Clone(v.raw())
	default:
		f.invalid(o.path+"arguments", "must be an object")
	}
	return call
}

// decodeListed reads a call in a list, which may have an id.
func decodeListed(f *fields, o *object) Call {
	call := decodeCall(f, o)
	call.CallID = f.text(o, "call_id", MaxName)
	return call
}

func decodePinned(f *fields, o *object) bool {
	if !o.has("approval") {
		return false
	}
	if v := o.at("approval"); v.kind() != '"' || v.text() != "pinned" {
		f.invalid("approval", "must be pinned or absent")
		return false
	}
	return true
}

func decodeContext(f *fields, o *object) json.RawMessage {
	v := o.at("context").raw()
	if len(v) > MaxContext {
		f.invalid("context", "over 16 KiB")
		return nil
	}
	return bytes.Clone(v)
}

func decodeCard(f *fields, request *object) Card {
	card := f.object(request, "card")
	o := &card
	c := Card{
		Title:  f.text(o, "title", MaxTitle),
		Action: f.text(o, "action", MaxAction),
	}
	if strings.TrimSpace(c.Title) == "" {
		f.invalid("card.title", ruleRequired)
	}
	if list, n := f.list(o, "lines", MaxLines); n > 0 {
		c.Lines = make([]string, 0, n)
		for v := range list.children() {
			line, wrong := readText(v, MaxLine)
			if wrong != "" {
				f.invalid(fmt.Sprintf("card.lines[%d]", len(c.Lines)), wrong)
			}
			c.Lines = append(c.Lines, line)
		}
	}
	c.UndoTool = f.text(o, "undo_tool", MaxName)
	c.UndoDays, _ = f.integer(o, "undo_window_days", 1, MaxDays)
	c.Request = f.text(o, "request", MaxText)
	c.Summary = f.text(o, "summary", MaxText)
	return c
}

func decodeExpiry(f *fields, o *object) (e Expiry) {
	in, at := o.has("expires_in"), o.has("expires_at")
	switch {
	case in && at:
		f.invalid("expires_at", "not allowed beside expires_in")
	case in:
		e.In = f.seconds(o, "expires_in")
	case at:
		e.At = f.moment(o, "expires_at")
	}
	return e
}

// decodeRisk takes what it can and leaves the judgement to the policy: facts
// of a wrong shape are kept as they are, and vet nothing there.
func decodeRisk(o *object) (r Risk) {
	v := o.get("risk")
	if v.kind() != '{' {
		return r
	}
	risk := object{"risk.", v}
	r.Facts = bytes.Clone(risk.get("facts").raw())
	if v := risk.get("refiner"); v.kind() == '"' {
		r.Refiner = v.text()
	}
	return r
}
