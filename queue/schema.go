package queue

import (
	"errors"

	"countersign/approval"
	"countersign/schemas"
)

// conforms holds an event that a decoder took to the schema that is published for
// it. The decoders know more, and their words are those that runtimes read; so
// this says no only where the two have come apart, and then the schema counts.
func (in *Intake) conforms(event schemas.Type, id string, data *approval.Data) error {
	err := in.schemas.CheckTree(event, data.Tree())
	if err == nil {
		return nil
	}
	rule := &approval.Invalid{ID: id, Code: approval.CodeInvalid, Field: "data", Rule: err.Error()}
	var broken *schemas.Violation
	if errors.As(err, &broken) {
		rule.Field, rule.Rule = broken.Field, broken.Rule
	}
	return rule
}
