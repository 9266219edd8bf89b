package cards

import "strings"

// hiddenCode is the code of the first character of s that cannot be seen and that a
// person would want to know of, "" if there is none. Line breaks, tabs and spaces
// are everyday text, however they are shown.
func hiddenCode(s string) string {
	if plainASCII(s) {
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
		found = f.layout().hiddenExact
	}
	for _, s := range f.texts(v) {
		if found == "" && hiddenCode(s) != "" { // masking takes longer than looking
			found = hiddenCode(f.s.hide(s))
		}
	}
	if found != "" {
		t.line(wordHidden, code(shown(found)))
	}
}

// texts are what the row's cards show besides the lines and the exact call.
func (f *face) texts(v View) []string {
	var all []string
	if r := f.row.Request; r != nil && f.sealed {
		c := r.Card
		all = append(all, c.Title, c.Action, c.UndoTool, c.Request, c.Summary, r.Runtime)
	}
	if !v.over() || !f.sealed {
		return all
	}
	if a := f.row.Answer; a != nil {
		all = append(all, a.Reason)
	}
	if r := f.row.Report; r != nil {
		all = append(all, r.Message)
		for _, res := range r.Results {
			all = append(all, res.Detail)
		}
	}
	return all
}
