package cards

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"countersign/approval"
)

// Whether the exact call has room beside the lines is asked for every card, and seldom
// is it shown. So it is measured without being rendered.

// exactUnits is how much room the exact call takes, in UTF-16 units.
func exactUnits(calls []approval.Call, redact bool) int {
	n := 0
	for i, c := range calls {
		size, ok := measure(c, redact)
		if !ok {
			size = units(string(newExact(calls[i:i+1], redact).calls[0]))
		}
		n += size + 2
		if len(calls) > 1 {
			n += len(strconv.Itoa(i+1)) + len(" of ") + len(strconv.Itoa(len(calls)))
		}
	}
	return n
}

// measure is how much room jsonWriter.call takes for c. It is certain of everyday
// calls alone, and else says that it is not.
func measure(c approval.Call, redact bool) (size int, ok bool) {
	m := meter{rest: string(c.Arguments), w: jsonWriter{redact: redact}}
	if !utf8.ValidString(c.Tool) || !m.value(1, false) || !m.over() {
		return 0, false
	}
	m.text(m.w.hide(c.Tool, false))
	return len("{\n  \"arguments\": ,\n  \"tool\": \n}") + m.size, true
}

// A meter measures JSON as a jsonWriter would write its canonical form. Its methods
// report false where it might differ.
type meter struct {
	rest  string
	size  int
	w     jsonWriter // hides
	names []string   // of the objects that are being read
}

// What a meter follows.
const (
	maxMetered = 64 // levels
	maxNames   = 32 // names in one object
)

// peek is the next byte that is not white space, 0 at the end.
func (m *meter) peek() byte {
	for len(m.rest) > 0 {
		switch m.rest[0] {
		case ' ', '\n', '\r', '\t':
			m.rest = m.rest[1:]
		default:
			return m.rest[0]
		}
	}
	return 0
}

// over reports whether nothing follows.
func (m *meter) over() bool { return m.peek() == 0 && m.rest == "" }

// value measures a value at depth levels of indentation. secret says that the member
// it belongs to holds a secret.
func (m *meter) value(depth int, secret bool) bool {
	switch c := m.peek(); {
	case c == '{' || c == '[':
		return depth < maxMetered && m.nest(depth, secret, c)
	case c == '"':
		s, ok := m.quoted()
		if ok {
			m.text(m.w.hide(s, secret))
		}
		return ok
	case c == '-' || isDigit(rune(c)):
		s, ok := m.number()
		if secret && m.w.redact {
			m.text(m.w.hide(s, true))
		} else {
			m.size += len(s)
		}
		return ok
	}
	for _, literal := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(m.rest, literal) {
			m.rest = m.rest[len(literal):]
			m.size += len(literal)
			return true
		}
	}
	return false
}

// nest measures an object or a list.
func (m *meter) nest(depth int, secret bool, opening byte) bool {
	closing := opening + 2 // as in ASCII
	outer := len(m.names)
	m.rest = m.rest[1:]
	m.size += len("{}")
	if m.peek() == closing {
		m.rest = m.rest[1:]
		return true
	}
	m.size += 1 + 2*depth // the last line break
	for {
		m.size += 1 + 2*(depth+1)
		member := secret
		if opening == '{' {
			name, ok := m.name(outer)
			if !ok {
				return false
			}
			member = secret || namesSecret(name)
		}
		if !m.value(depth+1, member) {
			return false
		}
		switch m.peek() {
		case ',':
			m.rest = m.rest[1:]
			m.size++
		case closing:
			m.rest = m.rest[1:]
			m.names = m.names[:outer]
			return true
		default:
			return false
		}
	}
}

// name measures the name of a member and what stands between it and its value. The
// names of the same object begin at m.names[outer].
func (m *meter) name(outer int) (name string, ok bool) {
	if m.peek() != '"' {
		return "", false
	}
	name, ok = m.quoted()
	if !ok || m.peek() != ':' || len(m.names)-outer == maxNames || slices.Contains(m.names[outer:], name) {
		return "", false
	}
	m.rest = m.rest[1:]
	m.names = append(m.names, name)
	m.text(m.w.hide(name, false))
	m.size += len(": ")
	return name, true
}

// quoted reads a string.
func (m *meter) quoted() (s string, ok bool) {
	end, escapes := 1, false
	for ; end < len(m.rest) && m.rest[end] != '"'; end++ {
		switch {
		case m.rest[end] < ' ':
			return "", false
		case m.rest[end] == '\\':
			escapes = true
			end++
		}
	}
	if end >= len(m.rest) {
		return "", false
	}
	raw := m.rest[:end+1]
	m.rest = m.rest[end+1:]
	if !escapes {
		s = raw[1:end]
		return s, utf8.ValidString(s)
	}
	// What stands for a lone surrogate, or is not UTF-8, becomes U+FFFD here, and
	// breaks the canonical form.
	err := json.Unmarshal([]byte(raw), &s)
	return s, err == nil && !strings.ContainsRune(s, utf8.RuneError)
}

// number reads a number that is its own canonical form: not too long, without an
// exponent and without zeros that say nothing.
func (m *meter) number() (s string, ok bool) {
	n := 0
	for n < len(m.rest) && strings.IndexByte("+-.0123456789Ee", m.rest[n]) >= 0 {
		n++
	}
	s = m.rest[:n]
	m.rest = m.rest[n:]
	whole, fraction, broken := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	switch {
	case len(whole)+len(fraction) > 15, !onlyDigits(whole), len(whole) > 1 && whole[0] == '0':
		return s, false
	case !broken:
		return s, s != "-0"
	}
	return s, onlyDigits(fraction) && fraction[len(fraction)-1] != '0' && (whole != "0" || !strings.HasPrefix(fraction, "00000"))
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// text measures what jsonWriter.str writes for s.
func (m *meter) text(s string) {
	if !unmarked(s) {
		var w jsonWriter
		w.str(s)
		m.size += units(w.b.String())
		return
	}
	m.size += len(`""`) + units(s) + strings.Count(s, `"`) + strings.Count(s, `\`)
}
