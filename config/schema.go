package config

import (
	"reflect"
	"regexp"
	"strconv"
)

// This file reads the shape of the configuration off the Go types: a key is a field's
// yaml tag, and the want tag, where there is one, says what the key expects.

type field struct {
	value reflect.Value
	want  string
}

func fieldNamed(v reflect.Value, name string) (field, bool) {
	for i, n := range fieldNames(v.Type()) {
		if n == name {
			return field{v.Field(i), v.Type().Field(i).Tag.Get("want")}, true
		}
	}
	return field{}, false
}

func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("yaml")
	}
	return names
}

// newElement returns a list element with its defaults.
func newElement(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	switch e := v.Interface().(type) {
	case *Stream:
		*e = Stream{Runtimes: []string{"*"}, IDs: "*"}
	case *RouteRule:
		*e = RouteRule{Quorum: 1}
	case *Policy:
		*e = Policy{Notify: NotifySilent}
	}
	return v.Elem()
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// plainKey is a key for a message. What is no plain word is masked: it may be a secret
// that lost its key.
func plainKey(name string) string {
	if len(name) <= 40 && plainWord.MatchString(name) {
		return name
	}
	return masked
}

// quote and cut bound what a message repeats.
func quote(text string) string { return strconv.Quote(cut(text)) }

func cut(text string) string {
	const most = 80
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
