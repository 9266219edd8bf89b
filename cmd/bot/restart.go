package main

import (
	"reflect"

	"countersign/config"
)

// untaken are the keys, at most two deep, in which a configuration differs from the one
// in force beside what a reload takes: they wait for a new start.
func untaken(inForce, read config.Config) []string {
	read.People, read.Routes, read.Policies = inForce.People, inForce.Routes, inForce.Policies
	read.Telegram.Limits = inForce.Telegram.Limits
	return differing("", reflect.ValueOf(inForce), reflect.ValueOf(read))
}

func differing(above string, a, b reflect.Value) []string {
	var keys []string
	for i := range a.NumField() {
		key := above + a.Type().Field(i).Tag.Get("yaml")
		switch x, y := a.Field(i), b.Field(i); {
		case reflect.DeepEqual(x.Interface(), y.Interface()):
		case above == "" && x.Kind() == reflect.Struct:
			keys = append(keys, differing(key+".", x, y)...)
		default:
			keys = append(keys, key)
		}
	}
	return keys
}
