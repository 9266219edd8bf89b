package approval

import (
	"bytes"
	"iter"
	"strconv"
)

// A document is one I-JSON text, read once: all its values, in the order of the text.
// It does not change.
type document struct {
	data  []byte
	nodes []node
}

// A node is one value. Its places are offsets into the text.
type node struct {
	start, end int32
	key, after int32 // where its key begins and ends, between the quotes; in an object
	next       int32 // the node behind it and all that it holds; 0 while that is being read
	kind       byte  // one of {["0tfn, 0 for a number
	plain      bool  // a string or a number, written as RFC 8785 has it
	plainKey   bool  // likewise its key
}

// A value is one value of a document. The zero value is none.
type value struct {
	doc *document
	at  int32
}

// root is the outermost value.
func (d *document) root() value { return value{doc: d} }

// last is where the value read last is.
func (d *document) last() int { return len(d.nodes) - 1 }

// children yields the values in the object or the list at a place; while that is being
// read, those read so far.
func (d *document) children(at int) iter.Seq[value] {
	return func(yield func(value) bool) {
		end := int(d.nodes[at].next)
		if end == 0 {
			end = len(d.nodes)
		}
		for i := at + 1; i < end; i = int(d.nodes[i].next) {
			if !yield(value{d, int32(i)}) {
				return
			}
		}
	}
}

func (v value) node() *node { return &v.doc.nodes[v.at] }

// there reports whether there is a value.
func (v value) there() bool { return v.doc != nil }

// kind tells a value by its first byte: one of {["tfn, 0 for a number, or the zero byte
// where there is none.
func (v value) kind() byte {
	if v.doc == nil {
		return 0
	}
	return v.node().kind
}

// raw is the value as it stands in the text, nil where there is none.
func (v value) raw() []byte {
	if v.doc == nil {
		return nil
	}
	n := v.node()
	return v.doc.data[n.start:n.end]
}

// text is the text of a string.
func (v value) text() string {
	n := v.node()
	raw := v.doc.data[n.start+1 : n.end-1]
	if n.plain {
		return string(raw)
	}
	return string(unescape(raw))
}

// key is the value's key, unescaped, in an object.
func (v value) key() []byte {
	n := v.node()
	raw := v.doc.data[n.key:n.after]
	if n.plainKey {
		return raw
	}
	return unescape(raw)
}

// keyIs compares the value's key with one as it stands between quotes.
func (v value) keyIs(raw []byte, plain bool) bool {
	n := v.node()
	own := v.doc.data[n.key:n.after]
	if n.plainKey && plain {
		return bytes.Equal(own, raw)
	}
	return bytes.Equal(unescape(own), unescape(raw))
}

// children yields the values in an object or a list.
func (v value) children() iter.Seq[value] { return v.doc.children(int(v.at)) }

// len is how many values there are in an object or a list.
func (v value) len() (n int) {
	for range v.children() {
		n++
	}
	return n
}

// member returns a value of an object.
func (v value) member(name string) value {
	end := v.node().next
	for i := v.at + 1; i < end; {
		n := &v.doc.nodes[i]
		own := v.doc.data[n.key:n.after]
		if n.plainKey && string(own) == name || !n.plainKey && string(unescape(own)) == name {
			return value{v.doc, i}
		}
		i = n.next
	}
	return value{}
}

// tree is the value as encoding/json reads it: maps, lists, strings, doubles, booleans
// and nil.
func (v value) tree() any {
	switch v.kind() {
	case '{':
		m := make(map[string]any, v.len())
		for child := range v.children() {
			m[string(child.key())] = child.tree()
		}
		return m
	case '[':
		list := make([]any, 0, v.len())
		for child := range v.children() {
			list = append(list, child.tree())
		}
		return list
	case '"':
		return v.text()
	case '0':
		f, err := strconv.ParseFloat(string(v.raw()), 64)
		if err != nil {
			panic("unreachable unless bug in this package: " + err.Error()) // finite as a double
		}
		return f
	case 't', 'f':
		return v.kind() == 't'
	}
	return nil
}
