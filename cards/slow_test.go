package cards

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"countersign/approval"
)

// What is drawn most is drawn with shortcuts. Here is the same without any, for tests to
// compare.

// The quick functions, for the tests of this room.
var (
	Everyday     = everyday
	Hidden       = hidden
	Combining    = combining
	IsOdd        = isOdd
	IsLatin      = isLatin
	ScriptOf     = scriptOf
	StandsFor    = standsForAnother
	Unmarked     = unmarked
	Unlinked     = unlinked
	Linkless     = linkless
	SlowUnlinked = broken
	BeginsWith   = beginsWith
	MaskSecrets  = maskSecrets
	Suspect      = suspect
	NamesSecret  = namesSecret
	ExactUnits   = exactUnits
	Units        = units
)

// SlowPieces is the visible form of s, and whether anything is marked in it.
func SlowPieces(s string) (out string, marks bool) {
	for p, isMark := range pieces(s, counted) {
		out += p
		marks = marks || isMark
	}
	return out, marks
}

func SlowHidden(c rune) bool {
	switch {
	case c == ' ', c == utf8.RuneError:
		return false
	case c == 0x030a, c == 0x0333, c == 0x033f, c == 0x2800, c == 0xfffc, c == 0x16fe4, c == 0x1d159:
		return true
	case unicode.In(c, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return true
	}
	return !unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

func SlowStandsFor(c rune) bool {
	return c != '…' && norm.NFKD.String(string(c)) != norm.NFD.String(string(c))
}

// SlowMaskSecrets tries every pattern on all text.
func SlowMaskSecrets(s string) (string, int) {
	total := 0
	for _, rule := range secretRules {
		keep := ""
		if rule.pattern.NumSubexp() > 0 {
			keep = "${1}"
		}
		total += len(rule.pattern.FindAllStringIndex(s, -1))
		s = rule.pattern.ReplaceAllString(s, keep+mask+rule.after)
	}
	return s, total
}

func SlowNamesSecret(name string) bool { return secretName.MatchString(name) }

// SlowExactUnits measures what is shown.
func SlowExactUnits(calls []approval.Call, redact bool) int {
	e, n := newExact(calls, redact), 0
	for _, c := range e.calls {
		n += len(slowUTF16(string(c))) + 2
	}
	if len(e.calls) > 1 {
		for i := range e.calls {
			n += len(fillNumbers(i+1, len(e.calls)))
		}
	}
	return n
}

// Measured reports whether a call is measured without being rendered.
func Measured(c approval.Call, redact bool) bool {
	_, ok := measure(c, redact)
	return ok
}

func fillNumbers(i, n int) string { return fill(wordCallOf, count(i), count(n)) }

func slowUTF16(s string) []uint16 {
	var all []uint16
	for _, c := range s {
		if all = append(all, 0); c > 0xffff {
			all = append(all, 0)
		}
	}
	return all
}

// Sent is what [Message.Hash] digests.
func (m Message) Sent() string { return string(m.appendSent(nil)) }

// SlowSent is the same, as encoding/json writes it.
func (m Message) SlowSent() string {
	b, err := json.Marshal([]any{m.HTML, m.Keyboard})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// SlowBeginsWith compares every beginning of s with every word.
func SlowBeginsWith(s string, others []string) bool {
	ours := slices.Concat(ownWords, others)
	for _, r := range readings {
		together := ""
		for _, token := range r.slowTokens(s) {
			together += token
			if slices.ContainsFunc(ours, func(word string) bool { return r.slowIs(slowFold(together), word) }) {
				return true
			}
		}
	}
	return slices.ContainsFunc(ours, func(word string) bool { return strings.HasPrefix(strings.TrimSpace(s), word) })
}

func (r reading) slowIs(start, word string) bool {
	word = slowFold(strings.Join(r.slowTokens(word), ""))
	if word == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(word)
	gapless := unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	return start == word || gapless && strings.HasPrefix(start, word)
}

func slowFold(s string) string {
	s = strings.ReplaceAll(s, "cl", "d")
	s = strings.ReplaceAll(s, "rn", "m")
	return strings.ReplaceAll(s, "vv", "w")
}

func (r reading) slowTokens(s string) []string {
	var b strings.Builder
	for _, c := range norm.NFKD.String(s) {
		switch {
		case unicode.In(c, unicode.M) || SlowHidden(c) && !unicode.IsSpace(c):
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
