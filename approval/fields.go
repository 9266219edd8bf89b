package approval

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	ruleRequired = "required"
	ruleID       = "must be 1-128 of A-Za-z0-9._:-"

	maxInteger = 1<<53 - 1
)

// fields reads the fields of one event. It keeps the first rule broken and
// goes on, so that whatever else can be read is there for a refusal to name.
type fields struct {
	id     string
	wrong  *Invalid
	faults int // how many rules were broken so far
}

// An object is the fields of one JSON object, and where it stands.
type object struct {
	path   string // "" for the outer one, else with the dot: "card."
	values map[string][]byte
}

// openEvent reads data as one I-JSON object and finds its approval_id. Where
// the object is nil nothing in data can be used.
func openEvent(data []byte) (*fields, *object) {
	f := &fields{}
	if len(data) > MaxData {
		f.id = scanID(data)
		f.bad(CodeTooLarge, "data", "over 256 KiB")
		return f, nil
	}
	return f, f.open(data, MaxNesting)
}

// open reads data as an object with a usable approval_id, nested at most depth.
func (f *fields) open(data []byte, depth int) *object {
	broken := checkJSON(data, depth)
	if broken != nil && broken.broken {
		f.invalid("data", broken.rule)
		return nil
	}
	if kindOf(data) != '{' {
		f.invalid("data", "must be a JSON object")
		return nil
	}
	id, wrong := readID(data)
	switch f.id = id; {
	case wrong != "":
		f.invalid("approval_id", wrong)
		return nil
	case broken != nil:
		f.invalid(orData(broken.path), broken.rule)
		return nil
	}
	return openObject("", data)
}

func openObject(path string, raw []byte) *object {
	o := &object{path: path, values: make(map[string][]byte, 16)}
	for key, value := range members(raw) {
		o.values[string(key)] = value
	}
	return o
}

// readID returns the approval_id of an object, or why there is none to use.
func readID(object []byte) (id, wrong string) {
	wrong = ruleRequired
	seen := false
	for key, value := range members(object) {
		switch {
		case string(key) != "approval_id":
			continue
		case seen:
			return "", "given twice"
		}
		seen, wrong = true, ""
		if kindOf(value) != '"' {
			id, wrong = "", "must be a string"
		} else if id = textOf(value); !ValidID(id) {
			id, wrong = "", ruleID
		}
	}
	return id, wrong
}

// scanID looks for the id in data too large to read.
func scanID(data []byte) string {
	if len(data) > MaxIDScan || checkGrammar(data) != nil || kindOf(data) != '{' {
		return ""
	}
	id, _ := readID(data)
	return id
}

func (f *fields) bad(code, field, rule string) {
	f.faults++
	if f.wrong == nil {
		f.wrong = &Invalid{ID: f.id, Code: code, Field: field, Rule: rule}
	}
}

func (f *fields) invalid(field, rule string) { f.bad(CodeInvalid, field, rule) }

// err is the first rule broken. It is nil, not a nil *Invalid, if there is none.
func (f *fields) err() error {
	if f.wrong == nil {
		return nil
	}
	return f.wrong
}

// get returns the value of an optional field, nil if it is absent or null.
func (o *object) get(name string) []byte {
	if v := o.values[name]; kindOf(v) != 'n' {
		return v
	}
	return nil
}

// has reports whether a field is there, null or not.
func (o *object) has(name string) bool { return o.values[name] != nil }

// text reads an optional string of at most most code points.
func (f *fields) text(o *object, name string, most int) string {
	v := o.get(name)
	if v == nil {
		return ""
	}
	s, wrong := readText(v, most)
	if wrong != "" {
		f.invalid(o.path+name, wrong)
	}
	return s
}

// readText reads a value as a string of at most most code points, or says why
// it is none.
func readText(v []byte, most int) (s, wrong string) {
	if kindOf(v) != '"' {
		return "", "must be a string"
	}
	s = textOf(v)
	if len(s) > most && utf8.RuneCountInString(s) > most {
		return "", fmt.Sprintf("over %s characters", thousands(most))
	}
	return s, ""
}

// required is text for a string that must be there and not empty.
func (f *fields) required(o *object, name string, most int) string {
	s := f.text(o, name, most)
	if s == "" {
		f.invalid(o.path+name, ruleRequired)
	}
	return s
}

// integer reads an optional integer; ok is false where there is none to use.
func (f *fields) integer(o *object, name string, least, most int) (n int, ok bool) {
	v := o.get(name)
	if v == nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(v))
	switch {
	case kindOf(v) != '0' || err != nil:
		f.invalid(o.path+name, "must be an integer")
		return 0, false
	case n < least || n > most:
		f.invalid(o.path+name, fmt.Sprintf("must be from %s to %s", thousands(least), thousands(most)))
		return 0, false
	}
	return n, true
}

// boolean reads an optional boolean; ok is false where there is none to use.
func (f *fields) boolean(o *object, name string) (b, ok bool) {
	v := o.get(name)
	switch kindOf(v) {
	case 0:
		return false, false
	case 't', 'f':
		return kindOf(v) == 't', true
	}
	f.invalid(o.path+name, "must be true or false")
	return false, false
}

// list reads an optional list of at most most values, nil if there is none.
func (f *fields) list(o *object, name string, most int) [][]byte {
	v := o.get(name)
	if v == nil {
		return nil
	}
	if kindOf(v) != '[' {
		f.invalid(o.path+name, "must be a list")
		return nil
	}
	values := [][]byte{}
	for i, value := range elements(v) {
		if i == most {
			f.invalid(o.path+name, fmt.Sprintf("over %s items", thousands(most)))
			return nil
		}
		values = append(values, value)
	}
	return values
}

// object reads an optional object. An absent one has no fields.
func (f *fields) object(o *object, name string) *object {
	v := o.get(name)
	if v != nil && kindOf(v) != '{' {
		f.invalid(o.path+name, "must be an object")
		v = nil
	}
	return openObject(o.path+name+".", v)
}

// moment reads a time that is there.
func (f *fields) moment(o *object, name string) time.Time {
	v := o.values[name]
	if kindOf(v) != '"' {
		f.invalid(o.path+name, "must be a string")
		return time.Time{}
	}
	t, err := parseTime(textOf(v))
	if err != nil {
		f.invalid(o.path+name, err.Error())
	}
	return t
}

// seconds reads a number of seconds that is there.
func (f *fields) seconds(o *object, name string) time.Duration {
	v := o.values[name]
	if kindOf(v) != '0' {
		f.invalid(o.path+name, "must be a number of seconds")
		return 0
	}
	n, err := strconv.ParseFloat(string(v), 64)
	switch {
	case err != nil || n < MinExpiry.Seconds():
		f.invalid(o.path+name, "must be at least 5 seconds")
		return 0
	case n > math.MaxInt64/float64(time.Second)/2:
		f.invalid(o.path+name, "too far ahead")
		return 0
	}
	whole, part := math.Modf(n)
	return time.Duration(whole)*time.Second + time.Duration(part*1e9)
}

// kindOf tells a checked value by its first byte: one of {["tfn, 0 for a
// number, or the zero byte where there is nothing.
func kindOf(v []byte) byte {
	v = bytes.TrimLeft(v, " \t\r\n")
	switch {
	case len(v) == 0:
		return 0
	case v[0] == '-' || isDigit(v[0]):
		return '0'
	}
	return v[0]
}

// textOf returns the text of a checked string.
func textOf(v []byte) string { return string(unescape(v[1 : len(v)-1])) }

func orData(path string) string {
	if path == "" {
		return "data"
	}
	return path
}

// thousands writes 5000 as 5,000.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
