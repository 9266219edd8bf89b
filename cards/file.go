package cards

import (
	"strconv"
	"strings"

	"countersign/approval"
)

// WholeList is the text file that Whole list sends: every line in full, numbered
// as on the card, in its visible form. With redact, what looks like a secret is
// masked, and the file says so.
func WholeList(row *approval.Row, redact bool) (name string, content []byte) {
	f := newFace(row, Settings{Redact: redact})
	var b strings.Builder
	b.WriteString(fill(fileTitle, string(f.title)) + "\n")
	b.WriteString(fill(fileRef, Neutral(row.Ref), Neutral(row.ID)) + "\n")
	var list strings.Builder
	masked := 0
	if row.Request != nil && f.sealed && redact {
		_, masked = maskSecrets(row.Request.Card.Title)
	}
	for i, line := range f.lines() {
		n := 0
		if redact {
			line, n = maskSecrets(line)
		}
		masked += n
		list.WriteString(strconv.Itoa(i+1) + ". " + Neutral(line) + "\n")
	}
	if masked > 0 {
		b.WriteString(fill(fileMasked, strconv.Itoa(masked), Neutral(row.Pin)) + "\n")
	}
	b.WriteString("\n" + list.String())
	return fileName(row, "list"), []byte(b.String())
}

// ExactFile is the text file that a long exact call is sent as: a head of ours,
// an empty line, and the pinned calls as canonical JSON, indented. With redact,
// what looks like a secret is masked, and the file says so.
func ExactFile(row *approval.Row, redact bool) (name string, content []byte) {
	exact := newExact(newFace(row, Settings{}).calls(), redact)
	var b strings.Builder
	b.WriteString(fill(fileRef, Neutral(row.Ref), Neutral(row.ID)) + "\n")
	if exact.masked > 0 {
		b.WriteString(fill(fileMasked, strconv.Itoa(exact.masked), Neutral(row.Pin)) + "\n")
	} else {
		b.WriteString(fill(wordPin, Neutral(row.Pin)) + "\n")
	}
	if len(exact.calls) > 0 {
		b.WriteString("\n" + string(exact.text()) + "\n")
	}
	return fileName(row, "exact-call"), []byte(b.String())
}

// fileName names a file after the approval's short reference.
func fileName(row *approval.Row, what string) string {
	if row.Ref == "" {
		return what + ".txt"
	}
	return row.Ref + "-" + what + ".txt"
}
