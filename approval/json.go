package approval

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A fault is the first rule of I-JSON (RFC 7493) that a text breaks.
type fault struct {
	path   string // "" for the whole text
	rule   string
	broken bool // not JSON, or more than one value: nothing in it can be trusted
}

// readJSON reads data as an I-JSON text nested at most depth, or reports what is wrong
// with it: keys given twice, lone surrogates, text that is not UTF-8, integers that a
// double cannot hold exactly, numbers that it cannot hold at all. A text that breaks a
// rule but not the grammar is read to its end, so that broken is right whatever came
// first. The document is nil beside a fault.
func readJSON(data []byte, depth int) (*document, *fault) {
	if len(data) > math.MaxInt32 {
		return nil, &fault{rule: "is too long", broken: true}
	}
	doc := &document{data: data, nodes: make([]node, 0, min(len(data)/16+2, 64))}
	c := checker{scan: scanner{data: data}, depth: depth, doc: doc}
	c.open, c.frames = c.fewOpen[:0], c.fewFrames[:0]
	if f := c.run(); f != nil {
		return nil, f
	}
	return doc, nil
}

// checkGrammar only tells one JSON value from anything else, in memory that does not
// grow with the number of values.
func checkGrammar(data []byte) *fault {
	c := checker{scan: scanner{data: data}}
	return c.run()
}

// A checker reads a text once, without recursion: a level deeper than depth
// costs one byte and no stack.
type checker struct {
	scan   scanner
	depth  int       // 0: grammar only
	open   []byte    // the closing brackets due, outermost first
	frames []frame   // where we are in the outermost depth of them
	doc    *document // all values so far, up to the first rule broken
	first  *fault

	fewOpen   [8]byte // enough for most texts
	fewFrames [8]frame
}

// A frame is a place in one open object or list.
type frame struct {
	at         int // its node
	index      int // the present index in a list
	key, after int // where the present key begins and ends, between the quotes
	plain      bool
	keys       map[string]bool // of a large object
	count      int             // how many keys it has so far
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
	b := s.peek()
	start, rule := s.pos, ""
	switch {
	case b == '{':
		c.enter('{', '}')
		if s.peek() == '}' {
			return false
		}
		c.key()
		return !s.failed
	case b == '[':
		c.enter('[', ']')
		return s.peek() != ']'
	case b == '"':
		_, rule = s.text()
	case b == '-' || isDigit(b):
		_, rule = s.number()
		b = '0'
	default:
		s.literal()
	}
	c.note(rule)
	c.add(b, start)
	return false
}

// add notes a value that begins at start, and ends here if it is a scalar.
func (c *checker) add(kind byte, start int) {
	if c.first != nil || c.depth == 0 || c.scan.failed {
		return
	}
	n := node{start: int32(start), end: int32(c.scan.pos), kind: kind, plain: c.scan.plain}
	if kind != '{' && kind != '[' {
		n.next = int32(len(c.doc.nodes) + 1)
	}
	if f := c.frame(); f != nil {
		n.key, n.after, n.plainKey = int32(f.key), int32(f.after), f.plain
	}
	c.doc.nodes = append(c.doc.nodes, n)
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

func (c *checker) enter(opening, closing byte) {
	start := c.scan.pos
	c.scan.pos++
	if len(c.open) == c.depth {
		c.note(fmt.Sprintf("nested deeper than %d", c.depth))
	}
	c.add(opening, start)
	c.open = append(c.open, closing)
	if len(c.open) <= c.depth {
		c.frames = append(c.frames, frame{at: c.doc.last()})
	}
}

func (c *checker) leave() {
	c.scan.pos++
	if len(c.open) == len(c.frames) {
		if f := c.frame(); c.first == nil {
			n := &c.doc.nodes[f.at]
			n.end, n.next = int32(c.scan.pos), int32(len(c.doc.nodes))
		}
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
	start := s.pos + 1
	raw, rule := s.text()
	if f := c.frame(); f != nil && !s.failed {
		f.key, f.after, f.plain = start, start+len(raw), s.plain
		c.note(rule)
		if c.first == nil && c.twice(f, raw) {
			c.note("given twice")
		}
	}
	if s.peek() != ':' {
		s.failed = true
		return
	}
	s.pos++
}

// twice reports whether an object has a key already. Most objects are small: to look
// through them is faster there, and a map keeps large ones from costing the square of
// their size.
func (c *checker) twice(f *frame, raw []byte) bool {
	const small = 16
	f.count++
	if f.count <= small {
		for v := range c.doc.children(f.at) {
			if v.keyIs(raw, f.plain) {
				return true
			}
		}
		return false
	}
	if f.keys == nil {
		f.keys = make(map[string]bool, 4*small)
		for v := range c.doc.children(f.at) {
			f.keys[string(v.key())] = true
		}
	}
	key := unescape(raw)
	if f.keys[string(key)] {
		return true
	}
	f.keys[string(key)] = true
	return false
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
		if c.open[i] == ']' {
			fmt.Fprintf(&b, "[%d]", f.index)
			continue
		}
		key := unescape(c.scan.data[f.key:f.after])
		if !isPlain(key) {
			fmt.Fprintf(&b, "[%s]", strconv.QuoteToASCII(string(cut(key, 40))))
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.Write(key)
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
