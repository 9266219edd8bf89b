package approval

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A fault is the first rule of I-JSON (RFC 7493) that a text breaks.
type fault struct {
	path   string // "" for the whole text
	rule   string
	broken bool // not JSON, or more than one value: nothing in it can be trusted
}

// checkJSON reports what is wrong with data as an I-JSON text nested at most
// depth, or nil: keys given twice, lone surrogates, text that is not UTF-8,
// integers that a double cannot hold exactly, numbers that it cannot hold at
// all. A text that breaks a rule but not the grammar is read to its end, so
// that broken is right whatever came first.
func checkJSON(data []byte, depth int) *fault {
	c := checker{scan: scanner{data: data}, depth: depth, frames: make([]frame, 0, 8)}
	return c.run()
}

// checkGrammar is checkJSON without the rules: it only tells one JSON value
// from anything else, in memory that does not grow with the number of keys.
func checkGrammar(data []byte) *fault {
	c := checker{scan: scanner{data: data}}
	return c.run()
}

// A checker reads a text once, without recursion: a level deeper than depth
// costs one byte and no stack.
type checker struct {
	scan   scanner
	depth  int     // 0: grammar only
	open   []byte  // the closing brackets due, outermost first
	frames []frame // where we are in the outermost depth of them
	first  *fault
}

// A frame is a place in one open object or list.
type frame struct {
	key   []byte // the present key, unescaped
	index int    // the present index in a list
	keys  keySet
}

func (c *checker) run() *fault {
	for c.value() || c.next() {
	}
	s := &c.scan
	if s.failed {
		return &fault{rule: fmt.Sprintf("is not JSON at byte %d", s.pos), broken: true}
	}
	if s.peek(); s.pos < len(s.data) {
		return &fault{rule: "must be one JSON value", broken: true}
	}
	return c.first
}

// value reads one scalar or the opening of an object or a list, and reports
// whether the first value inside is due next.
func (c *checker) value() bool {
	s := &c.scan
	switch b := s.peek(); {
	case b == '{':
		c.enter('}')
		if s.peek() == '}' {
			return false
		}
		c.key()
		return !s.failed
	case b == '[':
		c.enter(']')
		return s.peek() != ']'
	case b == '"':
		_, rule := s.text()
		c.note(rule)
	case b == '-' || isDigit(b):
		_, rule := s.number()
		c.note(rule)
	default:
		s.literal()
	}
	return false
}

// next goes on after a value, and reports whether another one is due.
func (c *checker) next() bool {
	s := &c.scan
	for len(c.open) > 0 && !s.failed {
		closing := c.open[len(c.open)-1]
		switch b := s.peek(); {
		case b == closing:
			c.leave()
		case b == ',' && closing == '}':
			s.pos++
			c.key()
			return !s.failed
		case b == ',':
			s.pos++
			if f := c.frame(); f != nil {
				f.index++
			}
			return true
		default:
			s.failed = true
		}
	}
	return false
}

func (c *checker) enter(closing byte) {
	c.scan.pos++
	if len(c.open) == c.depth {
		c.note(fmt.Sprintf("nested deeper than %d", c.depth))
	}
	c.open = append(c.open, closing)
	if len(c.open) > c.depth {
		return
	}
	// A frame left earlier lends its memory.
	if n := len(c.frames); n < cap(c.frames) {
		c.frames = c.frames[:n+1]
		c.frames[n].reset()
	} else {
		c.frames = append(c.frames, frame{})
	}
}

func (c *checker) leave() {
	c.scan.pos++
	if len(c.open) == len(c.frames) {
		c.frames = c.frames[:len(c.frames)-1]
	}
	c.open = c.open[:len(c.open)-1]
}

// frame is the innermost open object or list, nil below the depth kept.
func (c *checker) frame() *frame {
	if len(c.frames) == 0 || len(c.frames) < len(c.open) {
		return nil
	}
	return &c.frames[len(c.frames)-1]
}

// key reads a key and its colon.
func (c *checker) key() {
	s := &c.scan
	if s.peek() != '"' {
		s.failed = true
		return
	}
	raw, rule := s.text()
	if !s.failed {
		if f := c.frame(); f != nil {
			f.key = unescape(raw)
			c.note(rule)
			if !f.keys.add(f.key) {
				c.note("given twice")
			}
		}
	}
	if s.peek() != ':' {
		s.failed = true
		return
	}
	s.pos++
}

// note keeps the first rule broken, with the path to it.
func (c *checker) note(rule string) {
	if rule != "" && c.first == nil && c.depth > 0 {
		c.first = &fault{path: c.path(), rule: rule}
	}
}

// path names where the checker is, as in arguments.ids[3].
func (c *checker) path() string {
	var b strings.Builder
	for i, f := range c.frames {
		switch {
		case c.open[i] == ']':
			fmt.Fprintf(&b, "[%d]", f.index)
		case isPlain(f.key):
			if i > 0 {
				b.WriteByte('.')
			}
			b.Write(f.key)
		default:
			fmt.Fprintf(&b, "[%s]", strconv.QuoteToASCII(string(cut(f.key, 40))))
		}
	}
	return string(cut([]byte(b.String()), 200))
}

// isPlain reports whether key reads well in a path without quotes.
func isPlain(key []byte) bool {
	if len(key) == 0 || len(key) > 40 {
		return false
	}
	for _, b := range key {
		if b != '_' && b != '-' && !isDigit(b) && (b|0x20 < 'a' || b|0x20 > 'z') {
			return false
		}
	}
	return true
}

// cut bounds what an error repeats of a stranger's text.
func cut(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	return append(bytes.Clone(text[:most]), "..."...)
}

// A keySet finds a key given twice. Most objects are small: a list is faster
// there, and a map keeps large ones from costing the square of their size.
type keySet struct {
	list [][]byte
	all  map[string]bool
}

func (f *frame) reset() {
	*f = frame{keys: keySet{list: f.keys.list[:0]}}
}

// add reports whether key was not there yet.
func (k *keySet) add(key []byte) bool {
	const small = 16
	if k.all != nil {
		if k.all[string(key)] {
			return false
		}
		k.all[string(key)] = true
		return true
	}
	for _, other := range k.list {
		if bytes.Equal(other, key) {
			return false
		}
	}
	k.list = append(k.list, key)
	if len(k.list) > small {
		k.all = make(map[string]bool, 2*len(k.list))
		for _, other := range k.list {
			k.all[string(other)] = true
		}
	}
	return true
}
