// Package spec reads the machine-readable description of the Bot API and checks
// calls and objects against it.
//
// The description lists every method and type with the names, types and necessity
// of their fields. A type is written as "Integer", "Float", "String", "Boolean",
// "InputFile", "Array of X", or the name of an object. An object type is either a
// list of fields or a union of other object types.
//
// The check is stricter than the real server, which ignores what it does not know:
// here an unknown parameter, an unknown field or a value of another type is an
// [Error] that says where it stands, because in a client it is always a mistake.
package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// API is the description of one version of the Bot API. It never changes after
// [Load] and may be used by several goroutines.
type API struct {
	Version string
	methods map[string]*Method // by name in lower case
	types   map[string]*Type
}

// A Method is one method of the Bot API.
type Method struct {
	Name    string   `json:"name"`
	Fields  []Field  `json:"fields"`
	Returns []string `json:"returns"`
}

// A Type is one object type: Fields, or a union of Subtypes.
type Type struct {
	Name     string   `json:"name"`
	Fields   []Field  `json:"fields"`
	Subtypes []string `json:"subtypes"`
}

// A Field is one parameter of a method or one field of an object.
type Field struct {
	Name     string   `json:"name"`
	Types    []string `json:"types"` // alternatives
	Required bool     `json:"required"`
}

// Load reads a description.
func Load(data []byte) (*API, error) {
	var file struct {
		Version string             `json:"version"`
		Methods map[string]*Method `json:"methods"`
		Types   map[string]*Type   `json:"types"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("read the Bot API description: %w", err)
	}
	if len(file.Methods) == 0 || len(file.Types) == 0 {
		return nil, errors.New("read the Bot API description: no methods or no types")
	}
	api := &API{Version: file.Version, methods: make(map[string]*Method, len(file.Methods)), types: file.Types}
	for name, method := range file.Methods {
		api.methods[strings.ToLower(name)] = method
	}
	return api, nil
}

// Method finds a method; upper and lower case are the same, as on the real server.
func (a *API) Method(name string) (*Method, bool) {
	m, ok := a.methods[strings.ToLower(name)]
	return m, ok
}

// field finds a field by name.
func field(fields []Field, name string) (Field, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// An Error says what is wrong with a call or an object, and where.
type Error struct {
	Path   string // e.g. reply_markup.inline_keyboard[0][1].style
	Reason string // e.g. unknown field
}

// Error implements error.
func (e *Error) Error() string { return e.Path + ": " + e.Reason }
