package policy_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/policy"
)

var (
	factNames = []string{
		"destructive_capable", "comms_send", "captures_environment", "standing_effect", "mutating",
		"remote_write_capable", "model_controlled_destination", "model_cost",
	}
	toolNames  = []string{"read_file", "send_email", "send_email ", "reply_email", "\twipe", "wipe", "", " "}
	addresses  = []string{ownAddress, bossAddress, " Boss@Example.Test", "a@example.net", "self", "bоss@example.test", "bad"}
	refiners   = []string{"", "send_email_recipient@v1", "send_email_recipient@v2", "git_read_only@v1"}
	listsShape = []string{`%q`, `[%q]`, `[%q,5]`, `{"email":%q}`}
)

func drawFacts(t *rapid.T) map[string]any {
	facts := map[string]any{}
	for _, name := range factNames {
		switch rapid.IntRange(0, 5).Draw(t, name) {
		case 0:
			facts[name] = true
		case 1, 2:
			facts[name] = false
		case 3:
			if rapid.IntRange(0, 9).Draw(t, name+" is broken") == 0 {
				facts[name] = "no"
			}
		}
	}
	return facts
}

func encoded(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values
	}
	return data
}

func drawCall(t *rapid.T) approval.Call {
	c := approval.Call{Tool: rapid.SampledFrom(toolNames).Draw(t, "tool"), Arguments: json.RawMessage(`{}`)}
	var fields []string
	for _, key := range []string{"to", "cc", "BCC"} {
		if rapid.Bool().Draw(t, key) && (key != "BCC" || rapid.IntRange(0, 9).Draw(t, "odd") == 0) {
			shape := listsShape[min(rapid.IntRange(0, 20).Draw(t, "shape"), len(listsShape)-1)]
			if rapid.Bool().Draw(t, "plain shape") {
				shape = listsShape[0]
			}
			fields = append(fields, fmt.Sprintf("%q:"+shape, key, rapid.SampledFrom(addresses).Draw(t, "recipient")))
		}
	}
	c.Arguments = json.RawMessage("{" + strings.Join(fields, ",") + "}")
	return c
}

func drawRequest(t *rapid.T) (*approval.Request, map[string]any) {
	facts := drawFacts(t)
	q := &approval.Request{
		Kind:   rapid.SampledFrom([]approval.Kind{approval.ToolCall, approval.ToolCall, approval.ToolCall, approval.Halt}).Draw(t, "kind"),
		Effect: rapid.SampledFrom([]approval.Effect{approval.Write, approval.Write, approval.Write, approval.Destructive}).Draw(t, "effect"),
		Pinned: rapid.IntRange(0, 4).Draw(t, "pinned") == 0,
		Risk:   approval.Risk{Facts: encoded(facts), Refiner: rapid.SampledFrom(refiners).Draw(t, "refiner")},
	}
	if q.Kind == approval.ToolCall {
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			q.Calls = append(q.Calls, drawCall(t))
		}
	}
	return q, facts
}

func drawRules(t *rapid.T) *policy.Rules {
	some := func(name string, from []string) []string {
		return rapid.SliceOfN(rapid.SampledFrom(from), 0, 3).Draw(t, name)
	}
	p := &policy.Rules{
		RequireApprovalTools: some("require", toolNames), AutoApproveTools: some("auto", toolNames),
		Capped: rapid.Bool().Draw(t, "capped"), MaxRank: rapid.IntRange(0, 4).Draw(t, "ceiling"),
		OperatorEmail:          rapid.SampledFrom([]string{"", ownAddress, "bad"}).Draw(t, "operator_email"),
		EmailAllowedRecipients: some("recipients", addresses), Tools: map[string]map[string]bool{},
	}
	for _, name := range some("tools", toolNames) {
		p.Tools[name] = map[string]bool{rapid.SampledFrom(factNames).Draw(t, "fact"): rapid.Bool().Draw(t, "holds")}
	}
	return p
}

