package cards

import "strings"

// hiddenCode is the code of the first character of s that cannot be seen and that a
// person would want to know of, "" if there is none. Line breaks, tabs and spaces
// are everyday text, however they are shown.
func hiddenCode(s string) string {
	if unmarked(s) {
		return ""
	}
	code := ""
	note := func(c rune, _ int) string {
		if code == "" && !strings.ContainsRune("\n\r\t ", c) {
			code = marked(c)
		}
		return ""
	}
	for range pieces(s, note) {
		if code != "" {
			break
		}
	}
	return code
}

// careful warns where a character of the row's text had to be shown as a code.
// The line is ours and stands outside of every run, where no text of a runtime can.
// It looks at all pages, so that a card says the same on each.
func (f *face) careful(t *text, v View) {
	found := f.layout().hidden
	if found == "" && f.showsExact(v) {
		found = f.exact().hidden
	}
	f.texts(v, func(s string) {
		if found == "" && hiddenCode(s) != "" { // masking takes longer than looking
			found = hiddenCode(f.s.hide(s))
		}
	})
	if found != "" {
		t.line(wordHidden, code(shown(found)))
	}
}

// texts goes through what the row's cards show besides the lines and the exact call.
func (f *face) texts(v View, look func(string)) {
	if r := f.row.Request; r != nil && f.sealed {
		c := r.Card
		look(c.Title)
		look(c.Action)
		look(c.UndoTool)
		look(c.Request)
		look(c.Summary)
		look(r.Runtime)
	}
	if !v.over() || !f.sealed {
		return
	}
	if a := f.row.Answer; a != nil {
		look(a.Reason)
	}
	if r := f.row.Report; r != nil {
		look(r.Message)
		for _, res := range r.Results {
			look(res.Detail)
		}
	}
}
