package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Value is one parameter as it came over the wire: JSON of a JSON body, Text of a
// form or a query string, or an uploaded File.
type Value struct {
	JSON json.RawMessage
	Text string
	File bool
}

// CheckCall compares the parameters of a call with the method's description. The
// error, if any, is an [*Error].
func (a *API) CheckCall(m *Method, params map[string]Value) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		f, ok := field(m.Fields, name)
		if !ok {
			if params[name].File {
				continue // a file that another parameter names as attach://name
			}
			return &Error{name, "unknown parameter of " + m.Name}
		}
		if e := a.checkParam(f, params[name]); e != nil {
			return e
		}
	}
	for _, f := range m.Fields {
		if _, ok := params[f.Name]; f.Required && !ok {
			return &Error{f.Name, "required parameter of " + m.Name + " is missing"}
		}
	}
	return nil
}

func (a *API) checkParam(f Field, v Value) *Error {
	if v.File {
		if slices.Contains(f.Types, "InputFile") {
			return nil
		}
		return &Error{f.Name, "a file was sent where " + alternatives(f.Types) + " is expected"}
	}
	if v.JSON != nil {
		decoded, err := decode(v.JSON)
		if err != nil {
			return &Error{f.Name, "not valid JSON"}
		}
		// An object may also be sent as the text of its JSON, as forms do.
		if text, ok := decoded.(string); ok {
			return a.checkText(f, text)
		}
		return a.check(f.Types, decoded, f.Name)
	}
	return a.checkText(f, v.Text)
}

// checkText checks a value that came as text, where numbers, booleans and objects
// are written out.
func (a *API) checkText(f Field, text string) *Error {
	var failure *Error
	for _, typ := range f.Types {
		e := a.checkTextAs(typ, text, f.Name)
		if e == nil {
			return nil
		}
		failure = deeper(failure, e)
	}
	return failure
}

func (a *API) checkTextAs(typ, text, path string) *Error {
	switch typ {
	case "String":
		return nil
	case "InputFile":
		if strings.HasPrefix(text, "attach://") {
			return nil
		}
		return &Error{path, "an uploaded file is expected"}
	case "Boolean", "True":
		if _, ok := ParseBool(text); ok {
			return nil
		}
		return &Error{path, "a boolean is expected"}
	case "Integer", "Float":
		return a.checkOne(typ, json.Number(text), path)
	}
	decoded, err := decode([]byte(text))
	if err != nil {
		return &Error{path, "JSON of " + typ + " is expected"}
	}
	return a.checkOne(typ, decoded, path)
}

// ParseBool reads a boolean as the server does in forms: true, yes and 1, or false,
// no, 0 and nothing, in any case.
func ParseBool(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "true", "yes", "1":
		return true, true
	case "false", "no", "0", "":
		return false, true
	}
	return false, false
}

// CheckObject compares a JSON object with the named type. The error, if any, is an
// [*Error] whose path begins with the type's name.
func (a *API) CheckObject(typ string, raw json.RawMessage) error {
	decoded, err := decode(raw)
	if err != nil {
		return &Error{typ, "not valid JSON"}
	}
	if e := a.checkOne(typ, decoded, typ); e != nil {
		return e
	}
	return nil
}

// CheckResult compares the result of a call with what the method's description says it
// returns. The error, if any, is an [*Error] whose path begins with "result".
func (a *API) CheckResult(m *Method, raw json.RawMessage) error {
	decoded, err := decode(raw)
	if err != nil {
		return &Error{"result", "not valid JSON"}
	}
	if e := a.check(m.Returns, decoded, "result"); e != nil {
		return e
	}
	return nil
}

func (a *API) check(types []string, v any, path string) *Error {
	var failure *Error
	for _, typ := range types {
		e := a.checkOne(typ, v, path)
		if e == nil {
			return nil
		}
		failure = deeper(failure, e)
	}
	return failure
}

// deeper keeps the error that stands deepest in the object: of several alternatives
// it belongs to the one that was meant.
func deeper(old, e *Error) *Error {
	if old == nil || len(e.Path) > len(old.Path) {
		return e
	}
	return old
}

func (a *API) checkOne(typ string, v any, path string) *Error {
	if element, ok := strings.CutPrefix(typ, "Array of "); ok {
		list, ok := v.([]any)
		if !ok {
			return &Error{path, "an array is expected"}
		}
		for i, item := range list {
			if e := a.checkOne(element, item, fmt.Sprintf("%s[%d]", path, i)); e != nil {
				return e
			}
		}
		return nil
	}
	var ok bool
	switch typ {
	case "Integer":
		n, isNumber := v.(json.Number)
		_, err := strconv.ParseInt(n.String(), 10, 64)
		ok = isNumber && err == nil
	case "Float":
		n, isNumber := v.(json.Number)
		_, err := n.Float64()
		ok = isNumber && err == nil
	case "String", "InputFile":
		_, ok = v.(string)
	case "Boolean", "True":
		_, ok = v.(bool)
	default:
		return a.checkNamed(typ, v, path)
	}
	if !ok {
		return &Error{path, typ + " is expected"}
	}
	return nil
}

func (a *API) checkNamed(name string, v any, path string) *Error {
	typ, known := a.types[name]
	if !known {
		return &Error{path, "the description has no type " + name}
	}
	if len(typ.Subtypes) > 0 {
		return a.check(typ.Subtypes, v, path)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return &Error{path, "an object (" + name + ") is expected"}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		f, ok := field(typ.Fields, key)
		if !ok {
			return &Error{path + "." + key, "unknown field of " + name}
		}
		if e := a.check(f.Types, object[key], path+"."+key); e != nil {
			return e
		}
	}
	for _, f := range typ.Fields {
		if _, ok := object[f.Name]; f.Required && !ok {
			return &Error{path + "." + f.Name, "required field of " + name + " is missing"}
		}
	}
	return nil
}

func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func alternatives(types []string) string { return strings.Join(types, " or ") }
