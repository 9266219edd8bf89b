package approval

import (
	"strings"
	"unicode"
)

// nothingDone ends every observation but that of an approval.
const nothingDone = "nothing was changed, sent or deleted"

// Observation says a decision to a model in one plain sentence. The title is
// the card's, or the id where none could be read; reason may be empty. Line
// breaks and other characters that would break the sentence are spaces in it.
func Observation(d Decision, title, reason string) string {
	title = oneLine(title)
	if d == DecisionApproved {
		return "this was approved: " + title
	}
	if reason != "" {
		reason = " (reason: " + oneLine(reason) + ")"
	}
	return opening(d) + title + reason + "; " + nothingDone
}

func opening(d Decision) string {
	switch d {
	case DecisionRejected:
		return "the owner rejected this: "
	case DecisionLapsed:
		return "nobody answered this in time: "
	case DecisionWithdrawn:
		return "this was withdrawn before it was answered: "
	default:
		return "this was refused before the owner could answer: "
	}
}

// oneLine puts a space for each control character, line or paragraph
// separator and bidi control.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s))
}
