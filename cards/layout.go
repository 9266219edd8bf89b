package cards

import (
	"cmp"

	"countersign/approval"
)

// A layout is how the lines of a row are parted into pages, and how much room
// they and its exact call take. It is a function of the request and of whether
// secrets are masked, so it is the same in every state.
type layout struct {
	pages  []span
	cut    []bool  // by line: it is not shown in full; nil where all are
	limit  int     // of a line, in UTF-16 units
	widest int     // room that the lines of the fullest page take
	masked int     // secrets masked in the lines
	exact  int     // room that the exact call takes
	hidden string  // code of the first character in the lines that cannot be seen, or ""
	asSent bool    // every line is shown as it was sent
	single [1]span // pages, where there is but one
}

// A span is the lines of one page: from first up to but not last, 0-based.
type span struct{ first, last int }

// layout lays the lines out, or remembers how they were laid out before.
func (f *face) layout() *layout {
	if f.laid == nil {
		f.laid = f.s.Layouts.of(f)
	}
	return f.laid
}

// lay measures every line.
func (f *face) lay() *layout {
	room := min(roomForPage, f.room())
	l := &layout{asSent: true, limit: min(maxLine, room-60), exact: exactUnits(f.calls(), f.s.Redact)}
	l.pages = l.single[:]
	used := 0
	for i := range f.lines() {
		it := f.item(i, l.limit)
		if it.cut {
			if l.cut == nil {
				l.cut = make([]bool, len(f.lines()))
			}
			l.cut[i] = true
		}
		l.masked += it.masked
		l.asSent = l.asSent && it.asSent
		l.hidden = cmp.Or(l.hidden, it.hidden)
		// Number, line break, and a mark once there is a report.
		need := digits(i+1) + len(". ") + units(string(it.text)) + 1 + len("✓ ")
		page := &l.pages[len(l.pages)-1]
		if n := i - page.first; n > 0 && (used+need > room || n == maxOnPage) {
			l.pages = append(l.pages, span{first: i})
			page, used = &l.pages[len(l.pages)-1], 0
		}
		page.last = i + 1
		used += need
		l.widest = max(l.widest, used)
	}
	return l
}

// room is what lines and exact call may take on a card.
func (f *face) room() int {
	if f.left == 0 {
		t := &text{bare: true}
		t.plain.Grow(len(f.asked) + len(f.why) + roomForUndo)
		f.writeUndo(t, true)
		f.writeQuotes(t)
		f.left = maxUnits - roomAround - units(unlinked(string(f.title))) - units(t.plain.String())
	}
	return f.left
}

// Pages counts the pages of row, at least 1. Line k stands on exactly one.
func Pages(row *approval.Row, s Settings) int { return len(newFace(row, s).layout().pages) }

// PageLines gives the lines on a page, first to last counted from 1, and how
// many of them stand there in full: cut ones do not count. A row without lines
// has first 1 and last 0. A page beyond the last is the last.
func PageLines(row *approval.Row, page int, s Settings) (first, last, full int) {
	f := newFace(row, s)
	p := f.page(page)
	return p.first + 1, p.last, f.full(p)
}

// full counts the lines of p that are not cut.
func (f *face) full(p span) int {
	n := p.last - p.first
	if f.layout().cut == nil {
		return n
	}
	for _, cut := range f.layout().cut[p.first:p.last] {
		if cut {
			n--
		}
	}
	return n
}

func (f *face) page(n int) span { return f.layout().pages[f.index(n)] }

func (f *face) index(n int) int { return min(max(n, 0), len(f.layout().pages)-1) }

// digits is how many digits n is written with, n > 0.
func digits(n int) int {
	d := 0
	for ; n > 0; n /= 10 {
		d++
	}
	return d
}
