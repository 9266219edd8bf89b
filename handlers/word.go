package handlers

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// confirmWord confirms what an approve word opened.
const confirmWord = "yes"

// An utterance is what a message's text says.
type utterance struct {
	says   saying
	reason string // text after a reject word

	command string // without its slash, lower case; "" where the text is none
	bot     string // the bot that a command is for, without @; "" where it names none
	ref     string // a command's reference, upper case
	rest    string // what follows command and reference
	after   string // all that follows the command
}

// understand reads a message. Only whole-message words count; whatever else a
// message says, it decides nothing. The words are lower case.
func understand(text string, approving, rejecting []string) utterance {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "/") {
		return command(text)
	}
	switch word := bare(text); {
	case word == confirmWord:
		return utterance{says: yes}
	case slices.Contains(approving, word):
		return utterance{says: approve}
	case slices.Contains(rejecting, word):
		return utterance{says: reject}
	}
	if first, rest := cutSpace(text); rest != "" && slices.Contains(rejecting, strings.ToLower(first)) {
		return utterance{says: reject, reason: rest}
	}
	return utterance{}
}

// bare is a message as a word: any case, one final . or ! ignored.
func bare(text string) string {
	if n := len(text); n > 0 && (text[n-1] == '.' || text[n-1] == '!') {
		text = text[:n-1]
	}
	return strings.ToLower(text)
}

// command reads /name[@bot] [ref [rest]].
func command(text string) utterance {
	var u utterance
	name, rest := cutSpace(text[1:])
	name, u.bot, _ = strings.Cut(name, "@")
	u.command, u.rest, u.after = strings.ToLower(name), rest, rest
	if ref, more := cutSpace(rest); isRef(ref) {
		u.ref, u.rest = strings.ToUpper(strings.TrimPrefix(ref, "#")), more
	}
	switch {
	// Words after the reference would be a condition that nobody keeps.
	case u.command == "approve" && u.rest == "":
		u.says = approve
	case u.command == "reject" && (u.ref != "" || u.rest == ""):
		u.says, u.reason = reject, u.rest
	}
	return u
}

// refLength is the length of a short reference.
const refLength = 5

// isRef reports whether a word has the form of a reference.
func isRef(s string) bool {
	s = strings.TrimPrefix(s, "#")
	return len(s) == refLength && !strings.ContainsFunc(s, func(c rune) bool {
		return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
}

// meantAsRef reports whether a word that is no reference known here may have been
// meant as one: it is marked as one, or has the length of one and a digit.
func meantAsRef(s string) bool {
	return strings.HasPrefix(s, "#") || utf8.RuneCountInString(s) == refLength && strings.ContainsFunc(s, unicode.IsDigit)
}

// cutSpace splits a text at its first white space.
func cutSpace(s string) (first, rest string) {
	i := strings.IndexFunc(s, unicode.IsSpace)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}
