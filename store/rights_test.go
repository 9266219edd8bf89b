package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
	"countersign/store/storetest"
)

// The user of the ACL file lacks nothing, and what is taken from it is missed by name.
func TestRights(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more    []string // rules after those of the file
		streams []string // beside the default one
		want    []string // of what is missing; KEYS stands for how the namespace's keys begin
	}{
		"as the file gives them":  {},
		"no acknowledgement":      {more: []string{"-xack"}, want: []string{"xack KEYSrequests"}},
		"no script":               {more: []string{"-eval"}, want: []string{"eval"}},
		"a stream of elsewhere":   {streams: []string{"elsewhere"}, want: []string{"xgroup elsewhere", "xreadgroup elsewhere", "xack elsewhere"}},
		"another namespace's":     {more: []string{"resetkeys", "clearselectors", "~{other}:*"}, want: []string{"hset KEYSrow:doctor", "set KEYSalive"}},
		"everything is permitted": {more: []string{"~*", "+@all"}, streams: []string{"elsewhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.Real(t)
			if s == nil {
				return
			}
			st, err := store.New(s.Login(t, "bot", c.more...), storetest.Options(s))
			if err != nil {
				t.Fatal(err)
			}
			got, err := st.Rights(t.Context(), append(c.streams, s.Keys().Requests()))
			if err != nil || !got.Known {
				t.Fatalf("%+v, %v", got, err)
			}
			if len(c.want) == 0 && len(got.Missing) > 0 {
				t.Errorf("missing: %v", got.Missing)
			}
			for _, want := range c.want {
				if want = strings.ReplaceAll(want, "KEYS", s.Keys().Prefix()); !slices.Contains(got.Missing, want) {
					t.Errorf("%q is not among what is missing: %v", want, got.Missing)
				}
			}
		})
	}
}

// A server without users is not taken for one that permits everything.
func TestRightsUnknown(t *testing.T) {
	t.Parallel()
	got, err := storetest.NewStore(t, storetest.Embedded(t)).Rights(t.Context(), []string{"x"})
	if err != nil || got.Known || len(got.Missing) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Every command of the scripts is asked about.
func TestRightsCoverTheScripts(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"scripts/*.lua", "../queue/tidy.lua"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	used := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`redis\.p?call\(["'](\w+)["']`).FindAllStringSubmatch(string(text), -1) {
			used[strings.ToLower(m[1])] = true
		}
	}
	if len(used) < 20 {
		t.Fatalf("only %v were found", used)
	}
	for _, command := range storetest.NewStore(t, storetest.Embedded(t)).Needs([]string{"s"}) {
		delete(used, command)
	}
	if diff := cmp.Diff(map[string]bool{}, used); diff != "" {
		t.Errorf("nobody asks whether these may be run (-none +unasked):\n%s", diff)
	}
}
