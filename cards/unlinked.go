package cards

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordJoiner breaks what Telegram would link, and takes no room.
const wordJoiner = "\u2060"

// maxDigits is how many digits may stand together, spaces and dashes between
// them aside, before they could be a number to call or a bank card.
const maxDigits = 6

// unlinked puts word joiners where Telegram would otherwise see a mention, a
// hashtag, a cashtag, a command, an address or a telephone number.
func unlinked(s string) string {
	if linkless(s) {
		return s
	}
	return broken(s)
}

// broken is unlinked for any text.
func broken(s string) string {
	var b strings.Builder
	r := []rune(s)
	numbers := longNumbers(r)
	for i, c := range r {
		b.WriteRune(c)
		if i+1 < len(r) && (triggers(r, i) || numbers[i]) {
			b.WriteString(wordJoiner)
		}
	}
	return b.String()
}

// linkless reports whether s certainly has nothing to break.
func linkless(s string) bool {
	digits := 0 // of the number that s[i] belongs to
	ascii := true
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			if digits++; digits > maxDigits {
				return false
			}
			continue
		case c == '@', c == '#', c == '/', c == '$', c == '.':
			if i+1 < len(s) && (c == '@' || s[i+1] != ' ') {
				return false
			}
		case c >= utf8.RuneSelf:
			ascii = false
		}
		if !strings.ContainsRune(inNumbers, rune(s[i])) {
			digits = 0
		}
	}
	return ascii || utf8.ValidString(s)
}

// inNumbers may stand between the digits of a number.
const inNumbers = " +-()./"

// triggers reports whether r[i] and what follows begins a link, or joins the
// labels of an address.
func triggers(r []rune, i int) bool {
	next := r[i+1]
	switch r[i] {
	case '@':
		return true
	case '#':
		return next != vs16 && next != ' '
	case '/':
		return next != ' '
	case '$':
		return unicode.IsLetter(next)
	case '.':
		return unicode.In(next, unicode.L, unicode.M, unicode.N, unicode.S)
	}
	return false
}

// longNumbers says after which runes a long number is to be broken: after every
// third digit of it.
func longNumbers(r []rune) []bool {
	breaks := make([]bool, len(r))
	for i := 0; i < len(r); {
		end, digits := i, 0
		for end < len(r) && (isDigit(r[end]) || digits > 0 && strings.ContainsRune(inNumbers, r[end])) {
			if isDigit(r[end]) {
				digits++
			}
			end++
		}
		if digits > maxDigits {
			seen := 0
			for j := i; j < end; j++ {
				if isDigit(r[j]) {
					seen++
					breaks[j] = seen%3 == 0
				}
			}
		}
		i = max(end, i+1)
	}
	return breaks
}

func isDigit(c rune) bool { return '0' <= c && c <= '9' }
