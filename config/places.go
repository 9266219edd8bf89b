package config

import (
	"fmt"
	"strings"
)

// places remembers where each key got its value, so that mistakes found later can name
// the line or the variable.
type places struct {
	name string
	at   map[string]place
}

type place struct {
	where       string
	environment bool
}

func newPlaces(name string) *places {
	return &places{name: name, at: make(map[string]place)}
}

// locate turns problems that name only a key into an [*Error] that says where it stands.
func (p *places) locate(problems []Problem) error {
	for i := range problems {
		problems[i].Where = p.where(problems[i].Key)
	}
	return &Error{Problems: problems}
}

// where finds the place of a key, else that of the nearest key around it.
func (p *places) where(key string) string {
	for key != "" {
		if found, ok := p.at[key]; ok {
			return found.where
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	if p.name == "" {
		return "environment"
	}
	return p.name
}

// child and element name what lies below a key.
func child(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func element(key string, index int) string { return fmt.Sprintf("%s[%d]", key, index) }
