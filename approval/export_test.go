package approval

// IsJSON reports what the grammar alone says of a text.
func IsJSON(data []byte) bool { return checkGrammar(data) == nil }

// CheckJSON returns the path and the rule that a text breaks.
func CheckJSON(data []byte, depth int) (path, rule string, broken bool) {
	if _, f := readJSON(data, depth); f != nil {
		return f.path, f.rule, f.broken
	}
	return "", "", false
}

// Unescape returns the text of what stood between quotes.
func Unescape(raw []byte) []byte { return unescape(raw) }
