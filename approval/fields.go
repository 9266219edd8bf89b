package approval

import (
	"bytes"
	"fmt"
	"iter"
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

// An object is one JSON object, and where it stands. One without a value has no fields.
type object struct {
	path string // "" for the outer one, else with the dot: "card."
	value
}

// openEvent reads data as one I-JSON object and finds its approval_id. Where
// the object is nil nothing in data can be used.
func (d *Data) openEvent() (*fields, *object) {
	f := &fields{}
	if len(d.raw) > MaxData {
		f.id = scanID(d.raw)
		f.bad(CodeTooLarge, "data", "over 256 KiB")
		return f, nil
	}
	return f, f.open(d)
}

// open reads data as an object with a usable approval_id.
func (f *fields) open(d *Data) *object {
	broken := d.broken
	if broken != nil && broken.broken {
		f.invalid("data", broken.rule)
		return nil
	}
	if kindOf(d.raw) != '{' {
		f.invalid("data", "must be a JSON object")
		return nil
	}
	id, wrong := d.readID()
	switch f.id = id; {
	case wrong != "":
		f.invalid("approval_id", wrong)
		return nil
	case broken != nil:
		f.invalid(orData(broken.path), broken.rule)
		return nil
	}
	return &object{value: d.doc.root()}
}

// readID returns the approval_id of an object, or why there is none to use.
func (d *Data) readID() (id, wrong string) {
	if d.doc == nil {
		return readID(d.raw)
	}
	v := d.doc.root().member("approval_id")
	if !v.there() {
		return "", ruleRequired
	}
	return checkID(v.raw())
}

// readID is the same for a text that is JSON, whatever other rule it breaks.
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
		seen = true
		id, wrong = checkID(value)
	}
	return id, wrong
}

// checkID reads a value as an approval_id.
func checkID(value []byte) (id, wrong string) {
	if kindOf(value) != '"' {
		return "", "must be a string"
	}
	if id = textOf(value); !ValidID(id) {
		return "", ruleID
	}
	return id, ""
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

// at returns the value of a field, null or not.
func (o *object) at(name string) value {
	if !o.there() {
		return value{}
	}
	return o.member(name)
}

// get returns the value of an optional field, none if it is absent or null.
func (o *object) get(name string) value {
	if v := o.at(name); v.kind() != 'n' {
		return v
	}
	return value{}
}

// has reports whether a field is there, null or not.
func (o *object) has(name string) bool { return o.at(name).there() }

// text reads an optional string of at most most code points.
func (f *fields) text(o *object, name string, most int) string {
	v := o.get(name)
	if !v.there() {
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
func readText(v value, most int) (s, wrong string) {
	if v.kind() != '"' {
		return "", "must be a string"
	}
	s = v.text()
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
	if !v.there() {
		return 0, false
	}
	n, err := strconv.Atoi(string(v.raw()))
	switch {
	case v.kind() != '0' || err != nil:
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
	switch v := o.get(name); v.kind() {
	case 0:
		return false, false
	case 't', 'f':
		return v.kind() == 't', true
	}
	f.invalid(o.path+name, "must be true or false")
	return false, false
}

// list reads an optional list of at most most values, none if there is none to use,
// and how many values it has.
func (f *fields) list(o *object, name string, most int) (v value, n int) {
	v = o.get(name)
	if !v.there() {
		return v, 0
	}
	if v.kind() != '[' {
		f.invalid(o.path+name, "must be a list")
		return value{}, 0
	}
	if n = v.len(); n > most {
		f.invalid(o.path+name, fmt.Sprintf("over %s items", thousands(most)))
		return value{}, 0
	}
	return v, n
}

// items yields the objects of a list that is there, each with its number. What is no
// object is a rule broken.
func (f *fields) items(name string, list value) iter.Seq2[int, object] {
	return func(yield func(int, object) bool) {
		i := -1
		for v := range list.children() {
			i++
			path := name + "[" + strconv.Itoa(i) + "]"
			if v.kind() != '{' {
				f.invalid(path, "must be an object")
				continue
			}
			if !yield(i, object{path + ".", v}) {
				return
			}
		}
	}
}

// object reads an optional object. An absent one has no fields.
func (f *fields) object(o *object, name string) object {
	v := o.get(name)
	if v.there() && v.kind() != '{' {
		f.invalid(o.path+name, "must be an object")
		v = value{}
	}
	return object{o.path + name + ".", v}
}

// moment reads a time that is there.
func (f *fields) moment(o *object, name string) time.Time {
	v := o.at(name)
	if v.kind() != '"' {
		f.invalid(o.path+name, "must be a string")
		return time.Time{}
	}
	t, err := parseTime(v.text())
	if err != nil {
		f.invalid(o.path+name, err.Error())
	}
	return t
}

// seconds reads a number of seconds that is there.
func (f *fields) seconds(o *object, name string) time.Duration {
	v := o.at(name)
	if v.kind() != '0' {
		f.invalid(o.path+name, "must be a number of seconds")
		return 0
	}
	n, err := strconv.ParseFloat(string(v.raw()), 64)
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