// stricter changes one thing that can only hold back: it returns what was changed.
func stricter(t *rapid.T, q *approval.Request, facts map[string]any, p *policy.Rules) string {
	without := func(list []string) []string {
		if len(list) == 0 {
			return nil
		}
		i := rapid.IntRange(0, len(list)-1).Draw(t, "which")
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	switch what := rapid.SampledFrom([]string{
		"a true fact of a vetted call", "a true fact of the operator", "a lower ceiling", "no ceiling", "one more to require",
		"one fewer to pass", "one recipient fewer", "no operator_email", "pinned", "destructive", "one more call", "no facts", "no refiner",
	}).Draw(t, "stricter"); what {
	case "a true fact of a vetted call":
		// An unvetted call that begins to declare its facts is another thing.
		if !policy.RiskOf(q.Risk.Facts, nil).Vetted {
			return ""
		}
		facts = maps.Clone(facts)
		facts[rapid.SampledFrom(factNames).Draw(t, "now true")] = true
		q.Risk.Facts = encoded(facts)
		return what
	case "a true fact of the operator":
		name := rapid.SampledFrom(toolNames).Draw(t, "raised")
		said := maps.Clone(p.Tools[name])
		if said == nil {
			said = map[string]bool{}
		}
		said[rapid.SampledFrom(factNames).Draw(t, "said")] = true
		p.Tools = maps.Clone(p.Tools)
		p.Tools[name] = said
		return what
	case "a lower ceiling":
		p.MaxRank = rapid.IntRange(-1, p.MaxRank).Draw(t, "lower")
		return what
	case "no ceiling":
		p.Capped = false
		return what
	case "one more to require":
		p.RequireApprovalTools = append(slices.Clone(p.RequireApprovalTools), rapid.SampledFrom(toolNames).Draw(t, "required"))
		return what
	case "one fewer to pass":
		p.AutoApproveTools = without(p.AutoApproveTools)
		return what
	case "one recipient fewer":
		p.EmailAllowedRecipients = without(p.EmailAllowedRecipients)
		return what
	case "no operator_email":
		p.OperatorEmail = ""
		return what
	case "pinned":
		q.Pinned = true
		return what
	case "destructive":
		q.Effect = approval.Destructive
		return what
	case "one more call":
		if q.Kind == approval.ToolCall {
			q.Calls = append(slices.Clone(q.Calls), drawCall(t))
		}
		return what
	case "no facts":
		if p.Capped && p.MaxRank == 4 {
			return "" // that ceiling passes what is unvetted, too
		}
		q.Risk.Facts = nil
		return what
	case "no refiner":
		q.Risk.Refiner = ""
		return what
	}
	return ""
}

// What can only hold back never lets a request pass that was asked before.
func TestStricterNeverPasses(t *testing.T) {
	passed := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		q, facts := drawRequest(t)
		p := drawRules(t)
		before := policy.Decide(q, p)
		if what := stricter(t, q, facts, p); what != "" {
			after := policy.Decide(q, p)
			if after.Pass && !before.Pass {
				t.Fatalf("%s lets pass for %s what asked for %s:\n%+v\n%+v", what, after.Reason, before.Reason, q, p)
			}
			if before.Pass {
				passed[what]++
			}
		}
	})
	t.Logf("passed before: %v", passed) // with few checks there may be few
}

// What always asks, whatever the rules.
func TestAlwaysAsks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, _ := drawRequest(t)
		p := drawRules(t)
		d := policy.Decide(q, p)
		if !d.Pass {
			return
		}
		if q.Kind == approval.Halt || q.Effect == approval.Destructive {
			t.Fatalf("passes: %+v", q)
		}
		for _, c := range q.Calls {
			name := strings.TrimSpace(c.Tool)
			required := slices.ContainsFunc(p.RequireApprovalTools, func(r string) bool { return strings.TrimSpace(r) == name })
			named := slices.ContainsFunc(p.AutoApproveTools, func(a string) bool { return strings.TrimSpace(a) == name })
			if name == "" || required || q.Pinned && !named {
				t.Fatalf("passes: %q by %+v", c.Tool, p)
			}
		}
		if policy.Decide(q, nil).Pass {
			t.Fatal("it passes without a policy")
		}
	})
}

// The same request by the same rules is decided alike, and neither is changed.
func TestDecideIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, _ := drawRequest(t)
		p := drawRules(t)
		was := fmt.Sprintf("%+v %+v", *q, *p)
		one, two := policy.Decide(q, p), policy.Decide(q, p)
		if fmt.Sprintf("%+v", one) != fmt.Sprintf("%+v", two) {
			t.Fatalf("%+v, then %+v", one, two)
		}
		if now := fmt.Sprintf("%+v %+v", *q, *p); now != was {
			t.Fatalf("changed from %s to %s", was, now)
		}
	})
}
