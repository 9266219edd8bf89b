package config

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const prefix = "COUNTERSIGN_"

// serviceLink fits the variables that Kubernetes makes from the names of services; a
// service called countersign, or countersign-redis, must not stop the bot.
var serviceLink = regexp.MustCompile(`^COUNTERSIGN_([A-Z0-9_]+_)?(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// applyEnvironment lays the COUNTERSIGN_ variables over c.
func applyEnvironment(c *Config, environ []string, seen *places) []Problem {
	variables := make(map[string]string)
	for _, line := range environ {
		if name, text, ok := strings.Cut(line, "="); ok && strings.HasPrefix(name, prefix) {
			variables[name] = text
		}
	}
	names := make([]string, 0, len(variables))
	for name := range variables {
		names = append(names, name)
	}
	// Elements of a list are set in order, so that each may be the next one.
	slices.SortFunc(names, byIndex)

	var problems []Problem
	for _, name := range names {
		if name == "COUNTERSIGN_CONFIG" || strings.HasPrefix(name, "COUNTERSIGN_REQUIRE") {
			continue
		}
		found, ok := find(reflect.ValueOf(c).Elem(), "", strings.TrimPrefix(name, prefix))
		if !ok {
			if !serviceLink.MatchString(name) {
				problems = append(problems, Problem{Where: name, Text: "no key has this variable" +
					didYouMean(name, variableNames(reflect.TypeFor[Config](), strings.TrimSuffix(prefix, "_")))})
			}
			continue
		}
		if found.gap {
			problems = append(problems, Problem{Where: name, Key: found.key, Text: "the element before it is missing: lists are counted from 0, without gaps"})
			continue
		}
		kind, _ := scalarFor(found.value.Type())
		if !kind.set(found.value, variables[name]) {
			problems = append(problems, Problem{Where: name, Key: found.key, Text: fmt.Sprintf(
				"%s is not right; want %s", quote(variables[name]), cmp.Or(found.want, kind.want))})
			continue
		}
		seen.at[found.key] = place{where: name, environment: true}
	}
	return problems
}

type setting struct {
	field
	key string
	gap bool // the list ends before this element
}

// find follows the rest of a variable's name to the scalar it means. Keys have
// underscores of their own, so every key that fits is tried.
func find(v reflect.Value, key, rest string) (setting, bool) {
	switch v.Kind() {
	case reflect.Struct:
		for i, name := range fieldNames(v.Type()) {
			tail, ok := strings.CutPrefix(rest, strings.ToUpper(name))
			if !ok {
				continue
			}
			f := field{v.Field(i), v.Type().Field(i).Tag.Get("want")}
			if found, ok := descend(f, child(key, name), tail); ok {
				return found, true
			}
		}
	case reflect.Slice:
		digits, tail := rest, ""
		if i := strings.IndexByte(rest, '_'); i >= 0 {
			digits, tail = rest[:i], rest[i:]
		}
		index, err := strconv.Atoi(digits)
		if err != nil || !wholeNumber.MatchString(digits) || index < 0 {
			return setting{}, false
		}
		elem := newElement(v.Type().Elem())
		if index < v.Len() {
			elem = v.Index(index)
		}
		found, ok := descend(field{value: elem}, element(key, index), tail)
		if !ok || index < v.Len() {
			return found, ok
		}
		if index > v.Len() {
			found.gap = true
			return found, true
		}
		v.Set(reflect.Append(v, elem))
		return find(v, key, rest) // now it is there, and can be set in place
	}
	return setting{}, false
}

// descend ends at a scalar where nothing is left of the name, and goes deeper where
// something is.
func descend(f field, key, tail string) (setting, bool) {
	if _, isScalar := scalarFor(f.value.Type()); isScalar {
		return setting{field: f, key: key}, tail == ""
	}
	rest, ok := strings.CutPrefix(tail, "_")
	if !ok {
		return setting{}, false
	}
	found, ok := find(f.value, key, rest)
	if ok && found.want == "" {
		found.want = f.want // a list of scalars: what is wanted stands at the list
	}
	return found, ok
}

// variableNames lists the variables below a type; elements of lists stand as 0.
func variableNames(t reflect.Type, name string) []string {
	if _, isScalar := scalarFor(t); isScalar {
		return []string{name}
	}
	var names []string
	switch t.Kind() {
	case reflect.Struct:
		for i, key := range fieldNames(t) {
			names = append(names, variableNames(t.Field(i).Type, name+"_"+strings.ToUpper(key))...)
		}
	case reflect.Slice:
		names = variableNames(t.Elem(), name+"_0")
	}
	return names
}

// byIndex orders names part by part, numbers by size.
func byIndex(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "_"), strings.Split(b, "_"), func(x, y string) int {
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return cmp.Compare(m, n)
		}
		return cmp.Compare(x, y)
	})
}
