package cards

import (
	"strings"
	"unicode/utf8"
)

// Searching a text for every kind of secret takes far longer than drawing it, and
// most text holds none. So it is looked through once for the one character that
// stands in every secret of a kind, and for what has to stand beside that.

// tokenTail is the least that the token of a bot has after its colon.
const tokenTail = 30

// A suspicion says of which kinds a text may hold secrets: bit n is that of kind n.
type suspicion uint

// suspect says which kinds s may hold. It never misses one.
func suspect(s string) suspicion {
	var found suspicion
	for i := range len(s) {
		switch s[i] {
		case ':', '=':
			found |= suspectAssigned(s, i)
		case '-':
			switch before := s[:i]; {
			case strings.HasSuffix(before, "PRIVATE KEY"):
				found |= 1 << secretPEM
			case endsWithAny(before, "sk", "glpat", "xapp", "AGE-SECRET-KEY"), i > 0 && strings.HasSuffix(before[:i-1], "xox"):
				found |= 1 << secretPrefixed
			}
		case '_':
			if before := s[:i]; endsWithAny(before, "sk", "rk", "github_pat", "npm", "hf") || i > 0 && strings.HasSuffix(before[:i-1], "gh") {
				found |= 1 << secretPrefixed
			}
		case '.':
			if endsWithAny(s[:i], "ya29", "SG") {
				found |= 1 << secretPrefixed
			}
		case 'A':
			if after := s[i:]; strings.HasPrefix(after, "AKIA") || strings.HasPrefix(after, "ASIA") || strings.HasPrefix(after, "AIza") {
				found |= 1 << secretPrefixed
			}
		case 'J':
			if strings.HasSuffix(s[:i], "ey") {
				found |= 1 << secretPrefixed
			}
		case 'b', 'B':
			if after := s[i:]; len(after) >= len("bearer") && strings.EqualFold(after[:len("bearer")], "bearer") {
				found |= 1 << secretBearer
			}
		}
	}
	return found
}

// suspectAssigned says which kinds may stand around the colon or equals sign s[i].
func suspectAssigned(s string, i int) suspicion {
	var found suspicion
	before, after := s[:i], s[i+1:]
	if s[i] == ':' {
		if strings.HasPrefix(after, "//") && strings.IndexByte(after, '@') >= 0 {
			found |= 1 << secretURL
		}
		if i > 0 && isDigit(rune(before[i-1])) && len(after) >= tokenTail && base64URL(after[:tokenTail]) {
			found |= 1 << secretBotToken
		}
	}
	name := before
	for name != "" && strings.IndexByte("\t\n\f\r ", name[len(name)-1]) >= 0 {
		name = name[:len(name)-1]
	}
	if n := len(name); n > 0 && (name[n-1] == '"' || name[n-1] == '\'') {
		name = name[:n-1]
	}
	if endsTelling(name) {
		found |= 1<<secretAuthorization | 1<<secretCookie | 1<<secretAssigned
	}
	return found
}

// endsTelling reports whether s ends with a word that the name of a secret ends with.
func endsTelling(s string) bool {
	if s == "" {
		return false
	}
	switch s[len(s)-1] {
	case 'd', 'e', 'n', 's', 't', 'y', 'D', 'E', 'N', 'S', 'T', 'Y', 0xbf: // how those end, with ſ or without
	default:
		return false
	}
	for _, word := range tellingWords {
		if endsWithFold(s, word) {
			return true
		}
	}
	return false
}

// tellingWords are those words, and those that a header with a secret is called by.
var tellingWords = [...]string{
	"password", "passwd", "pwd", "passphrase", "secret", "token", "key", "authorization", "cookie", "credential", "credentials",
}

func endsWithAny(s string, ends ...string) bool {
	for _, end := range ends {
		if strings.HasSuffix(s, end) {
			return true
		}
	}
	return false
}

// endsWithFold reports whether s ends with word, which is of small letters, in any
// case. Two letters beyond ASCII are taken for one of it by patterns: ſ and K.
func endsWithFold(s, word string) bool {
	for i := len(word) - 1; i >= 0; i-- {
		c, size := utf8.DecodeLastRuneInString(s)
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == 'ſ':
			c = 's'
		case c == '\u212a':
			c = 'k'
		}
		if c != rune(word[i]) {
			return false
		}
		s = s[:len(s)-size]
	}
	return true
}
