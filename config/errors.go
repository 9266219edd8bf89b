package config

import "strings"

// Problem is one mistake in a configuration.
type Problem struct {
	Where string // file:line:column, a variable, or empty for a configuration built in code
	Key   string // e.g. people[1].id; empty where the file as a whole is meant
	Text  string // what is wrong, and what would be right; never a secret
}

// String returns the problem on one line.
func (p Problem) String() string {
	var b strings.Builder
	for _, part := range []string{p.Where, p.Key} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	b.WriteString(p.Text)
	return b.String()
}

// Error holds every mistake that was found, in the order of the file as far as they
// were found while it was read. There is always at least one.
type Error struct {
	Problems []Problem
}

// Error returns one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
