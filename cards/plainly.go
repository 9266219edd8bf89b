package cards

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plainlyWritten reports whether s reads the same to everybody, so that comparing
// its letters with our words says what a person would see. There are tens of
// thousands of ways to draw a Latin word without its letters; instead of listing
// them this takes only what everyday writing needs:
//
//   - at least one letter, and nothing that has to be marked;
//   - scripts of everyday languages, one to a word;
//   - Latin letters of the alphabet, with accents that have a letter of their own,
//     and the few more that European languages write;
//   - no character that stands for another (wide, bold, in circles, superscript);
//   - no symbol, and no unusual punctuation, right beside a letter.
func plainlyWritten(s string) bool {
	if !unmarked(s) {
		for _, isMark := range pieces(s, counted) {
			if isMark {
				return false
			}
		}
	}
	letters := false
	var before rune
	var writing *unicode.RangeTable // of the word that before belongs to
	for _, c := range norm.NFC.String(s) {
		switch {
		case standsForAnother(c):
			return false
		case unicode.IsLetter(c):
			letters = true
			if isOdd(before) {
				return false
			}
			script := scriptOf(c)
			if script == nil || writing != nil && script != writing || script == unicode.Latin && !isLatin(c) {
				return false
			}
			writing = script
		case combining(c):
			// With these scripts a mark makes no other letter of a letter.
			if writing == unicode.Latin || writing == unicode.Greek || writing == unicode.Cyrillic {
				return false
			}
		case isOdd(c) && (unicode.IsLetter(before) || combining(before)):
			return false
		case !joiner(c):
			writing = nil
		}
		before = c
	}
	return letters
}

// standsForAnother reports whether Unicode takes c for a form of other characters.
func standsForAnother(c rune) bool {
	if c < utf8.RuneSelf {
		return false
	}
	s := string(c)
	return c != '…' && !norm.NFKD.IsNormalString(s) && norm.NFKD.String(s) != norm.NFD.String(s)
}

func joiner(c rune) bool { return c == zwj || c == zwnj }

// isOdd reports whether c beside a letter might be taken for another one.
func isOdd(c rune) bool {
	switch {
	case c < utf8.RuneSelf:
		return strings.ContainsRune("$+<=>^`|~", c)
	case unicode.Is(unicode.S, c):
		return true
	case unicode.In(c, unicode.Nd, unicode.Nl, unicode.No):
		return true
	}
	return unicode.In(c, unicode.P) && !strings.ContainsRune("“”„‘’‚«»‹›…–—‐·¿、，：；！？（）「」『』【】،؛؟۔।॥־׳״", c)
}

// isLatin reports whether c is a letter of the Latin alphabet that people know.
func isLatin(c rune) bool {
	if c < utf8.RuneSelf {
		return true
	}
	base := []rune(norm.NFD.String(string(c)))[0]
	return base < utf8.RuneSelf || strings.ContainsRune("ßæœøđðþłıŋħŧəẞÆŒØĐÐÞŁŊĦŦƏ", base)
}

// scriptOf is the script of a letter, nil where it is none of everyday languages;
// those are the ones that Unicode recommends for identifiers (UAX #31, table 5).
// In the others, Cherokee or Lisu say, whole words look Latin.
func scriptOf(c rune) *unicode.RangeTable {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return unicode.Latin
	case unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo), c == 'ー':
		return unicode.Han // written mixed
	case c == 'ـ':
		return unicode.Arabic
	}
	for _, script := range []*unicode.RangeTable{
		unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Hebrew, unicode.Arabic, unicode.Thaana,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar,
		unicode.Georgian, unicode.Hangul, unicode.Ethiopic, unicode.Khmer,
	} {
		if unicode.Is(script, c) {
			return script
		}
	}
	return nil
}
