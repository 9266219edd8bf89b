package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// A writer builds one JSON object, field by field in the order of the calls.
// encoding/json would compact raw JSON and escape <, > and &; here what was
// pinned goes out byte for byte. Strings are written as RFC 8785 has them.
type writer struct {
	buf []byte
	err error // the first
}

var (
	errRaw    = errors.New("is not one JSON value")
	errNobody = errors.New("by names nobody")
)

// name begins a field.
func (w *writer) name(name string) {
	if len(w.buf) == 0 {
		w.buf = append(w.buf, '{')
	} else if last := w.buf[len(w.buf)-1]; last != '{' && last != '[' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(appendString(w.buf, name), ':')
}

func (w *writer) text(name, value string) {
	w.name(name)
	w.buf = appendString(w.buf, value)
}

// optional is text, left out if empty.
func (w *writer) optional(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *writer) integer(name string, value int64) {
	w.name(name)
	w.buf = strconv.AppendInt(w.buf, value, 10)
}

func (w *writer) boolean(name string, value bool) {
	w.name(name)
	w.buf = strconv.AppendBool(w.buf, value)
}

func (w *writer) moment(name string, t time.Time) { w.text(name, formatTime(t)) }

// raw splices JSON byte for byte.
func (w *writer) raw(name string, value json.RawMessage) {
	if w.err == nil && !json.Valid(value) {
		w.err = fmt.Errorf("%s %w", name, errRaw)
	}
	w.name(name)
	w.buf = append(w.buf, value...)
}

// context is raw, left out if nil.
func (w *writer) context(value json.RawMessage) {
	if value != nil {
		w.raw("context", value)
	}
}

// begin opens a nested object or list; end closes it.
func (w *writer) begin(bracket byte) { w.buf = append(w.buf, bracket) }
func (w *writer) end(bracket byte)   { w.buf = append(w.buf, bracket) }

// item begins an object in a list.
func (w *writer) item() {
	if w.buf[len(w.buf)-1] != '[' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '{')
}

// calls writes a list of calls, left out if nil.
func (w *writer) calls(calls []Call) {
	if calls == nil {
		return
	}
	w.name("calls")
	w.begin('[')
	for _, c := range calls {
		w.item()
		w.text("tool", c.Tool)
		w.raw("arguments", c.Arguments)
		w.optional("call_id", c.CallID)
		w.end('}')
	}
	w.end(']')
}

// by writes who decided. It must name somebody.
func (w *writer) by(name string, by By) {
	w.name(name)
	w.begin('{')
	w.byFields(by)
	w.end('}')
}

func (w *writer) byFields(by By) {
	if w.err == nil && (by.Surface == "" || by.ID == "") {
		w.err = errNobody
	}
	w.text("surface", string(by.Surface))
	w.text("id", by.ID)
	w.text("name", by.Name)
	if by.Chat != 0 {
		w.integer("chat_id", by.Chat)
	}
	if by.Message != 0 {
		w.integer("message_id", int64(by.Message))
	}
	w.optional("method", by.Method)
}

// done closes the outer object.
func (w *writer) done() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return append(w.buf, '}'), nil
}

// appendString appends s as a JSON string in the one form of RFC 8785. What is
// not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // what is from here on goes as it is
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, n = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		b = appendEscape(append(b, s[from:i]...), r)
		i += n
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// appendEscape appends a character that a string cannot hold as it is.
func appendEscape(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\b':
		return append(b, '\\', 'b')
	case '\t':
		return append(b, '\\', 't')
	case '\n':
		return append(b, '\\', 'n')
	case '\f':
		return append(b, '\\', 'f')
	case '\r':
		return append(b, '\\', 'r')
	case utf8.RuneError:
		return utf8.AppendRune(b, r)
	}
	return append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
}
