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

// The texts whose claims are tested.
const (
	readmeFile   = "README.md"
	protocolFile = "docs/protocol.md"
	commandsFile = "docs/commands.md"
	goFile       = "docs/go.md"
)

// document returns one of our texts.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fences returns a text's fenced blocks of a kind, of which there must be some.
// The kind is what stands after the opening fence.
func fences(t *testing.T, name, kind string) []string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(document(t, name), -1) {
		if m[1] == kind {
			found = append(found, m[2])
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no block ```%s", name, kind)
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
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+(?:[ -][a-z]+)*)([^`]*)` \\|.*\\|.*\\|$").FindAllStringSubmatch(document(t, commandsFile), -1) {
		got = append(got, m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	// The table of decisions has the same form.
	got = slices.DeleteFunc(got, func(name string) bool {
		return slices.Contains([]string{"approved", "rejected", "lapsed", "refused", "withdrawn"}, name)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/commands.md lists other commands than there are (-there +listed):\n%s", diff)
	}
}

// What is linked to is there.
func TestReadmeLinks(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, page := range append(pages, "../../"+readmeFile, "../../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^):#]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// The Go code is that of a test which runs it.
func TestReadmeGo(t *testing.T) {
	code, err := os.ReadFile("readme_go_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, ok := strings.Cut(string(code), "as it stands there.\n\n")
	if !ok {
		t.Fatal("readme_go_test.go does not say where the code of docs/go.md begins")
	}
	if diff := cmp.Diff(shown, fences(t, goFile, "go")[0]); diff != "" {
		t.Errorf("docs/go.md shows other code (-runs +shown):\n%s", diff)
	}
}

// shownAnswer checks that a real answer is the one in docs/commands.md, but for who
// and when.
func shownAnswer(t *testing.T, answer []byte) {
	t.Helper()
	var got, want map[string]any
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(fences(t, commandsFile, "json")[0]), &want); err != nil {
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
		t.Errorf("docs/commands.md shows another answer (-shown +real):\n%s", diff)
	}
}
