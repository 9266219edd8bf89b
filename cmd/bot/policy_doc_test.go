package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/config"
)

const policyFile = "docs/policy.md"

// The page's example is a good configuration, and its request comes to what is shown.
func TestPolicyPageExample(t *testing.T) {
	cfg, err := config.Parse("config.yaml", []byte(fences(t, policyFile, "yaml config")[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	q, err := approval.Decode([]byte(fences(t, policyFile, "json request")[0]))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := explain(&got, &cfg, &q); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fences(t, policyFile, "text explained")[0], got.String()); diff != "" {
		t.Errorf("%s shows another explanation (-shown +real):\n%s", policyFile, diff)
	}
}

// The page names every reason that there is, and no other.
func TestPolicyPageReasons(t *testing.T) {
	code, err := os.ReadFile(filepath.Join("../..", "policy/reason.go"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, m := range regexp.MustCompile(`Reason = "([a-z_]+)"`).FindAllStringSubmatch(string(code), -1) {
		want = append(want, m[1])
	}
	_, table, _ := strings.Cut(document(t, policyFile), "\n## Reasons\n")
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(table, -1) {
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			got = append(got, m[1])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s names other reasons than there are (-there +named):\n%s", policyFile, diff)
	}
}
