package cards

import (
	"maps"
	"slices"
	"strconv"

	"countersign/approval"
)

// Bounds of what is told of the lines that failed.
const (
	maxDetail  = 80 // UTF-16 units
	maxDetails = 3
	maxFailed  = 8 // numbers
)

// report writes what the runtime said became of it.
func (f *face) report(t *text) {
	r := f.row.Report
	if r == nil {
		return
	}
	switch r.Outcome {
	case approval.Executed:
		t.line(wordDone)
	case approval.Failed:
		t.line(wordFailed)
	case approval.Partial:
		t.line(wordPartly)
	case approval.Undone:
		t.line(wordUndone)
	}
	fate := f.fates()
	if n := len(f.lines()); len(fate) > 0 {
		t.put(wordResults, number(len(fate)-len(failures(fate))), number(n))
		if len(fate) < n {
			t.put(wordUntold, number(n-len(fate)))
		}
	}
	if r.Message != "" {
		t.put(wordMessage, code(short(f.s.hide(r.Message), maxMessage)))
	}
}

// details writes what the report says of single lines.
func (f *face) details(t *text, v View) {
	if f.row.Report == nil {
		return
	}
	f.failed(t, v, f.fates())
	if n := f.stray(); n > 0 {
		t.line(wordStray, number(n))
	}
}

// failed writes which lines failed, where that is not on the page, and why those
// on the page did.
func (f *face) failed(t *text, v View, fate map[int]approval.Result) {
	lines := failures(fate)
	p := f.page(v.Page)
	elsewhere := slices.ContainsFunc(lines, func(n int) bool { return n <= p.first || n > p.last })
	if elsewhere {
		t.line(wordFailedLines, own(words(numbers(lines, maxFailed))))
	}
	told := 0
	for _, n := range lines {
		if detail := fate[n].Detail; detail != "" && p.first < n && n <= p.last && told < maxDetails {
			told++
			t.line(wordDetail, number(n), code(short(f.s.hide(detail), maxDetail)))
		}
	}
}

// fates says of each line that was reported what became of it; the last word on a
// line counts. It is empty where all was undone.
func (f *face) fates() map[int]approval.Result {
	if f.row.Report == nil || f.row.State == approval.Undone {
		return nil
	}
	fate := make(map[int]approval.Result, len(f.row.Report.Results))
	for _, r := range f.row.Report.Results {
		if f.hasLine(r.Line) {
			fate[r.Line] = r
		}
	}
	return fate
}

// stray counts results of lines that the card does not have.
func (f *face) stray() int {
	n := 0
	for _, r := range f.row.Report.Results {
		if !f.hasLine(r.Line) {
			n++
		}
	}
	return n
}

func (f *face) hasLine(n int) bool { return 1 <= n && n <= len(f.lines()) }

// failures are the lines that failed, in order.
func failures(fate map[int]approval.Result) []int {
	lines := slices.Sorted(maps.Keys(fate))
	return slices.DeleteFunc(lines, func(n int) bool { return fate[n].OK })
}

// numbers writes numbers, at most limit of them.
func numbers(list []int, limit int) string {
	s := ""
	for i, n := range list {
		if i == limit {
			return s + fill(wordMoreLines, strconv.Itoa(len(list)-limit))
		}
		if i > 0 {
			s += ", "
		}
		s += strconv.Itoa(n)
	}
	return s
}
