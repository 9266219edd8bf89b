package main

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// readme returns the README.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fences returns the README's fenced blocks of a kind, of which there must be
// some. The kind is what stands after the opening fence.
func fences(t *testing.T, kind string) []string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(readme(t), -1) {
		if m[1] == kind {
			found = append(found, m[2])
		}
	}
	if len(found) == 0 {
		t.Fatalf("README.md has no block ```%s", kind)
	}
	return found
}

// The table of commands names those that there are.
func TestReadmeTable(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.Name("countersign"), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, leaf := range parser.Model.Leaves(true) {
		var words []string
		for n := leaf; n.Type == kong.CommandNode; n = n.Parent {
			words = slices.Insert(words, 0, n.Name)
		}
		want = append(want, strings.Join(words, " "))
	}
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+(?: [a-z]+)*)([^`]*)` \\|.*\\|.*\\|$").FindAllStringSubmatch(readme(t), -1) {
		got = append(got, m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	// The table of decisions has the same form.
	got = slices.DeleteFunc(got, func(name string) bool {
		return slices.Contains([]string{"approved", "rejected", "lapsed", "refused", "withdrawn"}, name)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("README.md lists other commands than there are (-there +listed):\n%s", diff)
	}
}

// What is linked to is there.
func TestReadmeLinks(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^):#]+)\)`).FindAllStringSubmatch(readme(t), -1)
	if len(links) == 0 {
		t.Fatal("README.md has no links")
	}
	for _, m := range links {
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Error(err)
		}
	}
}

// The Go code is that of a test which runs it.
func TestReadmeGo(t *testing.T) {
	code, err := os.ReadFile("readme_go_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(code), "// cleanUp asks")
	if !ok {
		t.Fatal("the function cleanUp is not where it was")
	}
	if diff := cmp.Diff("// cleanUp asks"+after, fences(t, "go")[0]); diff != "" {
		t.Errorf("README.md shows other code (-runs +shown):\n%s", diff)
	}
}

// shownAnswer checks that a real answer is the one in the README, but for who
// and when.
func shownAnswer(t *testing.T, answer []byte) {
	t.Helper()
	var got, want map[string]any
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(fences(t, "json")[0]), &want); err != nil {
		t.Fatal(err)
	}
	for _, a := range []map[string]any{got, want} {
		by, ok := a["by"].(map[string]any)
		if !ok {
			t.Fatalf("by is missing in %v", a)
		}
		a["at"], a["by"] = "", slices.Sorted(maps.Keys(by))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("README.md shows another answer (-shown +real):\n%s", diff)
	}
}
