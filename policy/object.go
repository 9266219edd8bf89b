package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode"
	"unicode/utf8"
)

// A member is one name of an object and its value, without space around it.
type member struct {
	name  string
	value json.RawMessage
}

// readObject reads a JSON object, in order. It reports false for anything else,
// and for an object that names a key twice: two readers could then read two
// things.
func readObject(raw json.RawMessage) ([]member, bool) {
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, false
	}
	var members []member
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		if err != nil || !ok || seen[name] {
			return nil, false
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		members = append(members, member{name, bytes.TrimSpace(value)})
	}
	return members, true
}

// hasControl reports whether any text within a JSON value, names included, holds a
// control character. What cannot be read counts as one.
func hasControl(raw json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return !errors.Is(err, io.EOF)
		}
		if text, ok := token.(string); ok && controlled(text) {
			return true
		}
	}
}

func controlled(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) {
			return true
		}
	}
	return false
}
