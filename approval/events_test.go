package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
)

func TestDecodeEvents(t *testing.T) {
	until := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	withdrawal := func(d []byte) (any, error) { return approval.DecodeWithdrawal(d) }
	claim := func(d []byte) (any, error) { return approval.DecodeClaim(d) }
	report := func(d []byte) (any, error) { return approval.DecodeReport(d) }
	tests := []struct {
		decode func([]byte) (any, error)
		data   string
		want   any
	}{
		{withdrawal, `{"approval_id":"a1"}`, approval.Withdrawal{ID: "a1"}},
		{withdrawal, `{"approval_id":"a1","reason":"run ended","x":1}`, approval.Withdrawal{ID: "a1", Reason: "run ended"}},
		{withdrawal, `{"approval_id":"a1","reason":null}`, approval.Withdrawal{ID: "a1"}},
		{claim, `{"approval_id":"a1","pin":"sha256:0","by":"` + strings.Repeat("x", 200) + `"}`, approval.ClaimEvent{ID: "a1", Pin: "sha256:0", By: strings.Repeat("x", 200)}},
		{report, `{"approval_id":"a1","outcome":"executed"}`, approval.Report{ID: "a1", Outcome: approval.Executed}},
		{
			report,
			`{"approval_id":"a1","outcome":"partial","results":[{"line":1,"ok":true},{"line":7,"ok":false,"detail":"gone"}],` +
				`"message":"one left","undo_until":"2027-01-01T01:00:00+01:00"}`,
			approval.Report{
				ID: "a1", Outcome: approval.Partial, Message: "one left", UndoUntil: &until,
				Results: []approval.Result{{Line: 1, OK: true}, {Line: 7, Detail: "gone"}},
			},
		},
		{report, `{"approval_id":"a1","outcome":"undone","results":null,"undo_until":null}`, approval.Report{ID: "a1", Outcome: approval.Undone}},
	}
	for _, tt := range tests {
		got, err := tt.decode([]byte(tt.data))
		if err != nil {
			t.Errorf("%s: %v", tt.data, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.data, diff)
		}
	}
	most := `{"approval_id":"a1","outcome":"failed","results":` + list(5000, `{"line":1,"ok":true}`) + `}`
	if r, err := approval.DecodeReport([]byte(most)); err != nil || len(r.Results) != 5000 {
		t.Errorf("5,000 results: %d, %v", len(r.Results), err)
	}
}

func TestDecodeEventsRefuse(t *testing.T) {
	withdrawal := func(d []byte) error { _, err := approval.DecodeWithdrawal(d); return err }
	claim := func(d []byte) error { _, err := approval.DecodeClaim(d); return err }
	report := func(d []byte) error { _, err := approval.DecodeReport(d); return err }
	const outcomes = "invalid: outcome: must be executed, failed, partial or undone"
	tests := []struct {
		decode func([]byte) error
		fields string // beside the id
		want   string
	}{
		{withdrawal, `"reason":` + chars(2001), "invalid: reason: over 2,000 characters"},
		{withdrawal, `"reason":1`, "invalid: reason: must be a string"},
		{withdrawal, `"reason":"a","reason":"b"`, "invalid: reason: given twice"},
		{claim, `"by":"x"`, "invalid: pin: required"},
		{claim, `"pin":7,"by":"x"`, "invalid: pin: must be a string"},
		{claim, `"pin":"p"`, "invalid: by: required"},
		{claim, `"pin":"p","by":""`, "invalid: by: required"},
		{claim, `"pin":"p","by":` + chars(201), "invalid: by: over 200 characters"},
		{report, `"x":1`, "invalid: outcome: required"},
		{report, `"outcome":"approved"`, outcomes},
		{report, `"outcome":""`, outcomes},
		{report, `"outcome":true`, outcomes},
		{report, `"outcome":"failed","message":` + chars(2001), "invalid: message: over 2,000 characters"},
		{report, `"outcome":"failed","results":{}`, "invalid: results: must be a list"},
		{report, `"outcome":"failed","results":[1]`, "invalid: results[0]: must be an object"},
		{report, `"outcome":"failed","results":[{"ok":true}]`, "invalid: results[0].line: required"},
		{report, `"outcome":"failed","results":[{"line":0,"ok":true}]`, "invalid: results[0].line: must be from 1 to 9,007,199,254,740,991"},
		{report, `"outcome":"failed","results":[{"line":1.5,"ok":true}]`, "invalid: results[0].line: must be an integer"},
		{report, `"outcome":"failed","results":[{"line":"1","ok":true}]`, "invalid: results[0].line: must be an integer"},
		{report, `"outcome":"failed","results":[{"line":1}]`, "invalid: results[0].ok: required"},
		{report, `"outcome":"failed","results":[{"line":1,"ok":"true"}]`, "invalid: results[0].ok: must be true or false"},
		{report, `"outcome":"failed","results":[{"line":1,"ok":1}]`, "invalid: results[0].ok: must be true or false"},
		{report, `"outcome":"failed","results":[{"line":1,"ok":true,"detail":` + chars(1001) + `}]`, "invalid: results[0].detail: over 1,000 characters"},
		{report, `"outcome":"failed","results":` + list(5001, `{"line":1,"ok":true}`), "invalid: results: over 5,000 items"},
		{report, `"outcome":"executed","undo_until":"soon"`, "invalid: undo_until: must be RFC 3339 with an offset"},
		{report, `"outcome":"executed","undo_until":"2027-01-01T00:00:00"`, "invalid: undo_until: must be RFC 3339 with an offset"},
		{report, `"outcome":"executed","undo_until":1798761600`, "invalid: undo_until: must be a string"},
	}
	for _, tt := range tests {
		err := tt.decode([]byte(`{"approval_id":"a1",` + tt.fields + `}`))
		var invalid *approval.Invalid
		if !errors.As(err, &invalid) || err.Error() != tt.want || invalid.ID != "a1" {
			t.Errorf("%.100s: %v, want %s", tt.fields, err, tt.want)
		}
	}
	for _, decode := range []func([]byte) error{withdrawal, claim, report} {
		for data, want := range map[string]string{
			`{}`:                                   "invalid: approval_id: required",
			`{"approval_id":"a b"}`:                "invalid: approval_id: must be 1-128 of A-Za-z0-9._:-",
			`{"approval_id":"a"} {}`:               "invalid: data: must be one JSON value",
			`{"approval_id":"a","approval_id":""}`: "invalid: approval_id: given twice",
		} {
			var invalid *approval.Invalid
			if err := decode([]byte(data)); !errors.As(err, &invalid) || err.Error() != want || invalid.ID != "" {
				t.Errorf("%s: %v, want %s", data, err, want)
			}
		}
	}
}
