package cards

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// words is text of ours. `{}` in it stands for a piece.
type words string

// shown is text of a runtime or a person in its visible form. Only the
// functions of shown.go make it.
type shown string

// text builds a message: text and its formatting together. It takes words,
// shown text and times, and is the only place where markup is written.
type text struct {
	settings Settings
	html     strings.Builder
	plain    strings.Builder
	entities int
}

// A piece is something other than plain words of ours within a sentence.
type piece func(*text)

// line begins a new line and puts w on it, each {} replaced by the next piece.
func (t *text) line(w words, pieces ...piece) {
	if t.plain.Len() > 0 {
		t.write("\n")
	}
	t.put(w, pieces...)
}

// gap leaves one line empty before what follows.
func (t *text) gap() { t.write("\n") }

// put adds w, each {} replaced by the next piece.
func (t *text) put(w words, pieces ...piece) {
	rest := string(w)
	for _, p := range pieces {
		before, after, found := strings.Cut(rest, "{}")
		if !found {
			break
		}
		t.write(before)
		t.piece(p, after == "")
		rest = after
	}
	t.write(rest)
}

// piece adds p to a sentence, which ends with it if last.
func (t *text) piece(p piece, last bool) {
	part := &text{settings: t.settings}
	p(part)
	s := t.plain.String()
	before, after := beside(part.plain.String(), s == "" || s[len(s)-1] == '\n', last)
	t.write(before)
	t.html.WriteString(part.html.String())
	t.plain.WriteString(part.plain.String())
	t.entities += part.entities
	t.write(after)
}

// write adds s as it is, escaped for Telegram's parser.
func (t *text) write(s string) {
	t.plain.WriteString(s)
	for i := range len(s) {
		switch s[i] {
		case '<':
			t.html.WriteString("&lt;")
		case '>':
			t.html.WriteString("&gt;")
		case '&':
			t.html.WriteString("&amp;")
		default:
			t.html.WriteByte(s[i])
		}
	}
}

// tag wraps s in an element of Telegram's HTML.
func (t *text) tag(open, s, end string) {
	if s == "" {
		return // an empty run is dropped by Telegram, and would count
	}
	t.html.WriteString(open)
	t.write(s)
	t.html.WriteString(end)
	t.entities++
}

// code is a monospace run within a line.
func code(s shown) piece { return func(t *text) { t.tag("<code>", string(s), "</code>") } }

// block is a monospace block of its own.
func block(s shown) piece { return func(t *text) { t.tag("<pre>", string(s), "</pre>") } }

// bold is a bold run in which nothing is linked.
func bold(s shown) piece { return func(t *text) { t.tag("<b>", unlinked(string(s)), "</b>") } }

// plain is text in which nothing is linked.
func plain(s shown) piece { return func(t *text) { t.write(unlinked(string(s))) } }

// number is a count.
func number(n int) piece { return func(t *text) { t.write(strconv.Itoa(n)) } }

// own is words of ours, chosen at run time.
func own(w words) piece { return func(t *text) { t.write(string(w)) } }

// link leads to one of our cards. An address that is not Telegram's is left out.
func link(address string, w words) piece {
	return func(t *text) {
		if !strings.HasPrefix(address, "https://t.me/") || strings.ContainsAny(address, "\"<>& \n") {
			t.write(string(w))
			return
		}
		t.tag(`<a href="`+address+`">`, string(w), "</a>")
	}
}

// Formats of Telegram's date and time runs.
const (
	relative = "r"  // in 58 minutes; ticks by itself
	moment   = "dt" // short date and time
)

// when is a moment, shown in the reader's own zone where Telegram can.
func when(at time.Time, format string) piece {
	return func(t *text) {
		s := at.In(t.settings.location()).Format("2 Jan 2006 15:04 MST")
		if !t.settings.TimeTag {
			t.write(s)
			return
		}
		t.tag(`<tg-time unix="`+strconv.FormatInt(at.Unix(), 10)+`" format="`+format+`">`, s, "</tg-time>")
	}
}

// message ends the text.
func (t *text) message(keyboard [][]Button) Message {
	s := t.plain.String()
	return Message{HTML: t.html.String(), Plain: s, Units: units(s), Entities: t.entities, Keyboard: keyboard}
}

// units counts s as Telegram counts offsets: in UTF-16 units.
func units(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if utf16.RuneLen(r) == 2 {
			n++
		}
	}
	return n
}

// fill is w with each {} replaced by the next part, for where there is no markup.
func fill(w words, parts ...string) string {
	s := string(w)
	var b strings.Builder
	for _, p := range parts {
		before, after, found := strings.Cut(s, "{}")
		if !found {
			break
		}
		left, right := beside(p, b.Len() == 0 && before == "", after == "")
		b.WriteString(before + left + p + right)
		s = after
	}
	return b.String() + s
}
