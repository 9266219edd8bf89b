package cards

import "golang.org/x/text/unicode/bidi"

// leftToRight stands between a text that is read from right to left and words of
// ours, so that these keep their order: without it, digits after a Hebrew name
// would be drawn before it. It is never within the text.
const leftToRight = "\u200e"

// beside says what to put before and after a text within a sentence of ours, which
// begins with it if first, and ends with it if last.
func beside(s string, first, last bool) (before, after string) {
	if last || !readFromRight(s) {
		return "", ""
	}
	if first {
		before = leftToRight
	}
	return before, leftToRight
}

// readFromRight reports whether s has a letter that is read from right to left.
func readFromRight(s string) bool {
	for _, c := range s {
		if c < 0x590 {
			continue
		}
		if p, _ := bidi.LookupRune(c); p.Class() == bidi.R || p.Class() == bidi.AL || p.Class() == bidi.AN {
			return true
		}
	}
	return false
}
