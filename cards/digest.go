package cards

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Hash is a short digest of everything that is sent. Two messages with the same
// hash look the same.
func (m Message) Hash() string {
	var space [2048]byte
	sum := sha256.Sum256(m.appendSent(space[:0]))
	return hex.EncodeToString(sum[:12])
}

// appendSent appends the JSON of [m.HTML, m.Keyboard], as encoding/json writes it.
func (m Message) appendSent(b []byte) []byte {
	b = appendJSON(append(b, '['), m.HTML)
	b = append(b, ',')
	if m.Keyboard == nil {
		return append(b, "null]"...)
	}
	b = append(b, '[')
	for i, row := range m.Keyboard {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for j, button := range row {
			if j > 0 {
				b = append(b, ',')
			}
			b = appendJSON(append(b, `{"Text":`...), button.Text)
			b = appendJSON(append(b, `,"Data":`...), button.Data)
			b = appendJSON(append(b, `,"Style":`...), button.Style)
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	return append(b, "]]"...)
}

// appendJSON appends s as a JSON string, as encoding/json writes it.
func appendJSON(b []byte, s string) []byte {
	start := len(b)
	b = append(b, '"')
	done := 0
	for i := range len(s) {
		var escape string
		switch c := s[i]; {
		case c == '<':
			escape = `\u003c`
		case c == '>':
			escape = `\u003e`
		case c == '&':
			escape = `\u0026`
		case c == '\n':
			escape = `\n`
		case c == '"':
			escape = `\"`
		case c == '\\':
			escape = `\\`
		case c < ' ', c == 0xe2 && (strings.HasPrefix(s[i:], "\u2028") || strings.HasPrefix(s[i:], "\u2029")):
			return appendOddJSON(b[:start], s)
		default:
			continue
		}
		b = append(append(b, s[done:i]...), escape...)
		done = i + 1
	}
	if !utf8.ValidString(s) {
		return appendOddJSON(b[:start], s)
	}
	return append(append(b, s[done:]...), '"')
}

// appendOddJSON is appendJSON for any text.
func appendOddJSON(b []byte, s string) []byte {
	odd, err := json.Marshal(s)
	if err != nil {
		panic(err) // unreachable: a string
	}
	return append(b, odd...)
}
