package policy_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"countersign/approval"
	"countersign/policy"
)

// A vector is one worked example.
type vector struct {
	Name     string
	Kind     approval.Kind
	Call     *call
	Calls    []call
	Effect   approval.Effect
	Approval string
	Risk     struct {
		Facts   json.RawMessage
		Refiner string
	}
	Policy *struct {
		Auto       []string `json:"auto_approve_tools"`
		Require    []string `json:"require_approval_tools"`
		MaxRank    *int     `json:"auto_approve_max_risk_rank"`
		Email      string   `json:"operator_email"`
		Recipients []string `json:"email_allowed_recipients"`
		Tools      map[string]struct{ Facts map[string]bool }
	}
	Expect struct {
		Tier         policy.Tier
		Rank         int
		Presentation string
		Decision     string
		Reason       policy.Reason
		Reasons      []policy.Reason // of each call, where they matter
	}
}

type call struct {
	Name      string
	Arguments json.RawMessage
}

func (v vector) request() *approval.Request {
	q := &approval.Request{
		Kind: v.Kind, Effect: v.Effect, Pinned: v.Approval == "pinned",
		Risk: approval.Risk{Facts: v.Risk.Facts, Refiner: v.Risk.Refiner},
	}
	calls := v.Calls
	if v.Call != nil {
		calls = []call{*v.Call}
	}
	for _, c := range calls {
		q.Calls = append(q.Calls, approval.Call{Tool: c.Name, Arguments: c.Arguments})
	}
	return q
}

func (v vector) rules() *policy.Rules {
	if v.Policy == nil {
		return nil
	}
	p := &policy.Rules{
		RequireApprovalTools: v.Policy.Require, AutoApproveTools: v.Policy.Auto,
		OperatorEmail: v.Policy.Email, EmailAllowedRecipients: v.Policy.Recipients,
		Tools: map[string]map[string]bool{},
	}
	if v.Policy.MaxRank != nil {
		p.Capped, p.MaxRank = true, *v.Policy.MaxRank
	}
	for name, tool := range v.Policy.Tools {
		p.Tools[name] = tool.Facts
	}
	return p
}

func vectors(t testing.TB, file string) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestVectors(t *testing.T) {
	for _, file := range []string{"vectors.json", "more.json"} {
		all := vectors(t, file)
		if len(all) == 0 {
			t.Fatalf("%s is empty", file)
		}
		for _, v := range all {
			t.Run(v.Name, func(t *testing.T) { v.check(t) })
		}
	}
}

func (v vector) check(t *testing.T) {
	t.Helper()
	d := policy.Decide(v.request(), v.rules())
	decision := "ask"
	if d.Pass {
		decision = "auto"
	}
	if decision != v.Expect.Decision || d.Reason != v.Expect.Reason {
		t.Errorf("%s for %s, want %s for %s", decision, d.Reason, v.Expect.Decision, v.Expect.Reason)
	}
	if d.Tier != v.Expect.Tier || d.Shown != v.Expect.Presentation || d.Tier != "" && d.Tier.Rank() != v.Expect.Rank {
		t.Errorf("tier %q, shown as %q, want %q and %q", d.Tier, d.Shown, v.Expect.Tier, v.Expect.Presentation)
	}
	var reasons []policy.Reason
	for _, c := range d.Calls {
		reasons = append(reasons, c.Reason)
		if c.Pass != d.Pass {
			t.Errorf("the call of %q passes: %v, the request: %v", c.Tool, c.Pass, d.Pass)
		}
		if last := c.Steps[len(c.Steps)-1]; last.Says == "" {
			t.Errorf("the call of %q ends with a step that settles nothing: %+v", c.Tool, last)
		}
	}
	if v.Expect.Reasons != nil && !slices.Equal(reasons, v.Expect.Reasons) {
		t.Errorf("reasons of the calls %q, want %q", reasons, v.Expect.Reasons)
	}
}
