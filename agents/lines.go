package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign/approval"
)

// widest is how many characters of a text stand on one line; with its mark a line
// stays within [approval.MaxLine].
const widest = approval.MaxLine - 20

// goesOn marks what continues the line above. No text begins a line without a mark
// of ours, so none can look like another part of the card.
const goesOn = "↪ "

// A sheet is the lines of a card, while they are written.
type sheet struct{ lines []string }

// say adds a line of our own.
func (s *sheet) say(format string, args ...any) { s.put("", fmt.Sprintf(format, args...)) }

// put adds one line, broken where it is too long.
func (s *sheet) put(mark, text string) {
	for utf8.RuneCountInString(text) > widest {
		end := 0
		for range widest {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		s.lines = append(s.lines, mark+text[:end])
		mark, text = goesOn, text[end:]
	}
	s.lines = append(s.lines, mark+text)
}

// text adds a text line by line, the first and the further ones with a mark each.
func (s *sheet) text(first, further, text string) {
	mark := first
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		s.put(mark, line)
		mark = further
	}
}

// rest adds the fields that nothing was said of, in the order of their names.
func (s *sheet) rest(m members) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		raw := m[name]
		if value, ok := m.text(name); ok {
			if strings.Contains(value, "\n") {
				s.say("%s:", plain(name))
				s.text("| ", "| ", value)
			} else {
				s.say("%s: %s", plain(name), told(value, raw))
			}
			continue
		}
		delete(m, name)
		s.say("%s: %s", plain(name), compact(raw))
	}
}

// told is a string as it is, or as JSON where it could be taken for a value of another
// type, for nothing at all, or for a string that is shown as JSON.
func told(text string, raw json.RawMessage) string {
	if strings.TrimSpace(text) == "" || json.Valid([]byte(text)) {
		return compact(raw)
	}
	return text
}

// plain is a field's name, in quotes where it could be taken for something else.
func plain(name string) string {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return quoted(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic("unreachable: a string is JSON: " + err.Error())
	}
	return string(out)
}

// compact is a value as canonical JSON.
func compact(raw json.RawMessage) string {
	out, err := approval.Canonical(raw)
	if err != nil {
		return string(raw) // a number on its own, say
	}
	return string(out)
}

// oneLine reports whether a text can stand in a title.
func oneLine(text string, most int) bool {
	return text != "" && !strings.ContainsAny(text, "\n\r") && utf8.RuneCountInString(text) <= most
}

// shortened is the end of a long path, which tells more than its beginning.
func shortened(path string, most int) string {
	runes := []rune(path)
	if len(runes) <= most {
		return path
	}
	return "…" + string(runes[len(runes)-most+1:])
}
