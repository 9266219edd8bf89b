package cards

import (
	"strconv"

	"countersign/approval"
)

// Room, in UTF-16 units.
const (
	maxUnits    = 4096
	roomAround  = 1250 // for badge, small line, confirm step, outcome and report at their longest
	roomForPage = 2200 // lines on a page, so that a card stays readable
	maxOnPage   = 40   // lines on a page

	maxTitle   = 400
	maxLine    = 1500
	maxRequest = 500
	maxSummary = 500
	maxTool    = 64
	maxName    = 48
	maxRuntime = 64
)

// A face is what of a row its cards show whatever their state, and how its
// lines are parted into pages. It depends on the row and the settings alone.
type face struct {
	row    *approval.Row
	s      Settings
	title  shown
	asked  string // the request, secrets masked
	why    string // the summary, secrets masked
	lines  []item
	pages  []span
	widest int // room that the lines of the fullest page take
	exact  exactCall
	terms  int  // room that undo sentence, request and summary take
	masked int  // secrets masked in title, lines, request and summary
	sealed bool // the row's own text may be shown
}

// An item is one line of the list as its page shows it, number included.
type item struct {
	text shown
	cut  bool
}

// A span is the lines of one page: from first up to but not last, 0-based.
type span struct{ first, last int }

// newFace lays row out.
func newFace(row *approval.Row, s Settings) *face {
	f := &face{row: row, s: s, sealed: sealHolds(row), pages: []span{{}}}
	if row.Request == nil || !f.sealed {
		f.title = short(row.ID, maxTitle)
		return f
	}
	c := row.Request.Card
	f.title = short(f.secretFree(c.Title), maxTitle)
	f.asked, f.why = f.secretFree(c.Request), f.secretFree(c.Summary)
	f.exact = newExact(row.Request.Calls, s.Redact)

	t := &text{settings: s}
	f.writeTerms(t)
	f.terms = units(t.plain.String())
	room := min(roomForPage, f.room())
	f.lines = f.items(c.Lines, min(maxLine, room-60))
	f.pages, f.widest = paginate(f.lines, room)
	return f
}

// room is what lines and exact call may take on a card.
func (f *face) room() int {
	return maxUnits - roomAround - units(unlinked(string(f.title))) - f.terms
}

// sealHolds reports whether the row's own text may be shown.
func sealHolds(row *approval.Row) bool {
	if row.Answer == nil || row.State != approval.Refused {
		return true // an owner's own words may begin with anything
	}
	code := approval.ReasonCode(row.Answer.Reason)
	return code != approval.CodeTampered && code != approval.CodeUnsealed
}

// secretFree masks what looks like a secret in s, and counts it.
func (f *face) secretFree(s string) string {
	if !f.s.Redact {
		return s
	}
	out, n := maskSecrets(s)
	f.masked += n
	return out
}

// hide masks what looks like a secret in s.
func (s Settings) hide(text string) string {
	if s.Redact {
		text, _ = maskSecrets(text)
	}
	return text
}

// items numbers and clips lines, each to at most limit characters.
func (f *face) items(lines []string, limit int) []item {
	items := make([]item, len(lines))
	for i, line := range lines {
		out, left := clip(f.secretFree(line), limit)
		if left > 0 {
			out += shown(fill(wordCutLine, strconv.Itoa(left)))
		}
		items[i] = item{text: shown(strconv.Itoa(i+1)) + ". " + out, cut: left > 0}
	}
	return items
}

// paginate parts items into pages that take at most room each. widest is what
// the fullest one takes.
func paginate(items []item, room int) (pages []span, widest int) {
	pages = []span{{}}
	used := 0
	for i, it := range items {
		need := units(string(it.text)) + 1 + len("✓ ") // its line break, and a mark once there is a report
		page := &pages[len(pages)-1]
		if n := i - page.first; n > 0 && (used+need > room || n == maxOnPage) {
			pages = append(pages, span{first: i})
			page, used = &pages[len(pages)-1], 0
		}
		page.last = i + 1
		used += need
		widest = max(widest, used)
	}
	return pages, widest
}

// Pages counts the pages of row, at least 1. Line k stands on exactly one.
func Pages(row *approval.Row, s Settings) int { return len(newFace(row, s).pages) }

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
	n := 0
	for _, it := range f.lines[p.first:p.last] {
		if !it.cut {
			n++
		}
	}
	return n
}

func (f *face) page(n int) span { return f.pages[f.index(n)] }

func (f *face) index(n int) int { return min(max(n, 0), len(f.pages)-1) }
