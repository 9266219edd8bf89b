package approval

import (
	"bytes"
	"iter"
)

// What walks a text here relies on its grammar having been checked.

// members yields the keys, unescaped, and the values of an object in a text
// that has been checked.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		s := scanner{data: object}
		for s.peek(); s.pos < len(object); {
			s.pos++ // { or ,
			if s.peek() == '}' {
				return
			}
			key := s.skipText()
			s.peek()
			s.pos++ // :
			if !yield(unescape(key), s.skip()) || s.peek() == '}' {
				return
			}
		}
	}
}

// skip passes over one value of a checked text and returns it.
func (s *scanner) skip() []byte {
	s.peek()
	start, depth := s.pos, 0
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '"':
			s.skipText()
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			depth--
			s.pos++
		default:
			s.pos++
			if depth == 0 { // a number or a word
				for s.pos < len(s.data) && bytes.IndexByte([]byte(",]} \n\r\t"), s.data[s.pos]) < 0 {
					s.pos++
				}
			}
		}
		if depth == 0 {
			break
		}
	}
	return s.data[start:s.pos]
}

// skipText passes over a string of a checked text, and returns what is between
// the quotes.
func (s *scanner) skipText() []byte {
	s.pos++
	start := s.pos
	for {
		s.pos += bytes.IndexByte(s.data[s.pos:], '"') + 1
		raw := s.data[start : s.pos-1]
		if slashes := len(raw) - len(bytes.TrimRight(raw, `\`)); slashes%2 == 0 {
			return raw
		}
	}
}
