package cards

import "unicode"

// Characters that join or select and cannot be seen themselves.
const (
	zwnj = '\u200c'
	zwj  = '\u200d'
	vs15 = '\ufe0e' // draw the character before as text
	vs16 = '\ufe0f' // draw it as an emoji
)

// joins reports whether the invisible r[i] may stand: inside an emoji, or
// between letters of a script that is misspelt without it. i > 0.
func joins(r []rune, i int) bool {
	before := r[i-1]
	switch r[i] {
	case vs15, vs16:
		return isEmoji(before) || isKeycap(before)
	case zwj:
		after := at(r, i+1)
		return emojiBefore(r, i) && isEmoji(after) || shaped(before) && shaped(after)
	case zwnj:
		return shaped(before) && shaped(at(r, i+1))
	}
	return false
}

// at is r[i], or 0 beyond the end.
func at(r []rune, i int) rune {
	if i < len(r) {
		return r[i]
	}
	return 0
}

// emojiBefore reports whether an emoji ends right before r[i], selectors and
// skin tones being part of it.
func emojiBefore(r []rune, i int) bool {
	if i > 1 && r[i-1] == vs16 {
		i--
	}
	return isEmoji(r[i-1])
}

// shaped reports whether c is a letter or mark of a script in which joiners
// change what is read.
func shaped(c rune) bool {
	return unicode.In(c, unicode.L, unicode.M) && !hidden(c) && unicode.In(
		c,
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
		unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
		unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	)
}

func isKeycap(c rune) bool { return c == '#' || c == '*' || '0' <= c && c <= '9' }

func isSkinTone(c rune) bool { return 0x1f3fb <= c && c <= 0x1f3ff }

// isEmoji reports whether c is drawn as a picture, alone or with a selector.
func isEmoji(c rune) bool {
	switch {
	case c < 0x2000:
		return c == 0xa9 || c == 0xae
	case c < 0x3300:
		switch {
		case c == 0x203c, c == 0x2049, c == 0x2122, c == 0x2139, c == 0x3030, c == 0x303d, c == 0x3297, c == 0x3299:
			return true
		case 0x2190 <= c && c <= 0x21ff, 0x2300 <= c && c <= 0x23ff, 0x25a0 <= c && c <= 0x27bf,
			0x2934 <= c && c <= 0x2935, 0x2b00 <= c && c <= 0x2bff:
			return unicode.Is(unicode.S, c)
		}
		return c == 0x24c2
	}
	return 0x1f000 <= c && c <= 0x1faff && unicode.Is(unicode.S, c)
}
