package cards

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// beginsWith reports whether what s looks like begins with one of the words, case,
// marks, gaps and lookalikes aside: "REJECT it", "Re-ject", "(N)o" and "Cance1" do.
func beginsWith(s string, ours []string) bool {
	for _, r := range readings() {
		looks := make([]string, len(ours))
		longest := 0
		for i, word := range ours {
			looks[i] = r.looks(word)
			longest = max(longest, len(looks[i]))
		}
		starts := startsOf(r.tokens(s), 4*longest)
		if slices.ContainsFunc(looks, func(word string) bool { return begins(starts, word) }) {
			return true
		}
	}
	return slices.ContainsFunc(ours, func(word string) bool { // a word may be an emoji
		return strings.HasPrefix(strings.TrimSpace(s), word)
	})
}

// A start is the first few tokens, written together.
type start struct {
	looks string // folded
	size  int    // in bytes, before that
}

// startsOf are the starts up to the first that is longer than most, in bytes.
func startsOf(tokens []string, most int) []start {
	starts := make([]start, len(tokens))
	together := ""
	for i, token := range tokens {
		together += token
		starts[i] = start{fold(together), len(together)}
		if len(together) > most {
			return starts[:i+1]
		}
	}
	return starts
}

// begins reports whether one of the starts is the word. Where a script puts no gaps
// between words, it need only begin with it.
func begins(starts []start, word string) bool {
	if word == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(word)
	gapless := unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	for _, s := range starts {
		if s.looks == word || gapless && strings.HasPrefix(s.looks, word) {
			return true
		}
		if s.size > 4*len(word) {
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

func readings() [4]reading {
	return [4]reading{{}, {digits: true}, {symbols: true}, {digits: true, symbols: true}}
}

// looks is a word of ours as it looks, written together.
func (r reading) looks(word string) string {
	if looks, ok := ownLooks()[r][word]; ok {
		return looks
	}
	return fold(strings.Join(r.tokens(word), ""))
}

// ownLooks are the words that are always ours as they look, by reading.
var ownLooks = sync.OnceValue(func() map[reading]map[string]string {
	all := map[reading]map[string]string{}
	for _, r := range readings() {
		all[r] = map[string]string{}
		for _, word := range ownWords {
			all[r][word] = fold(strings.Join(r.tokens(word), ""))
		}
	}
	return all
})

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
