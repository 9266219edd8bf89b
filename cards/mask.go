package cards

import (
	"regexp"
	"strings"
)

// A secretRule finds one kind of secret. What the pattern's group holds stands before
// it, and stays.
type secretRule struct {
	pattern *regexp.Regexp
	after   string // the end of the match that stays
}

// The kinds of secrets, in the order in which they are looked for.
const (
	secretPEM = iota
	secretURL
	secretAuthorization
	secretBearer
	secretCookie
	secretPrefixed // known by how they begin
	secretBotToken
	secretAssigned // to a name that tells
)

// secretRules find them. Values that begin with [ are left alone: they are masked
// already.
var secretRules = [...]secretRule{
	secretPEM: {
		pattern: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`),
	},
	secretURL: {
		pattern: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@]*:)[^\s/?#\[][^\s/?#]*@`),
		after:   "@",
	},
	secretAuthorization: {
		pattern: regexp.MustCompile(`(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|apikey|negotiate)\s+)?)[^\s"',;\[]{4,}`),
	},
	secretBearer: {
		pattern: regexp.MustCompile(`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{12,}`),
	},
	secretCookie: {
		pattern: regexp.MustCompile(`(?i)(\b(?:set-)?cookie["']?\s*:\s*["']?)[^\s"'\[][^\r\n"']{3,}`),
	},
	secretPrefixed: {
		pattern: regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{8,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}` +
			`|glpat-[A-Za-z0-9_-]{16,}|xox[a-z]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{6,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}` +
			`|ya29\.[A-Za-z0-9_-]{10,}|npm_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|SG\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}` +
			`|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|AGE-SECRET-KEY-1[A-Z0-9]{20,})`),
	},
	secretBotToken: {
		pattern: regexp.MustCompile(`\b[0-9]{6,12}:[A-Za-z0-9_-]{30,}`),
	},
	secretAssigned: {
		pattern: regexp.MustCompile(`(?i)((?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key)` +
			`["']?\s*[:=]\s*["']?)[^\s"',;&\[][^\s"',;&]{3,}`),
	},
}

// secretName fits names of members whose value is a secret whatever it looks like.
var secretName = regexp.MustCompile(`(?i)(?:^|[a-z0-9_.-])(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|authorization|credentials?)$` +
	`|^(?:pwd|token|cookie|set-cookie)$|(?:access|auth|refresh|id|api|bot|bearer|session)[_-]?token$`)

// maskSecrets puts a mask where something looks like a secret, and counts how often.
func maskSecrets(s string) (string, int) {
	found := suspect(s)
	if found == 0 {
		return s, 0
	}
	total := 0
	for i := range secretRules {
		if found&(1<<i) == 0 {
			continue
		}
		var n int
		s, n = secretRules[i].mask(s)
		total += n
	}
	return s, total
}

// mask puts a mask where s has a secret of the kind, and counts how often.
func (r secretRule) mask(s string) (string, int) {
	matches := r.pattern.FindAllStringSubmatchIndex(s, -1)
	if len(matches) == 0 {
		return s, 0
	}
	var b strings.Builder
	done := 0
	for _, at := range matches {
		b.WriteString(s[done:at[0]])
		if len(at) > 2 {
			b.WriteString(s[at[2]:at[3]])
		}
		b.WriteString(mask)
		b.WriteString(r.after)
		done = at[1]
	}
	b.WriteString(s[done:])
	return b.String(), len(matches)
}

// namesSecret reports whether a member of that name holds a secret whatever it looks like.
func namesSecret(name string) bool {
	return endsTelling(name) && secretName.MatchString(name)
}
