package cards

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// beginsWith reports whether what s looks like begins with one of ownWords or of the
// others, case, marks, gaps and lookalikes aside: "REJECT it", "Re-ject", "(N)o" and
// "Cance1" do.
func beginsWith(s string, others []string) bool {
	letters := norm.NFKD.String(s)
	for i := range readings {
		if ownLooks()[i].begin(letters, readings[i].looks(others)) {
			return true
		}
	}
	begins := func(word string) bool { return strings.HasPrefix(strings.TrimSpace(s), word) } // a word may be an emoji
	return slices.ContainsFunc(ownWords, begins) || slices.ContainsFunc(others, begins)
}

// A reading says what is taken for the letter that it is drawn like: digits,
// symbols and punctuation; else they are gaps. "Cance1" and "Yes1", "Cance|" and
// "|Reject" are caught by one or another.
type reading struct{ digits, symbols bool }

var readings = [...]reading{{}, {digits: true}, {symbols: true}, {digits: true, symbols: true}}

// What look makes of characters that are no letters to it.
const (
	gap     = ' '
	dropped = -1
)

// look is c as it looks, c being decomposed: marks and invisible characters dropped,
// lookalikes and case folded, all but letters and numbers gaps.
func (r reading) look(c rune) rune {
	switch {
	case unicode.In(c, unicode.M) || hidden(c) && !unicode.IsSpace(c):
		return dropped
	case unicode.In(c, unicode.L, unicode.So):
		c = drawnLike(c)
	case unicode.In(c, unicode.N) && r.digits, unicode.In(c, unicode.P, unicode.S) && r.symbols:
		c = drawnLike(c)
	case unicode.In(c, unicode.N):
		return gap
	}
	if !unicode.In(c, unicode.L, unicode.N) {
		return gap
	}
	return c
}

func drawnLike(c rune) rune { return lookalike(unicode.ToLower(lookalike(c))) }

// folded adds c to what letters look like together: some two are drawn like one.
func folded(looks []byte, c rune) []byte {
	if n := len(looks) - 1; n >= 0 {
		switch last := looks[n]; {
		case last == 'c' && c == 'l':
			looks[n] = 'd'
			return looks
		case last == 'r' && c == 'n':
			looks[n] = 'm'
			return looks
		case last == 'v' && c == 'v':
			looks[n] = 'w'
			return looks
		}
	}
	return utf8.AppendRune(looks, c)
}

// A look is a word as it looks, written together.
type look struct {
	text    string
	gapless bool // its script puts no gaps between words
}

// looks are words as they look.
func (r reading) looks(words []string) []look {
	var all []look
	for _, word := range words {
		var b []byte
		for _, c := range norm.NFKD.String(word) {
			if c = r.look(c); c != dropped && c != gap {
				b = folded(b, c)
			}
		}
		if len(b) == 0 {
			continue
		}
		last, _ := utf8.DecodeLastRune(b)
		all = append(all, look{
			text:    string(b),
			gapless: unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar),
		})
	}
	return all
}

// A mirror is what a reading needs at hand.
type mirror struct {
	reading
	ascii   [utf8.RuneSelf]rune // what look makes of them
	own     map[string]bool     // what ownWords look like
	longest int                 // of those, in bytes
}

// ownLooks are the mirrors of the readings.
var ownLooks = sync.OnceValue(func() *[len(readings)]mirror {
	var all [len(readings)]mirror
	for i, r := range readings {
		m := &all[i]
		m.reading, m.own = r, map[string]bool{}
		for c := range m.ascii {
			m.ascii[c] = r.look(rune(c))
		}
		for _, l := range r.looks(ownWords) {
			m.own[l.text] = true
			m.longest = max(m.longest, len(l.text))
		}
	}
	return &all
})

// begin reports whether the first few tokens of letters, written together, look like
// one of ownWords or of the others. Folding at most halves letters, so a beginning of
// more than four times the bytes of the longest word is none.
func (m *mirror) begin(letters string, others []look) bool {
	most := m.longest
	for _, l := range others {
		most = max(most, len(l.text))
	}
	most *= 4
	var space [64]byte
	looks, size, token := space[:0], 0, false
	for _, c := range letters {
		if c < utf8.RuneSelf {
			c = m.ascii[c]
		} else {
			c = m.look(c)
		}
		switch {
		case c == dropped:
		case c != gap:
			looks, token = folded(looks, c), true
			size += utf8.RuneLen(c)
		case token:
			if m.is(looks, others) {
				return true
			}
			if size > most {
				return false
			}
			token = false
		}
	}
	return token && m.is(looks, others)
}

// is reports whether a beginning is one of the words. Where a script puts no gaps
// between words, it need only begin with it.
func (m *mirror) is(looks []byte, others []look) bool {
	return m.own[string(looks)] || slices.ContainsFunc(others, func(l look) bool {
		return string(looks) == l.text || l.gapless && strings.HasPrefix(string(looks), l.text)
	})
}
