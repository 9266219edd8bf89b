package cards

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"countersign/approval"
)

// An exactCall is the pinned calls as canonical JSON, indented. Characters that
// cannot be seen are written as JSON escapes, one by one, so that what is shown
// is still JSON and, where nothing is masked, still the pinned value.
type exactCall struct {
	calls  []shown
	masked int
	hidden string // code of the first character that cannot be seen, or ""
}

// newExact renders calls, with what looks like a secret masked if redact.
func newExact(calls []approval.Call, redact bool) exactCall {
	var e exactCall
	for _, c := range calls {
		w := jsonWriter{redact: redact}
		e.calls = append(e.calls, w.call(c))
		e.masked += w.masked
		e.hidden = cmp.Or(e.hidden, w.hidden)
	}
	return e
}

// text is all calls, one under the other; several are numbered. A value cannot
// look like the next number: JSON has no line break within a string.
func (e exactCall) text() shown {
	if len(e.calls) == 1 {
		return e.calls[0]
	}
	var b strings.Builder
	for i, c := range e.calls {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(fill(wordCallOf, strconv.Itoa(i+1), strconv.Itoa(len(e.calls))))
		b.WriteString("\n" + string(c))
	}
	return shown(b.String())
}

// exact is the exact call of the row, rendered once.
func (f *face) exact() *exactCall {
	if f.call == nil {
		e := newExact(f.calls(), f.s.Redact)
		f.call = &e
	}
	return f.call
}

// exactAsFile reports whether the exact call is too long to stand beside the
// lines of every page. A card never hides lines to make room for it: what was
// opened was shown.
func (f *face) exactAsFile() bool { return f.layout().exact+f.layout().widest > f.room() }

// writeExact writes the exact call, and counts the secrets masked in it.
func (f *face) writeExact(t *text) (masked int) {
	exact := f.exact()
	if n := len(exact.calls); n > 1 {
		t.line(wordExactOf, number(n))
	} else {
		t.line(wordExact)
	}
	t.line("{}", block(exact.text()))
	return exact.masked
}

// A jsonWriter writes JSON for people.
type jsonWriter struct {
	b      strings.Builder
	redact bool
	masked int
	hidden string // code of the first character that cannot be seen, or ""
}

// call writes c in the form that the pin covers.
func (w *jsonWriter) call(c approval.Call) shown {
	tool, err := json.Marshal(c.Tool)
	if err != nil {
		panic(err) // unreachable: a string
	}
	raw := append(append([]byte(`{"arguments":`), c.Arguments...), `,"tool":`...)
	canonical, err := approval.Canonical(append(append(raw, tool...), '}'))
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(canonical))
		d.UseNumber()
		err = w.value(d, 0, false)
	}
	if err != nil { // unreachable for a row that opened; show what there is
		return show(c.Tool + " " + string(c.Arguments))
	}
	return shown(w.b.String())
}

// value copies the next value of d, at depth levels of indentation. secret says
// that the member it belongs to holds a secret.
func (w *jsonWriter) value(d *json.Decoder, depth int, secret bool) error {
	token, err := d.Token()
	if err != nil {
		return fmt.Errorf("read canonical JSON: %w", err)
	}
	switch v := token.(type) {
	case json.Delim:
		return w.nest(d, depth, secret, v)
	case string:
		w.str(w.hide(v, secret))
	case json.Number:
		if secret && w.redact {
			w.str(w.hide(v.String(), true))
		} else {
			w.b.WriteString(v.String())
		}
	case bool:
		w.b.WriteString(strconv.FormatBool(v))
	case nil:
		w.b.WriteString("null")
	}
	return nil
}

// nest copies the rest of an object or a list.
func (w *jsonWriter) nest(d *json.Decoder, depth int, secret bool, opening json.Delim) error {
	w.b.WriteString(opening.String())
	empty := true
	for d.More() {
		if !empty {
			w.b.WriteByte(',')
		}
		empty = false
		w.indent(depth + 1)
		member := secret
		if opening == '{' {
			token, err := d.Token()
			if err != nil {
				return fmt.Errorf("read canonical JSON: %w", err)
			}
			name, _ := token.(string)
			w.str(w.hide(name, false))
			w.b.WriteString(": ")
			member = secret || namesSecret(name)
		}
		if err := w.value(d, depth+1, member); err != nil {
			return err
		}
	}
	if !empty {
		w.indent(depth)
	}
	closing, err := d.Token()
	if err != nil {
		return fmt.Errorf("read canonical JSON: %w", err)
	}
	_, err = io.WriteString(&w.b, closing.(json.Delim).String())
	return err
}

func (w *jsonWriter) indent(depth int) {
	w.b.WriteByte('\n')
	for range depth {
		w.b.WriteString("  ")
	}
}

// hide masks s, whole if its member holds a secret.
func (w *jsonWriter) hide(s string, secret bool) string {
	switch {
	case !w.redact || s == "":
		return s
	case secret:
		w.masked++
		return mask
	}
	out, n := maskSecrets(s)
	w.masked += n
	return out
}

// str writes s as a JSON string in which everything can be seen.
func (w *jsonWriter) str(s string) {
	if w.hidden == "" {
		w.hidden = hiddenCode(s)
	}
	w.b.WriteByte('"')
	for p, isMark := range pieces(s, escaped) {
		if !isMark {
			p = strings.ReplaceAll(strings.ReplaceAll(p, `\`, `\\`), `"`, `\"`)
		}
		w.b.WriteString(p)
	}
	w.b.WriteByte('"')
}

// escaped writes n times c as JSON escapes.
func escaped(c rune, n int) string {
	if c > 0xffff {
		c -= 0x10000
		return strings.Repeat(fmt.Sprintf(`\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff), n)
	}
	return strings.Repeat(marked(c), n)
}
