package config

// Glob reports whether s fits pattern. A * stands for any text, the empty one included;
// every other character for itself. The whole of s must fit, and case counts.
func Glob(pattern, s string) bool {
	p, i := 0, 0
	star, resume := -1, 0 // the last * seen, and where its text ends so far
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			resume++
			p, i = star+1, resume
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
