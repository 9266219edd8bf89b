package approval

import "strconv"

// A Seal says whether a row is as the intake opened it.
type Seal string

// What can be said of a row's seal.
const (
	Unchecked  Seal = ""         // no key is configured
	SealHolds  Seal = "holds"    // it is as it was opened, and as it was answered
	SealAbsent Seal = "unsealed" // it was opened when no key was configured
	SealBroken Seal = "tampered" // it is not as it was opened, or not as it was answered
)

// Good reports whether a row may be shown and answered.
func (s Seal) Good() bool { return s == Unchecked || s == SealHolds }

// Refusal is why a row that is not good is refused, the code in front.
func (s Seal) Refusal() string {
	if s == SealAbsent {
		return Refusal(CodeUnsealed, "it was opened before this queue was signed, so nobody can vouch for what it asks")
	}
	return Refusal(CodeTampered, "its record was changed by someone else")
}

// SealText is what a row's seal signs, in the form of RFC 8785:
//
//	{approval_id, expires_at, opened_at, owners, pin, quorum, stream, terms}
//
// The times are Unix milliseconds. The request is part of it by its digests alone:
// a seal holds only if the request still yields them.
func (r *Row) SealText() []byte {
	var w writer
	w.text("approval_id", r.ID)
	w.integer("expires_at", r.ExpiresAt.UnixMilli())
	w.integer("opened_at", r.OpenedAt.UnixMilli())
	w.name("owners")
	w.begin('[')
	for i, owner := range r.Owners {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = strconv.AppendInt(w.buf, owner, 10)
	}
	w.end(']')
	w.text("pin", r.Pin)
	w.integer("quorum", int64(r.Quorum))
	w.text("stream", r.Stream)
	w.text("terms", r.Terms)
	return append(w.buf, '}')
}

// Yields reports whether the row's request still yields its terms and its pin.
func (r *Row) Yields() bool {
	if r.Request == nil || r.Request.ID != r.ID {
		return false
	}
	terms, err := Terms(r.Raw)
	if err != nil || terms != r.Terms {
		return false
	}
	pin, err := PinOf(r.Request.Calls)
	return err == nil && pin == r.Pin
}

// Answers reports whether a is an answer that a row in this state can have.
func (s State) Answers(a *Answer) bool {
	if s == Open || a == nil {
		return s == Open && a == nil
	}
	if s.WasApproved() {
		return a.Decision == DecisionApproved
	}
	return State(a.Decision) == s
}
