package simulator

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Class says why a call was not answered with ok.
type Class string

// Classes of answers.
const (
	// OK is an answer with ok.
	OK Class = ""
	// Refused calls were wrong in themselves: the caller has a fault.
	Refused Class = "refused"
	// State means that the call was well made but met a state that a correct bot can
	// meet: blocked, kicked, not modified, deleted by somebody, too old, another poller.
	State Class = "state"
	// Limited calls came too fast.
	Limited Class = "limited"
	// Faulted calls met a [Fault].
	Faulted Class = "fault"
)

// An APIError is an answer that is not ok.
type APIError struct {
	Code        int // also the HTTP status
	Description string
	Parameters  *Parameters
	Class       Class
}

// Error implements error.
func (e *APIError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Description) }

// refused is a 400 for a call that was wrong in itself, in words of the simulator or of
// a text that has variable parts.
func refused(format string, args ...any) error {
	return &APIError{Code: 400, Description: "Bad Request: " + fmt.Sprintf(format, args...), Class: Refused}
}

// stateError is a 400 that is not on the list, for a state that a correct bot can meet.
func stateError(text string) error {
	return &APIError{Code: 400, Description: "Bad Request: " + text, Class: State}
}

// A catalogue holds the real server's failing answers.
type catalogue map[string]knownError

type knownError struct {
	Code        int         `json:"error_code"`
	Description string      `json:"description"`
	Parameters  *Parameters `json:"parameters"`
}

// newCatalogue reads telegram-errors.json. Keys are the descriptions without the name
// of the error code that stands before them.
func newCatalogue(data []byte) (catalogue, error) {
	var file struct {
		Errors []knownError `json:"errors"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("read the list of errors: %w", err)
	}
	c := catalogue{}
	for _, known := range file.Errors {
		key := known.Description
		for _, prefix := range []string{"Bad Request: ", "Forbidden: ", "Unauthorized: ", "Conflict: ", "Not Found: "} {
			key = strings.TrimPrefix(key, prefix)
		}
		c[key] = known
	}
	return c, nil
}

// wrong is the known error of a call that was wrong in itself.
func (c catalogue) wrong(text string) error { return c.known(text, Refused) }

// state is the known error of a call that met a state.
func (c catalogue) state(text string) error { return c.known(text, State) }

func (c catalogue) known(text string, class Class) *APIError {
	k, ok := c[text]
	if !ok {
		return &APIError{Code: 500, Description: "Internal Server Error: the simulator has no error " + text, Class: Refused}
	}
	return &APIError{Code: k.Code, Description: k.Description, Class: class}
}
