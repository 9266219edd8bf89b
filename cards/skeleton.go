package cards

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// beginsWith reports whether what s looks like begins with one of the words, case,
// marks, gaps and lookalikes aside: "REJECT it", "Re-ject", "(N)o" and "Cance1" do.
func beginsWith(s string, ours []string) bool {
	for _, r := range []reading{{}, {digits: true}, {symbols: true}, {digits: true, symbols: true}} {
		text := r.tokens(s)
		for _, word := range ours {
			if begins(text, fold(strings.Join(r.tokens(word), ""))) {
				return true
			}
		}
	}
	return slices.ContainsFunc(ours, func(word string) bool { // a word may be an emoji
		return strings.HasPrefix(strings.TrimSpace(s), word)
	})
}

// begins reports whether the first tokens, written together, are the word. Where a
// script puts no gaps between words, they need only begin with it.
func begins(tokens []string, word string) bool {
	if word == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(word)
	gapless := unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	together := ""
	for _, token := range tokens {
		together += token
		if fold(together) == word || gapless && strings.HasPrefix(fold(together), word) {
			return true
		}
		if len(together) > 4*len(word) {
			break
		}
	}
	return false
}

// fold takes letters that together are drawn like one for that one.
func fold(s string) string {
	s = strings.ReplaceAll(s, "cl", "d")
	s = strings.ReplaceAll(s, "rn", "m")
	return strings.ReplaceAll(s, "vv", "w")
}

// A reading says what is taken for the letter that it is drawn like: digits,
// symbols and punctuation; else they are gaps. "Cance1" and "Yes1", "Cance|" and
// "|Reject" are caught by one or another.
type reading struct{ digits, symbols bool }

// tokens are the words of s as they look: compatibility forms taken apart, marks
// and invisible characters dropped, lookalikes and case folded.
func (r reading) tokens(s string) []string {
	var b strings.Builder
	for _, c := range norm.NFKD.String(s) {
		switch {
		case unicode.In(c, unicode.M) || hidden(c) && !unicode.IsSpace(c):
			continue
		case unicode.In(c, unicode.L, unicode.So):
			c = drawnLike(c)
		case unicode.In(c, unicode.N) && r.digits, unicode.In(c, unicode.P, unicode.S) && r.symbols:
			c = drawnLike(c)
		case unicode.In(c, unicode.N):
			c = ' '
		}
		if !unicode.In(c, unicode.L, unicode.N) {
			c = ' '
		}
		b.WriteRune(c)
	}
	return strings.Fields(b.String())
}

func drawnLike(c rune) rune { return lookalike(unicode.ToLower(lookalike(c))) }
