package config

import (
	"maps"
	"slices"
	"strings"
)

// facts are what can be said of a tool, in the order of their weight.
var facts = []string{
	"destructive_capable", "comms_send", "captures_environment", "standing_effect",
	"mutating", "remote_write_capable", "model_controlled_destination", "model_cost",
}

func checkPolicy(f *findings, key string, p Policy) {
	checkMatch(f, child(key, "match"), p.Match)
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
		for _, fact := range slices.Sorted(maps.Keys(p.Tools[tool].Facts)) {
			if !slices.Contains(facts, fact) {
				f.add(child(child(at, "facts"), plainKey(fact)), "unknown fact%s; known are %s", didYouMean(fact, facts), strings.Join(facts, ", "))
			}
		}
	}
	if p.OperatorEmail != "" && !isAddress(p.OperatorEmail) {
		f.add(child(key, "operator_email"), "%s is not a plain address; want e.g. me@example.org", quote(p.OperatorEmail))
	}
	f.oneOf(child(key, "notify"), p.Notify, NotifySilent, NotifyNone)
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

// isAddress reports whether text is an address that a recipient can be compared with.
func isAddress(text string) bool {
	user, host, ok := strings.Cut(text, "@")
	return ok && user != "" && host != "" && !strings.ContainsAny(text, "<>,;:\"()[] \t\r\n") && !strings.Contains(host, "@")
}
