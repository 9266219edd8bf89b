package countersign_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table of rooms in the architecture page is the one that TestRooms keeps.
func TestArchitectureTable(t *testing.T) {
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/]+)/` \\|.*\\| ([^|]*) \\|$").FindAllStringSubmatch(string(text), -1) {
		got[m[1]] = m[2]
	}
	want := map[string]string{}
	for name, row := range rooms() {
		if _, err := os.Stat(name); err != nil || name == "." || row.lent || within(name, rooms()) {
			continue
		}
		switch own := slices.DeleteFunc(slices.Clone(row.ours), func(o string) bool { return strings.HasPrefix(o, name+"/") }); {
		case name == wiring:
			want[name] = "all"
		case len(row.ours) == 0:
			want[name] = "none"
		case len(own) == 0:
			want[name] = "none outside it"
		default:
			want[name] = strings.Join(own, ", ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/ARCHITECTURE.md has another table (-kept +written):\n%s", diff)
	}
}

// within reports whether a room is a part of another.
func within(name string, all map[string]room) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(other string) bool {
		return strings.HasPrefix(name, other+"/")
	})
}
