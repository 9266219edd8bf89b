package config

import (
	"math"
	"reflect"
	"regexp"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// A scalar is what file and environment know of one type of value.
type scalar struct {
	want   string                                  // what is expected, in words
	fits   func(ast.Node) bool                     // whether YAML read the value as a fitting type
	set    func(v reflect.Value, text string) bool // parse text into v; false: it is none
	secret bool                                    // whether no message may repeat the text
}

// wholeNumber leaves out what people read in two ways: 010, 0x10, 1_000.
var wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// scalarFor returns the rules for a type, false for sections, lists and maps.
func scalarFor(t reflect.Type) (scalar, bool) {
	const text = "a text, in quotes where YAML reads it as something else"
	switch t {
	case reflect.TypeFor[Secret]():
		return scalar{text, isText, func(v reflect.Value, s string) bool {
			v.Set(reflect.ValueOf(NewSecret(s)))
			return true
		}, true}, true
	case reflect.TypeFor[RedisURL]():
		return scalar{text, isText, func(v reflect.Value, s string) bool {
			v.Set(reflect.ValueOf(NewRedisURL(s)))
			return true
		}, true}, true
	case reflect.TypeFor[time.Duration]():
		return scalar{want: "a time with its unit, e.g. 400ms, 60s, 10m or 168h", fits: isText, set: setDuration}, true
	case reflect.TypeFor[Switch]():
		return scalar{want: "on or off", fits: func(n ast.Node) bool { return isText(n) || n.Type() == ast.BoolType }, set: setSwitch}, true
	}
	switch t.Kind() {
	case reflect.String:
		return scalar{want: text, fits: isText, set: func(v reflect.Value, s string) bool {
			v.SetString(s)
			return true
		}}, true
	case reflect.Bool:
		return scalar{want: "true or false", fits: func(n ast.Node) bool { return n.Type() == ast.BoolType }, set: setBool}, true
	case reflect.Int, reflect.Int64:
		return scalar{want: "a whole number", fits: func(n ast.Node) bool { return n.Type() == ast.IntegerType }, set: setInt}, true
	case reflect.Float64:
		return scalar{want: "a number", fits: func(n ast.Node) bool {
			return n.Type() == ast.IntegerType || n.Type() == ast.FloatType
		}, set: setFloat}, true
	}
	return scalar{}, false
}

func isText(n ast.Node) bool { return n.Type() == ast.StringType || n.Type() == ast.LiteralType }

func setDuration(v reflect.Value, text string) bool {
	d, err := time.ParseDuration(text)
	v.SetInt(int64(d))
	return err == nil
}

func setSwitch(v reflect.Value, text string) bool {
	switch text {
	case "on", "true":
		v.SetBool(true)
	case "off", "false":
		v.SetBool(false)
	default:
		return false
	}
	return true
}

func setBool(v reflect.Value, text string) bool {
	v.SetBool(text == "true")
	return text == "true" || text == "false"
}

func setInt(v reflect.Value, text string) bool {
	n, err := strconv.ParseInt(text, 10, v.Type().Bits())
	if err != nil || !wholeNumber.MatchString(text) {
		return false
	}
	v.SetInt(n)
	return true
}

func setFloat(v reflect.Value, text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return false
	}
	v.SetFloat(f)
	return true
}

// scalarText returns the text of a scalar as it was written, without quotes; false for
// anything that is no plain scalar.
func scalarText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// shown is a scalar for a message. It says when a number or a word stood in quotes, or
// did not, since that may be all that is wrong.
func shown(n ast.Node, text string) string {
	switch n.Type() {
	case ast.IntegerType, ast.FloatType, ast.InfinityType, ast.NanType:
		return "the number " + cut(text)
	case ast.BoolType:
		return "the truth value " + cut(text)
	}
	return "the text " + quote(text)
}

func nodeName(n ast.Node) string {
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "a section"
	case ast.SequenceType:
		return "a list"
	case ast.NullType:
		return "nothing"
	}
	return "a single value"
}
