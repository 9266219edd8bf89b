package entities

import (
	"slices"
	"strings"
	"unicode"
)

// MaxEntities is how many entities of one message Telegram keeps.
const MaxEntities = 100

// Fix cleans text and entities as the server does before it keeps them.
//
// Control characters, the tab among them, become spaces; carriage returns, the line
// and paragraph separators with the directional marks next to them (U+2028 to U+202E)
// and three combining lines (U+030A, U+0333, U+033F) vanish. White space at both ends
// is cut, at the beginning only before the first entity. Then entities are put in
// order: what covers no visible text is dropped, equal neighbours are joined, of two
// that may not overlap the later one goes, and nothing is formatted inside code.
func Fix(text string, list []Entity) (string, []Entity) {
	text, list = clean(text, list)
	list = dropBlank(text, list)
	text, list = trim(text, list)
	list = dropBlank(text, list)
	sortEntities(list)
	return text, untangle(list)
}

// dropBlank drops entities that show nothing. White space in code is shown.
func dropBlank(text string, list []Entity) []Entity {
	return slices.DeleteFunc(list, func(e Entity) bool {
		return e.Length <= 0 || !isCode(e.Type) && strings.Trim(Slice(text, e), " \n") == ""
	})
}

func clean(text string, list []Entity) (string, []Entity) {
	var out strings.Builder
	moved := make([]int, 0, len(text)+1) // new offset by old offset
	units := 0
	for _, r := range text {
		for range unitsOf(r) {
			moved = append(moved, units)
		}
		switch {
		case r == '\r', 0x2028 <= r && r <= 0x202e, r == 0x30a, r == 0x333, r == 0x33f:
			continue
		case r < ' ' && r != '\n':
			r = ' '
		}
		out.WriteRune(r)
		units += unitsOf(r)
	}
	moved = append(moved, units)
	move := func(offset int) int { return moved[min(max(offset, 0), len(moved)-1)] }

	cleaned := slices.Clone(list)
	for i, e := range cleaned {
		start := move(e.Offset)
		cleaned[i].Offset, cleaned[i].Length = start, move(e.End())-start
	}
	return out.String(), cleaned
}

func trim(text string, list []Entity) (string, []Entity) {
	text = strings.TrimRight(text, " \n")
	limit := UTF16Len(text)
	first := limit
	for i, e := range list {
		list[i].Length = max(0, min(e.End(), limit)-e.Offset)
		if list[i].Length > 0 {
			first = min(first, e.Offset)
		}
	}
	cut := 0
	for cut < first && (text[cut] == ' ' || text[cut] == '\n') {
		cut++
	}
	for i := range list {
		list[i].Offset -= cut
	}
	return text[cut:], list
}

// untangle settles overlaps in a sorted list.
func untangle(list []Entity) []Entity {
	var kept, code []Entity
	var whole, quote int // ends of the last entity that may not overlap, and of the last quote
	styles := map[string][]Entity{}
	for _, e := range list {
		switch {
		case isStyle(e.Type):
			styles[e.Type] = join(styles[e.Type], e)
			continue
		case e.Type == Blockquote || e.Type == Expandable:
			if e.Offset < quote {
				continue
			}
			quote = e.End()
		case e.Offset < whole:
			continue
		default:
			whole = e.End()
			if isCode(e.Type) {
				code = append(code, e)
			}
		}
		kept = append(kept, e)
	}
	for _, typ := range []string{Bold, Italic, Underline, Strikethrough, Spoiler} {
		for _, e := range styles[typ] {
			kept = append(kept, outside(e, code)...)
		}
	}
	sortEntities(kept)
	return kept
}

// join adds an entity to others of its type, or makes the last one longer.
func join(list []Entity, e Entity) []Entity {
	if n := len(list); n > 0 && e.Offset <= list[n-1].End() {
		list[n-1].Length = max(list[n-1].End(), e.End()) - list[n-1].Offset
		return list
	}
	return append(list, e)
}

// outside gives the parts of an entity that lie outside the holes, which are sorted and
// apart.
func outside(e Entity, holes []Entity) []Entity {
	var parts []Entity
	for _, hole := range holes {
		if hole.End() <= e.Offset || hole.Offset >= e.End() {
			continue
		}
		if hole.Offset > e.Offset {
			part := e
			part.Length = hole.Offset - e.Offset
			parts = append(parts, part)
		}
		end := e.End()
		e.Offset = min(hole.End(), end)
		e.Length = end - e.Offset
	}
	if e.Length > 0 {
		parts = append(parts, e)
	}
	return parts
}

// InBounds reports whether an entity lies within the text and does not cut a character.
func InBounds(text string, e Entity) bool {
	at := positions(text)
	if e.Offset < 0 || e.Length <= 0 || e.End() > at[len(text)] {
		return false
	}
	return slices.Contains(at, e.Offset) && slices.Contains(at, e.End())
}

// IsAutomatic reports whether the server finds entities of this type by itself, so that
// one sent by a bot changes nothing.
func IsAutomatic(typ string) bool {
	switch typ {
	case "url", "mention", "hashtag", "cashtag", "bot_command", "email", "phone_number", "bank_card":
		return true
	}
	return false
}

func isStyle(typ string) bool {
	return typ == Bold || typ == Italic || typ == Underline || typ == Strikethrough || typ == Spoiler
}

func isCode(typ string) bool { return typ == Pre || typ == Code }

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// IsSettable reports whether a bot can ask for entities of this type.
func IsSettable(typ string) bool {
	switch typ {
	case Code, Pre, TextLink, TextMention, CustomEmoji, Blockquote, Expandable, DateTime:
		return true
	}
	return isStyle(typ)
}
