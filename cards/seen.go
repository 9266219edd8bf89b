package cards

import (
	"slices"

	"countersign/approval"
)

// Seen counts the item lines of row that a person has had shown in full: those
// on the pages that were shown to them, cut ones aside, or with all, when the
// whole list was sent to them, every one.
func Seen(row *approval.Row, pages []int, all bool, s Settings) approval.Shown {
	if row == nil || row.Request == nil {
		return approval.Shown{}
	}
	of := len(row.Request.Card.Lines)
	if all {
		return approval.Shown{Lines: of, Of: of}
	}
	f := newFace(row, s)
	seen := make([]int, len(pages))
	for i, p := range pages {
		seen[i] = f.index(p)
	}
	slices.Sort(seen)
	lines := 0
	for _, p := range slices.Compact(seen) {
		lines += f.full(f.page(p))
	}
	return approval.Shown{Lines: lines, Of: of}
}
