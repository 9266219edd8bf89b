package cards

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"countersign/approval"
)

// maxLabel is how long the text of a button may be, in UTF-16 units.
const maxLabel = 64

// ownWords begin buttons or answers of ours.
var ownWords = []string{
	"yes", "no", "approve", "reject", "deny", "cancel", "undo", "exact call", "whole list", "page",
}

// label is the text of the action button.
func (f *face) label() string {
	if f.halt() {
		return buttonApprove
	}
	action := f.s.hide(f.row.Action())
	if f.soundsLikeUs(action) {
		return string(short(buttonPrefix+action, maxLabel))
	}
	return string(short(action, maxLabel))
}

// yesLabel is the text of the button that confirms.
func (f *face) yesLabel() string {
	if f.halt() {
		return buttonYes + strings.ToLower(buttonApprove)
	}
	action := f.s.hide(f.row.Action())
	if f.soundsLikeUs(action) {
		return string(short(buttonYesOwn+action, maxLabel))
	}
	return string(short(buttonYes+action, maxLabel))
}

func (f *face) halt() bool { return f.row.Request != nil && f.row.Request.Kind == approval.Halt }

// soundsLikeUs reports whether s could be taken for a button of ours: it begins
// with a word of ours, case, marks and lookalikes aside, or has no letter at all.
func (f *face) soundsLikeUs(s string) bool {
	ours := slices.Concat(ownWords, []string{f.s.approveWord(), f.s.rejectWord()}, f.s.ReplyWords)
	for _, symbols := range []bool{false, true} {
		text := skeleton(s, symbols)
		if text == "" || slices.ContainsFunc(ours, func(w string) bool {
			rest, begins := strings.CutPrefix(text, skeleton(w, symbols))
			return begins && (rest == "" || rest[0] == ' ')
		}) {
			return true
		}
	}
	return false
}

// skeleton folds s to what it looks like: compatibility forms taken apart, marks
// and invisible characters dropped, lookalikes and case folded; words of letters
// and digits with one space between them. Symbols are gaps, or if symbols is
// set the letters they are drawn like: "| Reject" and "Cance|" are both caught.
func skeleton(s string, symbols bool) string {
	var b strings.Builder
	gap := false
	for _, c := range norm.NFKD.String(s) {
		if symbols || unicode.In(c, unicode.L, unicode.N, unicode.So) {
			c = lookalike(unicode.ToLower(lookalike(c)))
		}
		switch {
		case unicode.In(c, unicode.L, unicode.N):
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(c)
		case unicode.In(c, unicode.M) || hidden(c) && !unicode.IsSpace(c):
		default:
			gap = true
		}
	}
	return b.String()
}
