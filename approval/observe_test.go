package approval_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/approval"
)

func TestObservation(t *testing.T) {
	const end = "; nothing was changed, sent or deleted"
	tests := []struct {
		decision      approval.Decision
		title, reason string
		want          string
	}{
		{approval.DecisionApproved, "Trash 3 emails", "", "this was approved: Trash 3 emails"},
		{approval.DecisionRejected, "Trash 3 emails", "", "the owner rejected this: Trash 3 emails" + end},
		{approval.DecisionRejected, "Trash 3 emails", "wrong ones", "the owner rejected this: Trash 3 emails (reason: wrong ones)" + end},
		{approval.DecisionLapsed, "Trash 3 emails", "", "nobody answered this in time: Trash 3 emails" + end},
		{approval.DecisionWithdrawn, "Trash", "run ended", "this was withdrawn before it was answered: Trash (reason: run ended)" + end},
		{
			approval.DecisionRefused, "a1", "invalid: card.title: required",
			"this was refused before the owner could answer: a1 (reason: invalid: card.title: required)" + end,
		},
		{approval.DecisionRejected, "two\nlines\u2028\u202eand\ta\x00tab", "a\r\nb", "the owner rejected this: two lines  and a tab (reason: a  b)" + end},
	}
	for _, tt := range tests {
		if got := approval.Observation(tt.decision, tt.title, tt.reason); got != tt.want {
			t.Errorf("%s of %q:\n got %q\nwant %q", tt.decision, tt.title, got, tt.want)
		}
	}
}

func TestObservationProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]approval.Decision{
			approval.DecisionRejected, approval.DecisionLapsed, approval.DecisionWithdrawn, approval.DecisionRefused,
		}).Draw(t, "decision")
		title, reason := rapid.String().Draw(t, "title"), rapid.String().Draw(t, "reason")
		got := approval.Observation(d, title, reason)
		if !strings.HasSuffix(got, "nothing was changed, sent or deleted") {
			t.Errorf("%q ends otherwise", got)
		}
		if strings.ContainsAny(got, "\n\r\t\v\f\u0085\u2028\u2029") {
			t.Errorf("%q is more than one line", got)
		}
		if d == approval.DecisionRejected && !strings.HasPrefix(got, "the owner rejected this: ") {
			t.Errorf("%q begins otherwise", got)
		}
	})
}

func TestReasonCode(t *testing.T) {
	for reason, want := range map[string]string{
		"invalid: card.title: required":             "invalid",
		"too_large: data: over 256 KiB":             "too_large",
		"unroutable: no chats":                      "unroutable",
		"unreachable: blocked":                      "unreachable",
		"tampered: seal":                            "tampered",
		"unsealed:":                                 "unsealed",
		approval.Refusal(approval.CodeInvalid, "x"): "invalid",
		"":                     "",
		"invalid":              "",
		"Invalid: x":           "",
		"wrong ones: all":      "",
		" invalid: x":          "",
		"see invalid: that":    "",
		"invalid_thing: other": "",
	} {
		if got := approval.ReasonCode(reason); got != want {
			t.Errorf("%q: %q, want %q", reason, got, want)
		}
	}
}
