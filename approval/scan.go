package approval

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A scanner reads the tokens of a JSON text. Once failed is set the text is
// not JSON, and pos stands where it stopped being so.
type scanner struct {
	data   []byte
	pos    int
	failed bool
	plain  bool // the string or number read last is written as RFC 8785 has it
}

// peek skips white space and returns the byte after it, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch b := s.data[s.pos]; b {
		case ' ', '\n', '\r', '\t':
			s.pos++
		default:
			return b
		}
	}
	return 0
}

// text reads a string at its opening quote. It returns what is between the
// quotes, still escaped, and the rule it breaks, if any.
func (s *scanner) text() (raw []byte, rule string) {
	s.pos++
	start := s.pos
	s.plain = true
	var bits byte // of every byte in the string, or-ed
	for s.pos < len(s.data) {
		rest := s.data[s.pos:]
		n := 0
		for n < len(rest) && rest[n] >= ' ' && rest[n] != '"' && rest[n] != '\\' {
			bits |= rest[n]
			n++
		}
		s.pos += n
		switch {
		case n == len(rest) || rest[n] < ' ':
			s.failed = true
			return nil, ""
		case rest[n] == '\\':
			s.plain = false
			if s.escape() {
				rule = "holds a lone surrogate"
			}
			if s.failed {
				return nil, ""
			}
		default:
			raw = s.data[start:s.pos]
			s.pos++
			if bits >= utf8.RuneSelf && !utf8.Valid(raw) {
				rule = "is not UTF-8"
			}
			return raw, rule
		}
	}
	s.failed = true
	return nil, ""
}

// escape reads one escape, or the two of a surrogate pair, and reports whether
// it is half of a pair only.
func (s *scanner) escape() (lone bool) {
	if s.pos+1 >= len(s.data) {
		s.failed = true
		return false
	}
	switch s.data[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return false
	}
	unit, ok := unicodeEscape(s.data[s.pos:])
	if !ok {
		s.failed = true
		return false
	}
	s.pos += 6
	switch {
	case unit < 0xD800 || unit > 0xDFFF:
		return false
	case unit > 0xDBFF:
		return true
	}
	if low, ok := unicodeEscape(s.data[s.pos:]); ok && low >= 0xDC00 && low <= 0xDFFF {
		s.pos += 6
		return false
	}
	return true
}

// unicodeEscape reads \u and four digits at the head of b.
func unicodeEscape(b []byte) (unit uint16, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, d := range b[2:6] {
		unit <<= 4
		switch {
		case isDigit(d):
			unit |= uint16(d - '0')
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			unit |= uint16(d|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return unit, true
}

// number reads a number, and returns it with the rule it breaks, if any.
func (s *scanner) number() (raw []byte, rule string) {
	start, whole := s.pos, true
	if s.data[s.pos] == '-' {
		s.pos++
	}
	digits := s.pos
	if s.digits(); s.pos-digits > 1 && s.data[digits] == '0' {
		s.failed = true
	}
	if !s.failed && s.at('.') {
		whole = false
		s.pos++
		s.digits()
	}
	if !s.failed && (s.at('e') || s.at('E')) {
		whole = false
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		s.digits()
	}
	if s.failed {
		return nil, ""
	}
	raw = s.data[start:s.pos]
	s.plain = whole && string(raw) != "-0"
	if whole {
		if !isSafeInteger(s.data[digits:s.pos]) {
			rule = "must be within ±(2^53-1)"
		}
	} else if f, err := strconv.ParseFloat(string(raw), 64); err != nil || math.IsInf(f, 0) {
		rule = "must be finite as a double"
	}
	return raw, rule
}

func (s *scanner) at(b byte) bool { return s.pos < len(s.data) && s.data[s.pos] == b }

// digits reads at least one digit.
func (s *scanner) digits() {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	s.failed = s.failed || s.pos == start
}

// literal reads true, false or null.
func (s *scanner) literal() {
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
			s.pos += len(word)
			return
		}
	}
	s.failed = true
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isSafeInteger reports whether digits, which have no leading zero, are at
// most 2^53-1.
func isSafeInteger(digits []byte) bool {
	const most = "9007199254740991"
	return len(digits) < len(most) || len(digits) == len(most) && string(digits) <= most
}

// unescape returns the text of what stood between quotes.
func unescape(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return appendUnescaped(make([]byte, 0, len(raw)), raw)
}

// appendUnescaped appends that text. Half of a surrogate pair becomes U+FFFD, and so does
// a byte that is not UTF-8.
func appendUnescaped(b, raw []byte) []byte {
	for len(raw) > 0 {
		switch c := raw[0]; {
		case c == '\\':
			var n int
			b, n = appendEscaped(b, raw)
			raw = raw[n:]
		case c < utf8.RuneSelf:
			b, raw = append(b, c), raw[1:]
		default:
			r, n := utf8.DecodeRune(raw)
			b, raw = utf8.AppendRune(b, r), raw[n:]
		}
	}
	return b
}

// appendEscaped appends what the escape at the head of raw stands for, and returns how
// long that is.
func appendEscaped(b, raw []byte) ([]byte, int) {
	switch c := raw[1]; c {
	case 'b':
		return append(b, '\b'), 2
	case 'f':
		return append(b, '\f'), 2
	case 'n':
		return append(b, '\n'), 2
	case 'r':
		return append(b, '\r'), 2
	case 't':
		return append(b, '\t'), 2
	case '"', '\\', '/':
		return append(b, c), 2
	}
	unit, _ := unicodeEscape(raw)
	if !utf16.IsSurrogate(rune(unit)) {
		return utf8.AppendRune(b, rune(unit)), 6
	}
	low, _ := unicodeEscape(raw[6:])
	if r := utf16.DecodeRune(rune(unit), rune(low)); r != utf8.RuneError {
		return utf8.AppendRune(b, r), 12
	}
	return utf8.AppendRune(b, utf8.RuneError), 6
}
