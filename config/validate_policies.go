package config

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// facts are what can be said of a tool, in the order of their weight.
var facts = []string{
	"destructive_capable", "comms_send", "captures_environment", "standing_effect",
	"mutating", "remote_write_capable", "model_controlled_destination", "model_cost",
}

// maxRecipients is how many entries of email_allowed_recipients count.
const maxRecipients = 50

func checkPolicies(f *findings, policies []Policy) {
	for i, p := range policies {
		key := element("policies", i)
		for j, earlier := range policies[:i] {
			switch earlier.Match {
			case Match{}:
				f.add(key, "this one is never used: %s comes first and fits every request", element("policies", j))
			case p.Match:
				f.add(child(key, "match"), "this is the match of %s, which comes first; this one is never used", element("policies", j))
			}
		}
		checkPolicy(f, key, p)
	}
}

func checkPolicy(f *findings, key string, p Policy) {
	checkMatch(f, child(key, "match"), p.Match)
	if p.Match.Kind == KindHalt {
		f.add(child(key, "match.kind"), "a halt is always asked, so a policy for halts does nothing; leave the policy out")
	}
	if p.Match.Tier != "" {
		f.add(child(key, "match.tier"), "a policy cannot be chosen by tier, since its own tools decide the tier; use auto_approve_max_risk_rank")
	}
	checkToolNames(f, child(key, "require_approval_tools"), p.RequireApprovalTools)
	checkToolNames(f, child(key, "auto_approve_tools"), p.AutoApproveTools)
	if p.AutoApproveMaxRiskRank < 0 || p.AutoApproveMaxRiskRank > 4 {
		f.add(child(key, "auto_approve_max_risk_rank"), "%d is out of range; want 0 (nothing passes) to 4", p.AutoApproveMaxRiskRank)
	}
	for _, tool := range slices.Sorted(maps.Keys(p.Tools)) {
		at := child(child(key, "tools"), tool)
		checkToolName(f, at, tool)
		if len(p.Tools[tool].Facts) == 0 {
			f.add(child(at, "facts"), "it is missing or empty; want what the tool can do, e.g. {comms_send: true}")
		}
		for _, fact := range slices.Sorted(maps.Keys(p.Tools[tool].Facts)) {
			if !slices.Contains(facts, fact) {
				f.add(child(child(at, "facts"), plainKey(fact)), "unknown fact%s; known are %s", didYouMean(fact, facts), strings.Join(facts, ", "))
			}
		}
	}
	if p.OperatorEmail != "" && !isAddress(p.OperatorEmail) {
		f.add(child(key, "operator_email"), "%s is not a plain address; want e.g. me@example.org", quote(p.OperatorEmail))
	}
	checkRecipients(f, child(key, "email_allowed_recipients"), p.EmailAllowedRecipients)
	f.oneOf(child(key, "notify"), p.Notify, NotifySilent, NotifyNone)
}

// checkRecipients refuses what no recipient could ever equal, rather than letting it
// do nothing unnoticed.
func checkRecipients(f *findings, key string, entries []string) {
	if len(entries) > maxRecipients {
		f.add(key, "the list has %d entries; only the first %d would count", len(entries), maxRecipients)
	}
	for i, entry := range entries {
		at := element(key, i)
		switch {
		case strings.EqualFold(entry, "self"):
		case strings.Contains(entry, "*"):
			f.add(at, "%s is a pattern, and addresses are compared as a whole; list them one by one", quote(entry))
		case !isAddress(entry):
			f.add(at, "%s is not a plain address; want e.g. boss@example.org, or self for operator_email", quote(entry))
		}
	}
}

func checkToolNames(f *findings, key string, names []string) {
	for i, name := range names {
		checkToolName(f, element(key, i), name)
	}
}

// checkToolName refuses a *: it would stand for itself alone, and `send_*` among the
// tools that must ask would let send_sms pass.
func checkToolName(f *findings, key, name string) {
	switch {
	case strings.TrimSpace(name) == "":
		f.add(key, "the name is empty; want the exact name of a tool")
	case strings.Contains(name, "*"):
		f.add(key, "%s is a pattern, and tools of a policy match by exact name only; list them one by one", quote(name))
	}
}

// isAddress reports whether text is an address that a recipient can be compared with. A
// letter that is an ASCII one in lower case or in its normal form makes it another address
// than it seems, and so does a dot above, which makes of I a letter of that kind.
func isAddress(text string) bool {
	user, host, ok := strings.Cut(text, "@")
	return ok && user != "" && host != "" && !strings.Contains(host, "@") && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>,;:\"()[]\ufffd\u037e\u1fef\u0307", r) ||
			r >= utf8.RuneSelf && unicode.ToLower(r) < utf8.RuneSelf
	})
}
