package cards

import (
	"strconv"
	"strings"
	"time"
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
	html     strings.Builder
	plain    strings.Builder
	entities int
	bare     bool // only plain is wanted
}

// A piece is something other than plain words of ours within a sentence, in an
// element of Telegram's HTML where it has one. Only the functions of this file and
// those that combine them make it.
type piece struct{ open, text, end string }

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
	s := t.plain.String()
	before, after := beside(p.text, s == "" || s[len(s)-1] == '\n', last)
	t.write(before)
	if p.open != "" && p.text != "" { // an empty run is dropped by Telegram, and would count
		t.tag(p.open)
		t.write(p.text)
		t.tag(p.end)
		t.entities++
	} else {
		t.write(p.text)
	}
	t.write(after)
}

// tag opens or ends an element of Telegram's HTML.
func (t *text) tag(s string) {
	if !t.bare {
		t.html.WriteString(s)
	}
}

// lines writes n lines, at least one, into a monospace block of their own. write writes
// the line i, counted from 0, without its break.
func (t *text) lines(n int, write func(i int)) {
	t.line("")
	t.tag(blockOpen)
	for i := range n {
		if i > 0 {
			t.write("\n")
		}
		write(i)
	}
	t.tag(blockEnd)
	t.entities++
}

// write adds s as it is, escaped for Telegram's parser.
func (t *text) write(s string) {
	t.plain.WriteString(s)
	if t.bare {
		return
	}
	done := 0
	for i := range len(s) {
		var entity string
		switch s[i] {
		case '<':
			entity = "&lt;"
		case '>':
			entity = "&gt;"
		case '&':
			entity = "&amp;"
		default:
			continue
		}
		t.html.WriteString(s[done:i])
		t.html.WriteString(entity)
		done = i + 1
	}
	t.html.WriteString(s[done:])
}

// code is a monospace run within a line.
func code(s shown) piece { return piece{"<code>", string(s), "</code>"} }

// block is a monospace block of its own.
func block(s shown) piece { return piece{blockOpen, string(s), blockEnd} }

const (
	blockOpen = "<pre>"
	blockEnd  = "</pre>"
)

// bold is a bold run in which nothing is linked.
func bold(s shown) piece { return piece{"<b>", unlinked(string(s)), "</b>"} }

// plain is text in which nothing is linked.
func plain(s shown) piece { return piece{text: unlinked(string(s))} }

// number is a count.
func number(n int) piece { return piece{text: strconv.Itoa(n)} }

// own is words of ours, chosen at run time.
func own(w words) piece { return piece{text: string(w)} }

// link leads to one of our cards. An address that is not Telegram's is left out.
func link(address string, w words) piece {
	if !strings.HasPrefix(address, "https://t.me/") || strings.ContainsAny(address, "\"<>& \n") {
		return own(w)
	}
	return piece{`<a href="` + address + `">`, string(w), "</a>"}
}

// Formats of Telegram's date and time runs.
const (
	relative = "r"  // in 58 minutes; ticks by itself
	moment   = "dt" // short date and time
)

// when is a moment, shown in the reader's own zone where Telegram can.
func (s Settings) when(at time.Time, format string) piece {
	p := piece{text: at.In(s.location()).Format("2 Jan 2006 15:04 MST")}
	if s.TimeTag {
		var space [64]byte
		open := strconv.AppendInt(append(space[:0], `<tg-time unix="`...), at.Unix(), 10)
		open = append(append(append(open, `" format="`...), format...), `">`...)
		p.open = string(open)
		p.end = "</tg-time>"
	}
	return p
}

// message ends the text.
func (t *text) message(keyboard [][]Button) Message {
	s := t.plain.String()
	return Message{HTML: t.html.String(), Plain: s, Units: units(s), Entities: t.entities, Keyboard: keyboard}
}

// units counts s as Telegram counts offsets: in UTF-16 units.
func units(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			n, i = n+1, i+1
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if n++; r > 0xffff {
			n++
		}
		i += size
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
		b.WriteString(before)
		b.WriteString(left)
		b.WriteString(p)
		b.WriteString(right)
		s = after
	}
	b.WriteString(s)
	return b.String()
}
