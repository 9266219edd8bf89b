package handlers

import (
	"slices"
	"strings"
	"unicode"
)

// What a whole message can say.
type saying int

// The sayings. nothing decides nothing.
const (
	nothing saying = iota
	approve
	reject
	yes
)

// An utterance is what a message's text says.
type utterance struct {
	saying saying
	reason string // text after a reject word
	// A command without its slash, "" where the text is none; ref is its
	// reference in upper case, rest what follows it.
	command string
	ref     string
	rest    string
}

// understand reads a message. Only whole-message words count; whatever else a
// message says, it decides nothing. other reports that the text is a command
// to another bot.
func understand(text, username string, p Present) (u utterance, other bool) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "/") {
		return command(text, username)
	}
	switch word := bare(text); {
	case word == "yes":
		u.saying = yes
	case slices.Contains(p.Approve, word):
		u.saying = approve
	case slices.Contains(p.Reject, word):
		u.saying = reject
	default:
		first, rest := cutSpace(text)
		if slices.Contains(p.Reject, strings.ToLower(first)) && rest != "" {
			u.saying, u.reason = reject, rest
		}
	}
	return u, false
}

// bare is a message as a word: any case, one final . or ! ignored.
func bare(text string) string {
	if n := len(text); n > 0 && (text[n-1] == '.' || text[n-1] == '!') {
		text = text[:n-1]
	}
	return strings.ToLower(text)
}

// command reads /name[@bot] [ref [rest]].
func command(text, username string) (u utterance, other bool) {
	name, rest := cutSpace(text[1:])
	name, at, addressed := strings.Cut(name, "@")
	if addressed && !strings.EqualFold(at, username) {
		return utterance{}, true
	}
	u.command = strings.ToLower(name)
	if ref, more := cutSpace(rest); isRef(ref) {
		u.ref, u.rest = strings.ToUpper(strings.TrimPrefix(ref, "#")), more
	} else {
		u.rest = rest
	}
	switch u.command {
	case "approve":
		// Words after the reference would be a condition that nobody keeps.
		if u.rest == "" {
			u.saying = approve
		}
	case "reject":
		if u.ref != "" || u.rest == "" {
			u.saying, u.reason = reject, u.rest
		}
	}
	return u, false
}

// refLength is the length of a short reference.
const refLength = 5

// isRef reports whether a word has the form of a reference.
func isRef(s string) bool {
	s = strings.TrimPrefix(s, "#")
	if len(s) != refLength {
		return false
	}
	for _, c := range s {
		if c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return true
}

// cutSpace splits a text at its first white space.
func cutSpace(s string) (first, rest string) {
	i := strings.IndexFunc(s, unicode.IsSpace)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}
