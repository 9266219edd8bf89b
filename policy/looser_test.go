package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/policy"
)

func capped(rank int) policy.Rules { return policy.Rules{Capped: true, MaxRank: rank} }

func TestLooser(t *testing.T) {
	iris := func(r policy.Rules) policy.Policy { return policy.Policy{Match: "runtime iris*", Rules: r} }
	all := func(r policy.Rules) policy.Policy { return policy.Policy{Rules: r} }
	list := func(p ...policy.Policy) []policy.Policy { return p }
	for name, tt := range map[string]struct {
		before, after []policy.Policy
		want          []string
	}{
		"nothing": {nil, nil, nil},
		"the same": {
			list(iris(policy.Rules{AutoApproveTools: []string{"a"}, Capped: true, MaxRank: 2})),
			list(iris(policy.Rules{AutoApproveTools: []string{" a "}, Capped: true, MaxRank: 2})), nil,
		},
		"stricter": {
			list(iris(policy.Rules{AutoApproveTools: []string{"a"}, Capped: true, MaxRank: 2, OperatorEmail: ownAddress})),
			list(iris(policy.Rules{RequireApprovalTools: []string{"b"}, Capped: true, MaxRank: 1})), nil,
		},
		"all of it": {
			list(iris(policy.Rules{RequireApprovalTools: []string{"c", "d"}, Tools: map[string]map[string]bool{"e": {"mutating": true, "comms_send": true}}})),
			list(policy.Policy{Match: "runtime iris*", Hidden: true, Rules: policy.Rules{
				AutoApproveTools: []string{"b", "a", "b"}, RequireApprovalTools: []string{"d"}, Capped: true, MaxRank: 3,
				Tools: map[string]map[string]bool{"e": {"mutating": true, "comms_send": false}}, OperatorEmail: ownAddress,
				EmailAllowedRecipients: []string{bossAddress, "self", "bad"},
			}}),
			[]string{
				"runtime iris*: always pass now: b, a",
				"runtime iris*: need not be asked any more: c",
				"runtime iris*: the ceiling rose from 0 (nothing) to 3 (outreach)",
				"runtime iris*: facts withdrawn: e comms_send",
				"runtime iris*: mail passes now to: boss@example.test, owner@example.test",
				"runtime iris*: what passes gets no card any more",
			},
		},
		"a new policy":               {nil, list(all(capped(1))), []string{"every request: the ceiling rose from 0 (nothing) to 1 (observe)"}},
		"a new policy that opens no": {nil, list(all(capped(0))), nil},
		"a strict one gone":          {list(iris(capped(0)), all(capped(2))), list(all(capped(2))), []string{"runtime iris*: this policy is gone, so that the others decide what fell under it"}},
		"the last one gone":          {list(iris(capped(2))), nil, nil},
		"another order":              {list(iris(capped(0)), all(capped(2))), list(all(capped(2)), iris(capped(0))), []string{"every request: this policy is looked at earlier than before"}},
		"a ceiling that is none":     {list(all(policy.Rules{MaxRank: 4})), list(all(capped(4))), []string{"every request: the ceiling rose from 0 (nothing) to 4 (destroy)"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, policy.Looser(tt.before, tt.after)); diff != "" {
				t.Errorf("looser (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever passes by the new policy and did not by the old one is said.
func TestLooserMissesNothing(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		q, _ := drawRequest(t)
		was, is := drawRules(t), drawRules(t)
		if rapid.Bool().Draw(t, "little changes") {
			changed := *was
			is = &changed
			_ = stricter(t, &approval.Request{Kind: approval.Halt}, map[string]any{}, is)
			was, is = is, was
		}
		if policy.Decide(q, is).Pass && !policy.Decide(q, was).Pass {
			found++
			if len(policy.Looser([]policy.Policy{{Rules: *was}}, []policy.Policy{{Rules: *is}})) == 0 {
				t.Fatalf("not said: %+v passes by %+v, not by %+v", q, is, was)
			}
		}
	})
	t.Logf("became looser: %d", found) // with few checks there may be few
}
