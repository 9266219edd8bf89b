package approval

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// MinExpiry is the shortest expires_in.
const MinExpiry = 5 * time.Second

// Durations are the operator's deadlines.
type Durations struct {
	ToolCall time.Duration // of a call that asks for none
	Halt     time.Duration // of a halt that asks for none
	Max      time.Duration // the longest anybody may ask for
}

// Deadline returns when r lapses, in whole milliseconds, for a request that
// Redis took at entry and that is read at now, both by Redis's clock. A span
// counts from the entry, so that a request which waited out an outage does not
// get its time again; an entry in the future counts from now. The deadline may
// be past: the caller opens such a row and lapses it at once, as it does with
// less than a second left. Out of range is an [*Invalid].
func Deadline(r *Request, entry, now time.Time, d Durations) (time.Time, error) {
	if entry.After(now) {
		entry = now
	}
	if at := r.Expiry.At; !at.IsZero() {
		if at.After(now.Add(d.Max)) {
			return time.Time{}, r.invalid("expires_at", "more than "+span(d.Max)+" ahead")
		}
		return at.UTC().Truncate(time.Millisecond), nil
	}
	in := r.Expiry.In
	switch {
	case in == 0 && r.Kind == Halt:
		in = min(d.Halt, d.Max)
	case in == 0:
		in = min(d.ToolCall, d.Max)
	case in < MinExpiry || in > d.Max:
		return time.Time{}, r.invalid("expires_in", "must be from "+span(MinExpiry)+" to "+span(d.Max))
	}
	return entry.Add(in).UTC().Truncate(time.Millisecond), nil
}

func (r *Request) invalid(field, rule string) *Invalid {
	return &Invalid{ID: r.ID, Code: CodeInvalid, Field: field, Rule: rule}
}

// span writes a duration without the zero units at its end: 168h, 1h30m, 5s.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

var (
	errTimeShape = errors.New("must be RFC 3339 with an offset")
	errTimeYear  = errors.New("must be within the years 1970 to 9999")
)

// rfc3339 is stricter than the standard parser, which takes a comma, an hour of
// one digit, an offset of a day and any number of digits.
var rfc3339 = regexp.MustCompile(
	`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// parseTime reads RFC 3339 with an offset and at most nine digits of a second.
// Years before 1970 are refused, since the zero time must stay "none".
func parseTime(s string) (time.Time, error) {
	s = strings.ToUpper(s)
	if !rfc3339.MatchString(s) {
		return time.Time{}, errTimeShape
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, errTimeShape
	}
	if t = t.UTC(); t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}, errTimeYear
	}
	return t, nil
}

// formatTime writes a time as RFC 3339 in UTC with milliseconds.
func formatTime(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
