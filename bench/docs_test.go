package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The document has the lines that this program writes, in their order.
func TestDocumentHasTheRows(t *testing.T) {
	text, err := os.ReadFile("../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), tableBegins)
	part, _, ok := strings.Cut(part, tableEnds)
	if !ok {
		t.Fatal("docs/performance.md has no place for the table")
	}
	names := func(table string) (all []string) {
		for _, m := range regexp.MustCompile(`(?m)^\| ([^|-][^|]*) \|`).FindAllStringSubmatch(table, -1) {
			all = append(all, m[1])
		}
		return all
	}
	got, want := names(part), names(table(newResults()))
	if len(want) != len(rows()) || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("docs/performance.md has other rows than bench writes:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Every picture in the document is one that this program makes.
func TestDocumentHasThePlots(t *testing.T) {
	text, err := os.ReadFile("../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	r := newResults()
	for _, c := range everybody() {
		r.add(intakeFast, c, 1000)
		r.latencies(toCard, c, []float64{1, 2, 3})
		r.latencies(toAnswer, c, []float64{1, 2, 3})
	}
	made := plots(r)
	if len(made) != 3 {
		t.Errorf("%d plots", len(made))
	}
	for name := range made {
		if !strings.Contains(string(text), "("+name+")") {
			t.Errorf("docs/performance.md does not show %s", name)
		}
		if _, err := os.Stat("../docs/" + name); err != nil {
			t.Error(err)
		}
	}
}
