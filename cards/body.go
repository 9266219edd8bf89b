package cards

import (
	"strconv"

	"countersign/approval"
)

// badge is the first line of an open card.
func badge(row *approval.Row) words {
	switch {
	case row.Request == nil:
		return badgeDestructive // what cannot be read is taken for the worst
	case row.Request.Kind == approval.Halt:
		return badgeHalt
	case row.Request.Effect == approval.Write:
		return badgeWrite
	}
	return badgeDestructive
}

// body writes lines, terms and, if wanted, the exact call.
func (f *face) body(t *text, v View) {
	if !f.sealed {
		return
	}
	f.writeList(t, v)
	if !v.confirming() { // else the question says so
		f.careful(t, v)
		if f.saysUndo() {
			f.writeUndo(t, !v.Reader && (!v.over() || f.row.State.WasApproved()))
		}
	}
	f.writeQuotes(t)
	exact := f.showsExact(v)
	masked := f.masked + f.layout().masked
	switch {
	case exact:
		masked += f.writeExact(t)
	case f.exactAsFile() && f.passed() == "":
		t.line(wordAsFile)
	}
	if masked > 0 {
		t.line(wordMasked, number(masked))
	}
	if exact || masked > 0 {
		t.line(wordPin, code(show(f.row.Pin)))
	}
}

// showsExact reports whether the exact call stands on the card.
func (f *face) showsExact(v View) bool {
	return v.Exact && !f.exactAsFile() && f.passed() == ""
}

// writeList writes the lines of the view's page, one under the other, each with its
// fate before its number once that was reported, and which they are of how many.
func (f *face) writeList(t *text, v View) {
	if len(f.lines()) == 0 {
		return
	}
	p := f.page(v.Page)
	fate := f.fates()
	var space [16]byte
	t.lines(p.last-p.first, func(i int) {
		i += p.first
		if res, known := fate[i+1]; known {
			if res.OK {
				t.write(markDone)
			} else {
				t.write(markFailed)
			}
		}
		t.write(string(append(strconv.AppendInt(space[:0], int64(i+1), 10), ". "...)))
		if f.layout().asSent {
			t.write(f.lines()[i])
		} else {
			t.write(string(f.item(i, f.layout().limit).text))
		}
	})
	if len(f.layout().pages) > 1 {
		t.line(wordPage, number(p.first+1), number(p.last), number(len(f.lines())),
			number(f.index(v.Page)+1), number(len(f.layout().pages)))
	}
}

// saysUndo reports whether how it can be undone is still worth saying: after a
// report the offer of an undo says it, or there is none.
func (f *face) saysUndo() bool {
	row := f.row
	switch {
	case !reported(row.State) || row.Request == nil:
		return true
	case row.State == approval.Undone:
		return false
	}
	c := row.Request.Card
	return c.UndoTool == "" || c.UndoDays == 0 && row.UndoUntil.IsZero()
}

// writeUndo writes how it can be undone, for how long, and by what: button says that
// a button for it will come.
func (f *face) writeUndo(t *text, button bool) {
	r := f.row.Request
	if r == nil {
		return
	}
	switch tool := f.undoTool(); {
	case r.Card.UndoTool != "" && r.Card.UndoDays > 0:
		t.line(wordUndoDays, days(r.Card.UndoDays))
		if button {
			t.put(wordUndoHere)
		}
		t.put(wordUndoTool, tool)
	case r.Card.UndoTool != "":
		t.line(wordUndo, tool)
	case r.Kind == approval.ToolCall && r.Effect == approval.Destructive:
		t.line(wordNoUndo)
	}
}

func (f *face) undoTool() piece { return code(short(f.row.Request.Card.UndoTool, maxTool)) }

// writeQuotes writes what was asked for, and why it stopped.
func (f *face) writeQuotes(t *text) {
	if f.row.Request == nil {
		return
	}
	quote(t, wordAsked, f.asked, maxRequest)
	quote(t, wordSummary, f.why, maxSummary)
}

// quote writes s within w, at most limit characters of it.
func quote(t *text, w words, s string, limit int) {
	if s == "" {
		return
	}
	out, left := clip(s, limit)
	if left > 0 {
		out += " …"
	}
	t.line(w, code(out))
	if left > 0 {
		t.put(wordCut, number(left))
	}
}

// small writes the small line: which approval, how risky, who asks, until when.
func (f *face) small(t *text, v View) {
	t.gap()
	t.line("")
	if f.row.Ref != "" { // a refused request may have none
		t.put(wordSmall, ref(f.row))
	}
	if f.row.Tier != "" && f.sealed {
		t.put(wordRisk, plain(short(f.row.Tier, maxName)))
	}
	if f.row.Request != nil && f.row.Request.Runtime != "" && f.sealed {
		t.put(wordFrom, code(short(f.row.Request.Runtime, maxRuntime)))
	}
	if v.Astray {
		t.line(wordAstray)
	}
	if v.over() {
		return
	}
	deadline := wordDeadline
	if !f.s.TimeTag {
		deadline = wordLapsesOn
	}
	t.line(deadline, f.s.when(f.row.ExpiresAt, relative))
	if v.decidable() && !v.confirming() { // else the question says so
		t.line(wordHowTo, plain(show(f.s.approveWord())), plain(show(f.s.rejectWord())),
			code(show("/approve "+f.row.Ref)))
	}
}

func days(n int) piece {
	if n == 1 {
		return own(wordOneDay)
	}
	return own(words(fill(wordDays, strconv.Itoa(n))))
}
