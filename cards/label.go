package cards

import (
	"slices"

	"countersign/approval"
)

// maxLabel is how long the text of a button may be, in UTF-16 units.
const maxLabel = 64

// ownWords begin buttons, answers or outcomes of ours, or say no to them.
var ownWords = []string{
	"yes", "no", "approve", "reject", "deny", "cancel", "undo", "exact call", "whole list", "page", "show",
	"approved", "rejected", "denied", "cancelled", "undone", "lapsed", "withdrawn", "refused",
	"ok", "okay", "confirm", "refuse", "decline", "dismiss", "do not", "dont",
}

// otherWords are the operator's words that are not among ownWords.
func (s Settings) otherWords() []string {
	var others []string
	add := func(word string) {
		if !slices.Contains(ownWords, word) {
			others = append(others, word)
		}
	}
	add(s.approveWord())
	add(s.rejectWord())
	for _, word := range s.ReplyWords {
		add(word)
	}
	return others
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
		return buttonYesHalt
	}
	action := f.s.hide(f.row.Action())
	if f.soundsLikeUs(action) {
		return string(short(buttonYesOwn+action, maxLabel))
	}
	return string(short(buttonYes+action, maxLabel))
}

func (f *face) halt() bool { return f.row.Request != nil && f.row.Request.Kind == approval.Halt }

// soundsLikeUs reports whether s could be taken for a button of ours: it begins
// with a word of ours, case, marks and lookalikes aside, or is written in a way
// that leaves doubt about it. In doubt a prefix costs nothing.
func (f *face) soundsLikeUs(s string) bool {
	return !plainlyWritten(s) || beginsWith(s, f.s.otherWords())
}
