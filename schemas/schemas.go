// Package schemas holds the JSON Schemas (draft 2020-12) of the events that
// runtimes exchange with the bot, one file for each type, and checks data by
// them.
//
// They are what is published, and what intake holds every event to: nothing
// that they forbid is taken, whatever the code beside them says. What they
// cannot say stands in their descriptions and is the decoders' alone, in
// package approval, whose words for a rule broken are also those that a runtime
// reads. A test holds that the two agree on every input.
package schemas

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// A Type is the type of an event.
type Type string

// The events in, and the events out.
const (
	Requested     Type = "approval.requested"
	Withdrawn     Type = "approval.withdrawn"
	Claimed       Type = "approval.claimed"
	Reported      Type = "approval.reported"
	Answered      Type = "approval.answered"
	UndoRequested Type = "approval.undo_requested"
)

// Types lists the events that have a schema.
func Types() []Type {
	return []Type{Requested, Withdrawn, Claimed, Reported, Answered, UndoRequested}
}

//go:embed *.json
var files embed.FS

// Text is the schema of an event, as it is published.
func Text(t Type) ([]byte, error) {
	text, err := files.ReadFile(string(t) + ".json")
	if err != nil {
		return nil, fmt.Errorf("schemas: %q has none: %w", t, err)
	}
	return text, nil
}

// A Set is the schemas, each compiled when data is first held to it: that takes a
// millisecond or more, which a start need not wait for. It is safe for concurrent use.
type Set struct {
	byType map[Type]func() (*jsonschema.Schema, error)
}

// New returns the schemas of all types.
func New() *Set {
	s := &Set{byType: make(map[Type]func() (*jsonschema.Schema, error), len(Types()))}
	for _, t := range Types() {
		s.byType[t] = sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(t) })
	}
	return s
}

// Compile compiles those that are not yet compiled.
func (s *Set) Compile() error {
	for _, schema := range s.byType {
		if _, err := schema(); err != nil {
			return err
		}
	}
	return nil
}

func compile(t Type) (*jsonschema.Schema, error) {
	text, err := Text(t)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("schemas: %s: %w", t, err)
	}
	compiler := jsonschema.NewCompiler()
	name := string(t) + ".json"
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("schemas: %s: %w", t, err)
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("schemas: %s: %w", t, err)
	}
	return schema, nil
}

// A Violation says where data is not what its schema asks for.
type Violation struct {
	Field string // a path such as card.lines[3]; "data" for the whole
	Rule  string // in the words of the schema's keyword
}

// Error says for example "card.title: got number, want string".
func (v *Violation) Error() string { return v.Field + ": " + v.Rule }

// Check holds data to the schema of its type. The error is a [*Violation], or
// says that data is no JSON or the type has no schema. Numbers are taken for
// doubles, so the data must be I-JSON, which a decoder of package approval has
// found before.
func (s *Set) Check(t Type, data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return fmt.Errorf("schemas: %s: %w", t, err)
	}
	return s.CheckTree(t, value)
}

// CheckTree is [Set.Check] of data that has been read: the value that encoding/json makes
// of it.
func (s *Set) CheckTree(t Type, value any) error {
	compiled := s.byType[t]
	if compiled == nil {
		return fmt.Errorf("schemas: %q has none", t)
	}
	schema, err := compiled()
	if err != nil {
		return err
	}
	err = schema.Validate(value)
	var broken *jsonschema.ValidationError
	if errors.As(err, &broken) {
		return violation(broken)
	}
	return err
}

// violation names one place: of several the first by its path, so that the same
// data always gets the same words.
func violation(e *jsonschema.ValidationError) *Violation {
	var leaves []*jsonschema.ValidationError
	var gather func(*jsonschema.ValidationError)
	gather = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			leaves = append(leaves, e)
		}
		for _, cause := range e.Causes {
			gather(cause)
		}
	}
	gather(e)
	english := message.NewPrinter(language.English)
	rule := func(e *jsonschema.ValidationError) string { return e.ErrorKind.LocalizedString(english) }
	first := slices.MinFunc(leaves, func(a, b *jsonschema.ValidationError) int {
		if c := slices.Compare(a.InstanceLocation, b.InstanceLocation); c != 0 {
			return c
		}
		return strings.Compare(rule(a), rule(b))
	})
	return &Violation{Field: field(first.InstanceLocation), Rule: rule(first)}
}

// field writes a place as a path.
func field(place []string) string {
	if len(place) == 0 {
		return "data"
	}
	var b strings.Builder
	for i, name := range place {
		switch _, err := strconv.Atoi(name); {
		case err == nil && i > 0:
			b.WriteString("[" + name + "]")
		case i > 0:
			b.WriteString("." + name)
		default:
			b.WriteString(name)
		}
	}
	return b.String()
}
