package entities

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Options change what the HTML parser knows.
type Options struct {
	// NoTime makes it refuse the tag tg-time, as servers older than Bot API 9.5 do.
	NoTime bool
}

// ParseHTML reads text in the HTML parse mode. Entities come in Telegram's order. An
// error is a [*ParseError] with Telegram's text, without the "can't parse entities: "
// before it; offsets in it count bytes.
func ParseHTML(source string, options Options) (text string, list []Entity, err error) {
	if strings.ContainsRune(source, 0) {
		return "", nil, refuse("Text must not contain null bytes")
	}
	p := parser{source: source, options: options}
	if err := p.run(); err != nil {
		return "", nil, err
	}
	if p.surrogate {
		return "", nil, refuse("Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units")
	}
	for i := range p.list {
		if p.list[i].Type == Code {
			p.list[i].Language = ""
		}
	}
	sortEntities(p.list)
	return p.text.String(), p.list, nil
}

// A ParseError is a refusal in Telegram's words.
type ParseError struct{ Text string }

// Error implements error.
func (e *ParseError) Error() string { return e.Text }

func refuse(format string, args ...any) error {
	return &ParseError{Text: fmt.Sprintf(format, args...)}
}

// A parser walks once through the source.
type parser struct {
	source    string
	options   Options
	pos       int // bytes of the source that are read
	text      strings.Builder
	units     int // UTF-16 code units of text
	open      []openTag
	list      []Entity
	surrogate bool // a numeric reference named half of a surrogate pair
}

// An openTag is a start tag whose end tag has not come.
type openTag struct {
	name     string
	argument string // href, emoji-id, format, language, or "1" for expandable
	unix     int64  // of tg-time
	offset   int    // UTF-16 code units
	begin    int    // bytes of text
}

func (p *parser) run() error {
	for p.pos < len(p.source) {
		var err error
		switch c := p.source[p.pos]; {
		case c == '&':
			p.reference()
		case c != '<':
			p.copyRune()
		case p.pos+1 < len(p.source) && p.source[p.pos+1] == '/':
			err = p.endTag()
		default:
			err = p.startTag()
		}
		if err != nil {
			return err
		}
	}
	if n := len(p.open); n > 0 {
		return refuse(`Can't find end tag corresponding to start tag "%s"`, p.open[n-1].name)
	}
	return nil
}

func (p *parser) copyRune() {
	r, size := utf8.DecodeRuneInString(p.source[p.pos:])
	p.text.WriteString(p.source[p.pos : p.pos+size])
	p.units += unitsOf(r)
	p.pos += size
}

func (p *parser) reference() {
	r, size := decodeReference(p.source[p.pos:])
	if size == 0 {
		p.copyRune()
		return
	}
	if 0xd800 <= r && r <= 0xdfff {
		p.surrogate = true
	}
	p.text.WriteRune(r)
	p.units += unitsOf(r)
	p.pos += size
}

// decodeReference reads a character reference at the beginning of s. It knows numbers
// and the names lt, gt, amp and quot; the semicolon may be missing. Size 0 means that
// there is none, and the ampersand stands for itself.
func decodeReference(s string) (r rune, size int) {
	end := 1
	if strings.HasPrefix(s, "&#") {
		base := 10
		digits := "0123456789"
		end = 2
		if strings.HasPrefix(s, "&#x") {
			base, digits, end = 16, "0123456789abcdefABCDEF", 3
		}
		start := end
		for end < len(s) && strings.IndexByte(digits, s[end]) >= 0 {
			end++
		}
		n, err := strconv.ParseUint(s[start:end], base, 32)
		if err != nil || n == 0 || n >= 0x10ffff || end >= 10 {
			return 0, 0
		}
		r = rune(n)
	} else {
		for end < len(s) && isLetter(s[end]) {
			end++
		}
		switch s[1:end] {
		case "lt":
			r = '<'
		case "gt":
			r = '>'
		case "amp":
			r = '&'
		case "quot":
			r = '"'
		default:
			return 0, 0
		}
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	return r, end
}

// at returns the byte at the position, or 0 behind the end.
func (p *parser) at() byte {
	if p.pos < len(p.source) {
		return p.source[p.pos]
	}
	return 0
}

// until reads up to a byte of stops, white space or the end.
func (p *parser) until(stops string) string {
	start := p.pos
	for p.pos < len(p.source) && !isSpace(p.source[p.pos]) && strings.IndexByte(stops, p.source[p.pos]) < 0 {
		p.pos++
	}
	return p.source[start:p.pos]
}

func (p *parser) skipSpace() {
	for p.pos < len(p.source) && isSpace(p.source[p.pos]) {
		p.pos++
	}
}

func (p *parser) endTag() error {
	begin := p.pos
	if len(p.open) == 0 {
		return refuse("Unexpected end tag at byte offset %d", begin)
	}
	p.pos += len("</")
	name := strings.ToLower(p.until(">"))
	p.skipSpace()
	if p.at() != '>' {
		return refuse("Unclosed end tag at byte offset %d", begin)
	}
	p.pos++
	tag := p.open[len(p.open)-1]
	if name != "" && name != tag.name {
		return refuse(`Unmatched end tag at byte offset %d, expected "</%s>", found "</%s>"`, begin, tag.name, name)
	}
	p.open = p.open[:len(p.open)-1]
	if p.units == tag.offset {
		return nil // nothing between the tags
	}
	return p.close(tag)
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
