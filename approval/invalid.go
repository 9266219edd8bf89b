package approval

import "strings"

// Codes with which a refusal's reason begins. They are stable: runtimes may
// compare them.
const (
	CodeInvalid     = "invalid"     // a field breaks a rule
	CodeTooLarge    = "too_large"   // data over [MaxData]
	CodeUnroutable  = "unroutable"  // no chat to ask in
	CodeUnreachable = "unreachable" // every card failed for good
	CodeTampered    = "tampered"    // the row's seal does not hold
	CodeUnsealed    = "unsealed"    // the row was never sealed, though a key is configured
)

// Invalid says which field of an event breaks which rule. Its text is the
// reason of the refusal or of the dead letter.
type Invalid struct {
	// ID is the approval's id, or "" where no usable one could be read. With an
	// id the request is refused, without one it is a dead letter.
	ID    string
	Code  string // CodeInvalid or CodeTooLarge
	Field string // a path such as card.lines[3]; "data" for the whole
	Rule  string
}

// Error returns for example "invalid: card.title: required".
func (e *Invalid) Error() string {
	return e.Code + ": " + e.Field + ": " + e.Rule
}

// Refusal is a reason with its code in front.
func Refusal(code, text string) string { return code + ": " + text }

// ReasonCode returns the stable code with which reason begins, or "" if it
// begins with none, as an owner's own words do.
func ReasonCode(reason string) string {
	code, _, found := strings.Cut(reason, ":")
	if !found {
		return ""
	}
	switch code {
	case CodeInvalid, CodeTooLarge, CodeUnroutable, CodeUnreachable, CodeTampered, CodeUnsealed:
		return code
	}
	return ""
}
