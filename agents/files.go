package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"countersign/approval"
)

// fileFacts are what every tool can do that writes a file: also lose what stood
// there.
func fileFacts() map[string]bool {
	return map[string]bool{"destructive_capable": true, "mutating": true}
}

// drawEdit draws replacements in a file, one or several.
func drawEdit(input members) (d drawing, ok bool) {
	var edits []members
	single := input["edits"] == nil
	if single {
		edits = []members{{}}
		for _, name := range []string{"old_string", "new_string", "replace_all"} {
			if value := input[name]; value != nil {
				edits[0][name] = value
			}
		}
	} else if edits, ok = objects(input["edits"]); !ok || len(edits) == 0 {
		return d, false
	}
	changes := sheet{}
	for i, edit := range edits {
		if !single {
			changes.say("edit %d of %d", i+1, len(edits))
		}
		if !changes.edit(edit) {
			return d, false
		}
	}
	path, ok := input.text("file_path")
	if !ok {
		return d, false
	}
	if single {
		for _, name := range []string{"old_string", "new_string", "replace_all"} {
			delete(input, name)
		}
	} else {
		delete(input, "edits")
	}
	d = drawing{title: "Edit " + titled(path), action: "Edit the file", effect: approval.Write, facts: fileFacts()}
	d.text("file: ", "| ", path)
	d.lines = append(d.lines, changes.lines...)
	return d, true
}

// edit adds one replacement, and false where it is none.
func (s *sheet) edit(m members) bool {
	before, ok := m.text("old_string")
	after, ok2 := m.text("new_string")
	if !ok || !ok2 {
		return false
	}
	if all, ok := m.flag("replace_all"); ok && all {
		s.say("wherever this stands in the file:")
	}
	s.swap(before, after)
	s.rest(m)
	return true
}

// drawWrite draws a file that is written as a whole, as a diff against the one that
// it would replace.
func drawWrite(c Call, input members, read ReadFile) (d drawing, ok bool) {
	if input["file_path"] == nil || input["content"] == nil {
		return d, false
	}
	path, ok := input.text("file_path")
	if !ok {
		return d, false
	}
	content, ok := input.text("content")
	if !ok {
		input["file_path"] = json.RawMessage(quoted(path))
		return d, false
	}
	d = drawing{title: "Write " + titled(path), action: "Write the file", effect: approval.Destructive, facts: fileFacts()}
	d.text("file: ", "| ", path)
	before, err := existing(c, path, read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.title, d.effect = "Write the new file "+titled(path), approval.Write
		d.say("There is no such file yet.")
		d.text("+", "+", content)
	case err != nil:
		d.say("What may stand there now is not shown: %v.", err)
		d.text("+", "+", content)
	default:
		d.title, d.action = "Overwrite "+titled(path), "Overwrite the file"
		d.diff(string(before), content)
	}
	return d, true
}

// existing reads the text file that a write would replace.
func existing(c Call, path string, read ReadFile) ([]byte, error) {
	if read == nil {
		return nil, errors.New("files are not looked at")
	}
	// An agent may take such a name for another file than the system does: ~ for a
	// home, x/../y for y although x is a link, and no space at either end.
	if strings.HasPrefix(path, "~") || strings.TrimSpace(path) != path || slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..") {
		return nil, errors.New("which file this is depends on how its name is read")
	}
	if !filepath.IsAbs(path) {
		if c.Dir == "" {
			return nil, errors.New("it is not known where the agent works")
		}
		path = filepath.Join(c.Dir, path)
	}
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, errors.New("it cannot be read")
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("it is no text")
	}
	return text, nil
}

// drawCell draws a change to one cell of a notebook.
func drawCell(input members) (d drawing, ok bool) {
	path, ok := input.text("notebook_path")
	if !ok {
		return d, false
	}
	d = drawing{title: "Edit a cell of " + titled(path), action: "Edit the cell", effect: approval.Write, facts: fileFacts()}
	mode, _ := input.text("edit_mode")
	switch mode {
	case "", "replace":
	case "insert":
		d.title, d.action = "Insert a cell into "+titled(path), "Insert the cell"
	case "delete":
		d.title, d.action, d.effect = "Delete a cell of "+titled(path), "Delete the cell", approval.Destructive
	default:
		input["edit_mode"] = json.RawMessage(quoted(mode))
		d.effect = approval.Destructive
	}
	d.text("file: ", "| ", path)
	if source, ok := input.text("new_source"); ok {
		d.text("+", "+", source)
	}
	return d, true
}

// titled is a path as a title holds it.
func titled(path string) string {
	if strings.ContainsAny(path, "\n\r") {
		path = quoted(path)
	}
	return shortened(path, longestTitle)
}

// diff adds the difference between two texts of a file: lines begin with a space, a
// minus or a plus, and those far from any change are left out.
func (s *sheet) diff(before, after string) {
	s.hunks(before, after, func(header string) { s.put("", header) })
}

// swap adds the difference between a passage and what takes its place. Where in the
// file the passage stands is not known, so its lines have no numbers.
func (s *sheet) swap(before, after string) {
	if unended(before) && unended(after) { // a passage may end within a line
		before, after = ended(before), ended(after)
	}
	s.hunks(before, after, func(header string) {
		if !strings.HasPrefix(header, "@@ -1,") && !strings.HasPrefix(header, "@@ -0,") {
			s.say("… lines that stay as they are …")
		}
	})
}

func unended(text string) bool { return !strings.HasSuffix(text, "\n") }

func ended(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}

// hunks adds the parts of two texts that differ, with their surroundings.
func (s *sheet) hunks(before, after string, header func(string)) {
	text := string(diff.Diff("before", []byte(before), "after", []byte(after)))
	if text == "" {
		s.say("Nothing changes.")
		return
	}
	for range 3 { // the names
		_, text, _ = strings.Cut(text, "\n")
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "@@") {
			header(line)
			continue
		}
		mark := line[:min(1, len(line))]
		s.put(mark, line[len(mark):])
	}
}

// objects reads a list of objects, and false where it is something else.
func objects(raw json.RawMessage) ([]members, bool) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, false
	}
	all := make([]members, len(items))
	for i, item := range items {
		object, err := approval.Object(item)
		if err != nil {
			return nil, false
		}
		all[i] = object
	}
	return all, true
}
