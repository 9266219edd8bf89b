package countersign_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReportsFromTheField wants every row of that part of the document to name
// tests, or to say why a fault cannot occur, and all tests that it names to be there.
func TestReportsFromTheField(t *testing.T) {
	doc, err := os.ReadFile("docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(doc), "\n## Reports from the field\n")
	if !ok {
		t.Fatal("docs/reliability.md has no such part")
	}
	part, _, _ = strings.Cut(part, "\n## ")
	there := testNames(t)
	name := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`")
	rows := 0
	for line := range strings.Lines(part) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| report |") {
			continue
		}
		rows++
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			t.Errorf("not three cells: %s", line)
			continue
		}
		named := name.FindAllStringSubmatch(cells[2], -1)
		if len(named) == 0 && !strings.HasPrefix(cells[2], "cannot occur: ") {
			t.Errorf("no test and no reason: %s", line)
		}
		for _, n := range named {
			if !there[n[1]] {
				t.Errorf("there is no %s: %s", n[1], line)
			}
		}
	}
	const known = 41
	if rows < known {
		t.Errorf("%d rows, want one for each of %d reports", rows, known)
	}
}

// testNames are the names of all tests of this module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	head := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range head.FindAllStringSubmatch(string(data), -1) {
			names[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
