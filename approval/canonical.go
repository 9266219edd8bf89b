package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Canonical returns the RFC 8785 form of an I-JSON text: no white space, keys
// in order of their UTF-16 units, one way to write each string and number.
func Canonical(raw []byte) ([]byte, error) {
	return appendCanonical(make([]byte, 0, len(raw)), raw)
}

// appendCanonical appends the canonical form of raw. What is I-JSON, and not nested
// deeper than an answer may be, we write ourselves, from one reading and without a tree:
// the library takes several times as long. A test holds that both write the same. Of
// everything else the library says what it is worth.
func appendCanonical(b, raw []byte) ([]byte, error) {
	if doc, broken := readJSON(raw, answerNesting); broken == nil {
		return doc.canonical(b, doc.root()), nil
	}
	out, err := jcs.Transform(raw)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return append(b, out...), nil
}

// canonicalWithout is the canonical form of an object without some of its own fields.
func (d *document) canonicalWithout(names ...string) []byte {
	return d.object(make([]byte, 0, len(d.data)), d.root(), names)
}

// canonical appends the canonical form of a value.
func (d *document) canonical(b []byte, v value) []byte {
	switch v.kind() {
	case '{':
		return d.object(b, v, nil)
	case '[':
		b = append(b, '[')
		for child := range v.children() {
			b = append(d.canonical(b, child), ',')
		}
		return closed(b, ']')
	case '"':
		if !v.node().plain {
			return appendString(b, v.text())
		}
	case '0':
		if !v.node().plain {
			return appendNumber(b, v.raw())
		}
	}
	return append(b, v.raw()...)
}

// A member is a value of an object, beside its key.
type member struct {
	key []byte
	value
}

// object appends an object, without some of its fields.
func (d *document) object(b []byte, v value, without []string) []byte {
	var few [16]member
	all, sorted := few[:0], true
	for child := range v.children() {
		m := member{child.key(), child}
		if slices.Contains(without, string(m.key)) {
			continue
		}
		sorted = sorted && (len(all) == 0 || compareKeys(all[len(all)-1].key, m.key) < 0)
		all = append(all, m)
	}
	if !sorted {
		slices.SortFunc(all, func(a, b member) int { return compareKeys(a.key, b.key) })
	}
	b = append(b, '{')
	for _, m := range all {
		if m.node().plainKey {
			b = append(append(append(b, '"'), m.key...), '"')
		} else {
			b = appendString(b, string(m.key))
		}
		b = append(d.canonical(append(b, ':'), m.value), ',')
	}
	return closed(b, '}')
}

// closed ends a list whose items each end with a comma.
func closed(b []byte, bracket byte) []byte {
	if last := len(b) - 1; b[last] == ',' {
		b[last] = bracket
		return b
	}
	return append(b, bracket)
}

// compareKeys compares two keys by their UTF-16 units. Up to where they differ that is
// the order of their bytes, but that what lies outside the basic plane comes before its
// end.
func compareKeys(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) || n == len(b) {
		return cmp.Compare(len(a), len(b))
	}
	for n > 0 && !utf8.RuneStart(a[n]) {
		n--
	}
	r, _ := utf8.DecodeRune(a[n:])
	s, _ := utf8.DecodeRune(b[n:])
	const end = '\uFFFF'
	if r <= end && s <= end || r > end && s > end {
		return cmp.Compare(r, s)
	}
	// One of them is a pair of surrogates, the first of which is below U+E000.
	return cmp.Compare(leading(r), leading(s))
}

// leading is the first UTF-16 unit of a character.
func leading(r rune) rune {
	if r > '\uFFFF' {
		return 0xD800 + (r-0x10000)>>10
	}
	return r
}

// appendNumber appends a finite number in the form of ECMAScript.
func appendNumber(b, raw []byte) []byte {
	f, err := strconv.ParseFloat(string(raw), 64)
	text, fault := jcs.NumberToJSON(f)
	if err != nil || fault != nil {
		panic("unreachable unless bug in this package: " + string(raw)) // it was checked
	}
	return append(b, text...)
}
