package cards

import (
	"slices"
	"time"

	"countersign/approval"
)

// Seen counts how many item lines of row stand in full on the pages that a
// person has had shown; all: the whole list was sent to them as a file.
func Seen(row *approval.Row, pages []int, all bool, s Settings) approval.Shown {
	if row == nil || row.Request == nil {
		return approval.Shown{}
	}
	of := len(row.Request.Card.Lines)
	if all {
		return approval.Shown{Lines: of, Of: of}
	}
	pages = slices.Clone(pages)
	slices.Sort(pages)
	lines := 0
	for _, p := range slices.Compact(pages) {
		_, _, full := PageLines(row, p, s)
		lines += full
	}
	return approval.Shown{Lines: min(lines, of), Of: of}
}

// Late says that the deadline of row has passed, also where no sweep has taken
// note of it yet.
func Late(row *approval.Row, now time.Time, s Settings) string {
	return toast(toastLapsed, clockTime(row.ExpiresAt, now, s))
}
