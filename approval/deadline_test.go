package approval_test

import (
	"errors"
	"testing"
	"time"

	"countersign/approval"
)

func TestDeadline(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	d := approval.Durations{ToolCall: time.Hour, Halt: 10 * time.Minute, Max: 168 * time.Hour}
	call := func(e approval.Expiry) approval.Request {
		return approval.Request{ID: "a1", Kind: approval.ToolCall, Expiry: e}
	}
	in := func(in time.Duration) approval.Request { return call(approval.Expiry{In: in}) }
	at := func(in time.Duration) approval.Request { return call(approval.Expiry{At: now.Add(in)}) }
	halt := approval.Request{ID: "a1", Kind: approval.Halt}

	tests := []struct {
		name  string
		r     approval.Request
		entry time.Duration // from now
		want  time.Duration // from now
		rule  string
	}{
		{"default of a call", call(approval.Expiry{}), 0, time.Hour, ""},
		{"default of a halt", halt, 0, 10 * time.Minute, ""},
		{"the default counts from the entry", halt, -4 * time.Minute, 6 * time.Minute, ""},
		{"an outage longer than the default", halt, -time.Hour, -50 * time.Minute, ""},
		{"shortest", in(5 * time.Second), 0, 5 * time.Second, ""},
		{"longest", in(168 * time.Hour), 0, 168 * time.Hour, ""},
		{"in counts from the entry", in(time.Minute), -20 * time.Second, 40 * time.Second, ""},
		{"in ran out while it waited", in(time.Minute), -2 * time.Minute, -time.Minute, ""},
		{"an entry in the future counts from now", in(time.Minute), time.Hour, time.Minute, ""},
		{"cut to milliseconds", in(5*time.Second + 1999*time.Microsecond), 0, 5*time.Second + time.Millisecond, ""},
		{"too short", in(5*time.Second - 1), 0, 0, "invalid: expires_in: must be from 5s to 168h"},
		{"negative", in(-time.Hour), 0, 0, "invalid: expires_in: must be from 5s to 168h"},
		{"too long", in(168*time.Hour + 1), 0, 0, "invalid: expires_in: must be from 5s to 168h"},
		{"too long, though the entry is old", in(169 * time.Hour), -2 * time.Hour, 0, "invalid: expires_in: must be from 5s to 168h"},
		{"at", at(30 * time.Minute), -time.Hour, 30 * time.Minute, ""},
		{"at may be near", at(time.Second), 0, time.Second, ""},
		{"at may be past", at(-1000 * time.Hour), 0, -1000 * time.Hour, ""},
		{"at, cut to milliseconds", at(time.Minute + 999*time.Microsecond), 0, time.Minute, ""},
		{"furthest at", at(168 * time.Hour), -time.Hour, 168 * time.Hour, ""},
		{"at too far", at(168*time.Hour + 1), 0, 0, "invalid: expires_at: more than 168h ahead"},
		{"at in another age", call(approval.Expiry{At: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}), 0, 0, "invalid: expires_at: more than 168h ahead"},
	}
	for _, tt := range tests {
		got, err := approval.Deadline(&tt.r, now.Add(tt.entry), now, d)
		if tt.rule != "" {
			var invalid *approval.Invalid
			if !errors.As(err, &invalid) || err.Error() != tt.rule || invalid.ID != "a1" {
				t.Errorf("%s: %v, %v, want %s", tt.name, got, err, tt.rule)
			}
			continue
		}
		if want := now.Add(tt.want); err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, want)
		}
	}
}

// The operator's limit holds for the operator's defaults too.
func TestDeadlineDefaultWithinMax(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	d := approval.Durations{ToolCall: time.Hour, Halt: time.Hour, Max: 90*time.Minute - time.Hour}
	for _, kind := range []approval.Kind{approval.ToolCall, approval.Halt} {
		got, err := approval.Deadline(&approval.Request{Kind: kind}, now, now, d)
		if want := now.Add(30 * time.Minute); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", kind, got, err, want)
		}
	}
	_, err := approval.Deadline(&approval.Request{Expiry: approval.Expiry{In: time.Hour}}, now, now, d)
	if want := "invalid: expires_in: must be from 5s to 30m"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A deadline is read, or the request is refused: never "no deadline".
func TestDecodeExpiresAt(t *testing.T) {
	const shape, year = "must be RFC 3339 with an offset", "must be within the years 1970 to 9999"
	at := func(nsec int) time.Time { return time.Date(2027, 1, 1, 0, 0, 0, nsec, time.UTC) }
	tests := []struct {
		text string
		want time.Time
		rule string
	}{
		{`"2027-01-01T00:00:00Z"`, at(0), ""},
		{`"2027-01-01t00:00:00z"`, at(0), ""},
		{`"2027-01-01T05:30:00+05:30"`, at(0), ""},
		{`"2026-12-31T16:00:00-08:00"`, at(0), ""},
		{`"2027-01-01T00:00:00.123456789Z"`, at(123456789), ""},
		{`"2020-01-01T00:00:00Z"`, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), ""},
		{`"9999-12-31T23:59:59Z"`, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), ""},
		{`"2027-01-01T00:00:00.1234567890Z"`, time.Time{}, shape},
		{`"2027-01-01T00:00:00,5Z"`, time.Time{}, shape},
		{`"2027-01-01"`, time.Time{}, shape},
		{`"2027-01-01T00:00:00"`, time.Time{}, shape},
		{`"2027-01-01T00:00Z"`, time.Time{}, shape},
		{`"2027-01-01 00:00:00Z"`, time.Time{}, shape},
		{`"2027-01-01T1:00:00Z"`, time.Time{}, shape},
		{`"2027-01-01T00:00:00+0530"`, time.Time{}, shape},
		{`"2027-01-01T00:00:00+24:00"`, time.Time{}, shape},
		{`"2027-01-01T00:00:60Z"`, time.Time{}, shape},
		{`"2027-02-29T00:00:00Z"`, time.Time{}, shape},
		{`"1798761600"`, time.Time{}, shape},
		{`""`, time.Time{}, shape},
		{`"soon"`, time.Time{}, shape},
		{`"never"`, time.Time{}, shape},
		{`"0001-01-01T00:00:00Z"`, time.Time{}, year},
		{`"1969-12-31T23:59:59Z"`, time.Time{}, year},
		{`1798761600`, time.Time{}, "must be a string"},
		{`1798761600000`, time.Time{}, "must be a string"},
		{`null`, time.Time{}, "must be a string"},
		{`false`, time.Time{}, "must be a string"},
	}
	for _, tt := range tests {
		r, err := approval.Decode(valid(draft{"expires_at": tt.text}))
		if tt.rule != "" {
			if want := "invalid: expires_at: " + tt.rule; err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", tt.text, err, want)
			}
			continue
		}
		if err != nil || !r.Expiry.At.Equal(tt.want) || r.Expiry.In != 0 {
			t.Errorf("%s: %v, %v, want %v", tt.text, r.Expiry, err, tt.want)
		}
	}
}
