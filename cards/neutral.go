package cards

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Caps of what may stand unmarked.
const (
	maxMarks  = 4 // combining marks on one character
	maxSpaces = 8 // spaces in a row
)

// Neutral gives the visible form of text that is not ours. The result has no
// line break and no character that cannot be seen:
//
//   - control, bidi, zero-width and other invisible characters, spaces other
//     than U+0020, private, unassigned and invalid ones read \n, \u200b or
//     \u{e0041}, as do the few that Telegram drops silently;
//   - a run of one of them stands once with its count: \u200b×12;
//   - joiners stay inside an emoji and between letters of scripts that need
//     them; the emoji selector stays after an emoji;
//   - combining marks beyond four on one character, or on none, are marked, and
//     so is a run of more than eight spaces.
//
// All else stays as it is; nothing is normalised.
func Neutral(s string) string {
	if unmarked(s) {
		return s
	}
	var b strings.Builder
	for p := range pieces(s, counted) {
		b.WriteString(p)
	}
	return b.String()
}

// unmarked reports whether s certainly has nothing to mark.
func unmarked(s string) bool {
	spaces := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case ' ' < c && c < 0x7f:
			spaces = 0
		case c == ' ':
			if spaces++; spaces > maxSpaces {
				return false
			}
		case c < utf8.RuneSelf:
			return false
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !everyday(r) {
				return false
			}
			spaces = 0
			i += size - 1
		}
	}
	return true
}

// everyday reports whether c is one of the characters that most text is made of, can
// be seen wherever it stands, and joins nothing. It says no when in doubt.
func everyday(c rune) bool {
	switch {
	case c < 0x7f:
		return c >= ' '
	case c < 0x370:
		return 0xa1 <= c && c <= 0x2ff && c != 0xad // Latin
	case c < 0x530:
		return 0x391 <= c && c <= 0x3a1 || 0x3a3 <= c && c <= 0x482 || 0x48a <= c // Greek, Cyrillic
	case c < 0x2000:
		return 0x5d0 <= c && c <= 0x5ea || 0x620 <= c && c <= 0x64a || 0x10d0 <= c && c <= 0x10ff || 0x1e00 <= c && c <= 0x1eff
	case c < 0x3000:
		return 0x2010 <= c && c <= 0x2027 || 0x20a0 <= c && c <= 0x20bf || 0x2190 <= c && c <= 0x23ff || 0x2500 <= c && c <= 0x27bf
	case c < 0xac00:
		return 0x3001 <= c && c <= 0x3029 || 0x3041 <= c && c <= 0x3096 || 0x30a0 <= c && c <= 0x30ff || 0x4e00 <= c && c <= 0x9fff
	}
	return c <= 0xd7a3 || 0xff01 <= c && c <= 0xff9f || 0x1f300 <= c && c <= 0x1f64f || 0x1f680 <= c && c <= 0x1f6c5 || 0x1f900 <= c && c <= 0x1f9ff
}

// A marking is how n times the same character is made visible.
type marking func(c rune, n int) string

// pieces yields the visible form of s in parts that may not be cut apart: a
// character with its marks and joined characters, or one marking, for which
// isMark is true.
func pieces(s string, mark marking) iter.Seq2[string, bool] {
	return func(yield func(out string, isMark bool) bool) {
		r := []rune(strings.ToValidUTF8(s, "\ufffe")) // a noncharacter, so it is marked
		for i := 0; i < len(r); {
			n, out, isMark := nextPiece(r, i, mark)
			if !yield(out, isMark) {
				return
			}
			i += n
		}
	}
}

// nextPiece reads the piece that begins at r[i]: how many runes, and what they show as.
func nextPiece(r []rune, i int, mark marking) (n int, out string, isMark bool) {
	switch {
	case hidden(r[i]), combining(r[i]): // a combining mark here has nothing to stand on
		n = run(r, i)
		return n, mark(r[i], n), true
	case r[i] == ' ' && streak(r, i) > maxSpaces:
		n = run(r, i)
		return n, mark(' ', n), true
	case r[i] == ' ':
		return 1, " ", false
	}
	n = cluster(r[i:])
	return n, string(r[i : i+n]), false
}

// cluster counts the runes that are drawn as one with r[0]: its combining
// marks, and what joiners tie to it.
func cluster(r []rune) int {
	marks := 0
	for i := 1; i < len(r); i++ {
		switch {
		case joins(r, i), r[i-1] == zwj, r[i-1] == zwnj:
			marks = 0
		case combining(r[i]) && !hidden(r[i]) && marks < maxMarks:
			marks++
		case isSkinTone(r[i]) && isEmoji(r[i-1]):
		default:
			return i
		}
	}
	return len(r)
}

// streak counts how often r[i] stands from i on.
func streak(r []rune, i int) int {
	n := 1
	for i+n < len(r) && r[i+n] == r[i] {
		n++
	}
	return n
}

// run is how much of a streak one marking stands for: all of it, but before a
// digit not the last, since the digit would seem to belong to the count.
func run(r []rune, i int) int {
	n := streak(r, i)
	if n > 1 && unicode.IsNumber(at(r, i+n)) {
		n--
	}
	return n
}

// counted marks c, with its count if it stood more than once.
func counted(c rune, n int) string {
	if n == 1 {
		return marked(c)
	}
	return marked(c) + "×" + strconv.Itoa(n)
}

// marked is the visible form of one character.
func marked(c rune) string {
	switch {
	case c == '\n':
		return `\n`
	case c == '\r':
		return `\r`
	case c == '\t':
		return `\t`
	case c > 0xffff:
		return fmt.Sprintf(`\u{%x}`, c)
	}
	return fmt.Sprintf(`\u%04x`, c)
}

// hidden reports whether c cannot be seen, or not be trusted to look like
// itself, wherever it stands.
func hidden(c rune) bool {
	switch {
	case everyday(c):
		return false
	case c < 0x7f:
		return true
	case c == utf8.RuneError:
		return false // visible, and what a decoder puts for what it could not read
	case c == 0x030a, c == 0x0333, c == 0x033f: // Telegram drops these
		return true
	case c == 0x2800, c == 0xfffc, c == 0x16fe4, c == 0x1d159: // drawn as nothing
		return true
	case unicode.Is(unicode.Variation_Selector, c), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c):
		return true
	}
	return !unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

// combining reports whether c is a mark that is drawn on the character before it.
func combining(c rune) bool { return !everyday(c) && unicode.Is(unicode.M, c) }
