package cards

import (
	"strconv"

	"countersign/approval"
)

// Room, in UTF-16 units.
const (
	maxUnits    = 4096
	roomAround  = 1350 // for badge, small line, confirm step, outcome and report at their longest
	roomForPage = 2200 // lines on a page, so that a card stays readable
	maxOnPage   = 25   // lines on a page: two screens of a phone
	roomForUndo = 160  // how it can be undone, at its usual length
	roomUsual   = 480  // everything on a usual card but what the runtime sent
	roomMarkup  = 240  // its markup

	maxTitle   = 400
	maxLine    = 1500
	maxRequest = 500
	maxSummary = 500
	maxTool    = 64
	maxName    = 48
	maxRuntime = 64
)

// A face is what of a row its cards show whatever their state. It depends on the
// row and the settings alone.
type face struct {
	row    *approval.Row
	s      Settings
	title  shown
	asked  string // the request, secrets masked
	why    string // the summary, secrets masked
	masked int    // secrets masked in title, request and summary
	sealed bool   // the row's own text may be shown
	left   int    // room that the rest leaves to lines and exact call; 0 before it is known
	laid   *layout
	call   *exactCall // rendered; nil before it is wanted
}

// newFace reads what row shows.
func newFace(row *approval.Row, s Settings) *face {
	f := &face{row: row, s: s, sealed: sealHolds(row)}
	if row.Request == nil || !f.sealed {
		f.title = short(row.ID, maxTitle)
		f.laid = &layout{pages: []span{{}}}
		return f
	}
	c := row.Request.Card
	f.title = short(f.secretFree(c.Title), maxTitle)
	f.asked, f.why = f.secretFree(c.Request), f.secretFree(c.Summary)
	return f
}

// sealHolds reports whether the row's own text may be shown.
func sealHolds(row *approval.Row) bool {
	return row.Seal.Good() && !row.RefusedBySeal()
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

// lines are the row's own lines, as far as they may be shown.
func (f *face) lines() []string {
	if f.row.Request == nil || !f.sealed {
		return nil
	}
	return f.row.Request.Card.Lines
}

// calls are the row's pinned calls, as far as they may be shown.
func (f *face) calls() []approval.Call {
	if f.row.Request == nil || !f.sealed {
		return nil
	}
	return f.row.Request.Calls
}

// An item is one line of the list as its page shows it behind its number.
type item struct {
	text   shown
	cut    bool
	masked int    // secrets
	hidden string // code of the first character in the whole line that cannot be seen, or ""
	asSent bool   // text is the line as it was sent
}

// item is line i, counted from 0, clipped to at most limit characters.
func (f *face) item(i, limit int) item {
	line, masked := f.lines()[i], 0
	if f.s.Redact {
		line, masked = maskSecrets(line)
	}
	if len(line) <= limit && unmarked(line) {
		return item{text: shown(line), masked: masked, asSent: masked == 0}
	}
	out, left := clip(line, limit)
	if left > 0 {
		out += shown(fill(wordCutLine, strconv.Itoa(left)))
	}
	return item{text: out, cut: left > 0, masked: masked, hidden: hiddenCode(line)}
}
