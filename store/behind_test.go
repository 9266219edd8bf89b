package store_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"countersign/store"
)

func TestScriptsCarryWhatTheyUse(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(store.ScriptFiles(), "scripts/*.lua")
	if err != nil {
		t.Fatal(err)
	}
	lib, err := fs.ReadFile(store.ScriptFiles(), "scripts/lib.lua")
	if err != nil {
		t.Fatal(err)
	}
	function := regexp.MustCompile(`(?m)^local function (\w+)`)
	for _, name := range names {
		text, err := fs.ReadFile(store.ScriptFiles(), name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/lib.lua") {
			continue
		}
		whole := store.Behind(string(lib), string(text))
		for _, f := range function.FindAllStringSubmatch(whole, -1) {
			if n := len(regexp.MustCompile(`\b`+f[1]+`\b`).FindAllString(whole, -1)); n < 2 {
				t.Errorf("%s carries %s, and does not use it", name, f[1])
			}
		}
		for _, f := range function.FindAllStringSubmatch(string(lib), -1) {
			call := regexp.MustCompile(`\b` + f[1] + `\(`)
			if call.MatchString(string(text)) && !strings.Contains(whole, "local function "+f[1]+"(") {
				t.Errorf("%s calls %s, and does not carry it", name, f[1])
			}
		}
	}
}
