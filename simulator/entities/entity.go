// Package entities turns formatted text into plain text and entities, as Telegram
// does, and finds the entities that Telegram adds by itself.
//
// An entity marks a stretch of the plain text. Offsets and lengths count UTF-16 code
// units, as everywhere in the Bot API. [ParseHTML] reads the HTML parse mode and fails
// with Telegram's own words; [Fix] cleans text and entities as the server does before
// it stores them; [Autolink] finds URLs, mentions, hashtags, cashtags, commands,
// addresses, phone and card numbers in the text that is left.
//
// Everything here is a pure function of its arguments.
package entities

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// An Entity is one MessageEntity of the Bot API.
type Entity struct {
	Type           string   `json:"type"`
	Offset         int      `json:"offset"` // UTF-16 code units
	Length         int      `json:"length"` // UTF-16 code units
	URL            string   `json:"url,omitempty"`
	User           *Mention `json:"user,omitempty"`
	Language       string   `json:"language,omitempty"`
	CustomEmojiID  string   `json:"custom_emoji_id,omitempty"`
	UnixTime       int64    `json:"unix_time,omitempty"`
	DateTimeFormat string   `json:"date_time_format,omitempty"`
}

// A Mention is the user of a text_mention. The parser knows only the ID.
type Mention struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	Username  string `json:"username,omitempty"`
}

// End is the offset behind the entity.
func (e Entity) End() int { return e.Offset + e.Length }

// Types of entities that this package makes or treats in a special way.
const (
	Bold          = "bold"
	Italic        = "italic"
	Underline     = "underline"
	Strikethrough = "strikethrough"
	Spoiler       = "spoiler"
	Code          = "code"
	Pre           = "pre"
	TextLink      = "text_link"
	TextMention   = "text_mention"
	CustomEmoji   = "custom_emoji"
	Blockquote    = "blockquote"
	Expandable    = "expandable_blockquote"
	DateTime      = "date_time"
)

// UTF16Len counts the UTF-16 code units of a text. A byte that is no UTF-8 counts as
// one, since it is shown as U+FFFD.
func UTF16Len(text string) int {
	n := 0
	for _, r := range text {
		n += unitsOf(r)
	}
	return n
}

func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// Slice returns the part of the text that the entity covers. Offsets beyond the text
// are cut.
func Slice(text string, e Entity) string {
	return text[byteAt(text, e.Offset):byteAt(text, e.End())]
}

// byteAt converts an offset in UTF-16 code units into one in bytes. An offset in the
// middle of a character is moved behind it.
func byteAt(text string, offset int) int {
	units := 0
	for i, r := range text {
		if units >= offset {
			return i
		}
		units += unitsOf(r)
	}
	return len(text)
}

// positions gives the UTF-16 offset of each byte position at which a character begins.
func positions(text string) []int {
	at := make([]int, len(text)+1)
	units := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		for range size {
			at[i] = units
			i++
		}
		units += unitsOf(r)
	}
	at[len(text)] = units
	return at
}

// sortEntities puts entities into Telegram's order: by offset, the longer first, then
// by how deep the type usually stands.
func sortEntities(list []Entity) {
	slices.SortStableFunc(list, func(a, b Entity) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length),
			cmp.Compare(depth(a.Type), depth(b.Type)))
	})
}

func depth(typ string) int {
	switch typ {
	case Blockquote, Expandable:
		return 0
	case Pre:
		return 10
	case Code:
		return 20
	case TextLink, TextMention:
		return 49
	case Bold:
		return 90
	case Italic:
		return 91
	case Underline:
		return 92
	case Strikethrough:
		return 93
	case Spoiler:
		return 94
	case CustomEmoji:
		return 99
	}
	return 50
}
