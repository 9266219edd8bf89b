package main

import (
	"fmt"
	"strings"

	"countersign/approval"
	"countersign/config"
	"countersign/policy"
	"countersign/queue"
)

// rules are a policy of the configuration as it is decided by.
func rules(p config.Policy) *policy.Rules {
	r := &policy.Rules{
		RequireApprovalTools: p.RequireApprovalTools, AutoApproveTools: p.AutoApproveTools,
		MaxRank: p.AutoApproveMaxRiskRank, Capped: p.AutoApproveMaxRiskRank > 0,
		OperatorEmail: p.OperatorEmail, EmailAllowedRecipients: p.EmailAllowedRecipients,
		Tools: make(map[string]map[string]bool, len(p.Tools)),
	}
	for name, tool := range p.Tools {
		r.Tools[name] = tool.Facts
	}
	return r
}

// policyOf is the policy that a request falls under, and its name: the key in the
// configuration, "" where none fits. Names of tools are trimmed here as there.
func policyOf(c *config.Config, q *approval.Request) (config.Policy, string) {
	tools := q.Tools()
	for i := range tools {
		tools[i] = strings.Trim(tools[i], " ")
	}
	p, i := c.Policy(q.Runtime, string(q.Kind), tools)
	if i < 0 {
		return p, ""
	}
	return p, fmt.Sprintf("policies[%d]", i)
}

// decide decides on a request by the configuration.
func decide(c *config.Config, q *approval.Request) (policy.Decision, config.Policy, string) {
	p, name := policyOf(c, q)
	if name == "" {
		return policy.Decide(q, nil), p, ""
	}
	return policy.Decide(q, rules(p)), p, name
}

// ruling is what the intake needs to know of a decision.
func ruling(c *config.Config, q *approval.Request) queue.Ruling {
	d, p, name := decide(c, q)
	return queue.Ruling{
		Pass: d.Pass, Tier: string(d.Tier), Shown: d.Shown, Reason: string(d.Reason), Detail: d.Detail,
		Policy: name, Hidden: p.Notify == config.NotifyNone,
	}
}

// compared are the policies of a configuration, for comparing with others.
func compared(c *config.Config) []policy.Policy {
	var list []policy.Policy
	for _, p := range c.Policies {
		list = append(list, policy.Policy{
			Match: matched(p.Match), Rules: *rules(p), Hidden: p.Notify == config.NotifyNone,
		})
	}
	return list
}

// matched says for which requests a policy is.
func matched(m config.Match) string {
	var parts []string
	for _, part := range []struct{ name, pattern string }{
		{"runtime", m.Runtime}, {"tool", m.Tool}, {"kind", m.Kind},
	} {
		if part.pattern != "" {
			parts = append(parts, part.name+" "+part.pattern)
		}
	}
	return strings.Join(parts, ", ")
}
