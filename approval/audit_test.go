package approval_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/approval"
)

func TestAuditEncode(t *testing.T) {
	at := time.Date(2026, 12, 1, 13, 0, 0, 1999999, time.FixedZone("", 3600))
	tests := []struct {
		audit approval.Audit
		want  string
	}{
		{
			approval.Audit{
				ID: "a1", From: approval.Requested, To: approval.Open, At: at,
				BySurface: approval.Intake, ByID: "intake", Pin: "sha256:p", Terms: "sha256:t",
			},
			`{"approval_id":"a1","at":"2026-12-01T12:00:00.001Z","by":{"id":"intake","surface":"intake"},` +
				`"from":"requested","pin":"sha256:p","terms":"sha256:t","to":"open"}`,
		},
		{
			approval.Audit{
				ID: "a1", From: approval.Requested, To: approval.Refused, At: at,
				BySurface: approval.Intake, ByID: "intake", Terms: "sha256:t", ReasonCode: "invalid",
			},
			`{"approval_id":"a1","at":"2026-12-01T12:00:00.001Z","by":{"id":"intake","surface":"intake"},` +
				`"from":"requested","pin":"","reason_code":"invalid","terms":"sha256:t","to":"refused"}`,
		},
		{
			approval.Audit{
				ID: "a1", From: approval.Claimed, To: approval.Partial, At: at,
				BySurface: approval.Runtime, ByID: "iris", Pin: "sha256:p", Terms: "sha256:t",
				Results: []approval.Result{{Line: 1, OK: true, Detail: "kept out"}, {Line: 2}},
			},
			`{"approval_id":"a1","at":"2026-12-01T12:00:00.001Z","by":{"id":"iris","surface":"runtime"},` +
				`"from":"claimed","pin":"sha256:p","results":[{"line":1,"ok":true},{"line":2,"ok":false}],"terms":"sha256:t","to":"partial"}`,
		},
		{
			approval.Audit{
				ID: "a1", From: approval.Executed, To: approval.Executed, At: at,
				BySurface: approval.Telegram, ByID: "1001", Pin: "sha256:p", Terms: "sha256:t", Undo: true,
			},
			`{"approval_id":"a1","at":"2026-12-01T12:00:00.001Z","by":{"id":"1001","surface":"telegram"},` +
				`"from":"executed","pin":"sha256:p","terms":"sha256:t","to":"executed","undo":true}`,
		},
	}
	for _, tt := range tests {
		got, err := tt.audit.Encode()
		if err != nil || string(got) != tt.want {
			t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
		}
	}
	if got, err := new(approval.Audit{ID: "a1"}).Encode(); err == nil {
		t.Errorf("%s by nobody", got)
	}
}

func TestAuditIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := approval.Audit{
			ID: rapid.String().Draw(t, "id"), From: approval.Open, To: approval.Approved,
			At: time.UnixMilli(0), BySurface: approval.CLI, ByID: rapid.StringN(1, 20, -1).Draw(t, "by"),
			ReasonCode: rapid.String().Draw(t, "code"), Undo: rapid.Bool().Draw(t, "undo"),
			Results: []approval.Result{{Line: rapid.IntRange(1, 1<<53-1).Draw(t, "line")}},
		}
		got, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		want, err := approval.Canonical(got)
		if err != nil || string(got) != string(want) {
			t.Fatalf("got %s, canonical %s, %v", got, want, err)
		}
	})
}

// What is audited beside transitions is told apart by its kind.
func TestLoosenedEncode(t *testing.T) {
	at := time.Date(2026, 12, 1, 13, 0, 0, 1999999, time.FixedZone("", 3600))
	l := approval.Loosened{
		At: at, Before: "sha256:b", After: "sha256:a",
		Looser: []approval.Loosening{{Code: "owner_added", Of: "1003"}, {Code: "unmasked"}},
	}
	want := `{"after":"sha256:a","at":"2026-12-01T12:00:00.001Z","before":"sha256:b","kind":"configuration",` +
		`"looser":[{"code":"owner_added","of":"1003"},{"code":"unmasked"}]}`
	got, err := l.Encode()
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	if canonical, err := approval.Canonical(got); err != nil || string(canonical) != want {
		t.Errorf("canonical %s, %v", canonical, err)
	}
}
