package config_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/config"
)

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, s string
		want       bool
	}{
		{"iris*", "iris", true},
		{"iris*", "iris-mail", true},
		{"iris*", "my-iris", false},
		{"trash_*", "trash_emails", true},
		{"trash_*", "Trash_emails", false},
		{"*", "", true},
		{"*", "anything", true},
		{"", "", true},
		{"", "x", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"*_email", "send_email", true},
		{"*_email", "send_emails", false},
		{"**", "x", true},
		{"a?c", "abc", false},
		{"[ab]", "a", false},
		{"\u00e9*", "e\u0301cole", false}, // nothing is normalised
		{"\u00e9*", "\u00e9cole", true},
	}
	for _, tt := range tests {
		if got := config.Glob(tt.pattern, tt.s); got != tt.want {
			t.Errorf("Glob(%q, %q) = %v, want %v", tt.pattern, tt.s, got, tt.want)
		}
	}
}

func TestGlobAgreesWithRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*.]{0,8}`).Draw(t, "pattern")
		s := rapid.StringMatching(`[ab.]{0,10}`).Draw(t, "s")
		same := regexp.MustCompile(`^` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `$`)
		if got, want := config.Glob(pattern, s), same.MatchString(s); got != want {
			t.Fatalf("Glob(%q, %q) = %v, want %v", pattern, s, got, want)
		}
	})
}

// Here a matcher that backtracks over every star would never come back.
func TestGlobManyStars(t *testing.T) {
	if config.Glob(strings.Repeat("*a", 64)+"b", strings.Repeat("a", 4096)) {
		t.Error("a text without b fits")
	}
}
