package cards

import "strings"

// show is the visible form of s, whole.
func show(s string) shown { return shown(Neutral(s)) }

// clip is the visible form of s, at most limit characters of it. left counts
// the characters that are not shown.
func clip(s string, limit int) (out shown, left int) {
	if len(s) <= limit && unmarked(s) {
		return shown(s), 0
	}
	var b strings.Builder
	used, full := 0, false
	for p := range pieces(s, counted) {
		n := units(p)
		if full = full || used+n > limit; full {
			left += n
			continue
		}
		b.WriteString(p)
		used += n
	}
	return shown(b.String()), left
}

// short is the visible form of s, cut to limit characters with an ellipsis.
func short(s string, limit int) shown {
	out, left := clip(s, limit)
	if left == 0 {
		return out
	}
	out, _ = clip(s, limit-1)
	return shown(strings.TrimRight(string(out), " ")) + "…"
}

// cut is s, which can be seen, cut to limit characters with an ellipsis.
func cut(s string, limit int) string {
	if units(s) <= limit {
		return s
	}
	r := []rune(s)
	for units(string(r)) >= limit {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}
