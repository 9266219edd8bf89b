package config_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"countersign"
	"countersign/config"
)

// FuzzConfig looks for a panic, for a mistake that is not told as one, and for a
// configuration that Parse takes and Validate does not.
func FuzzConfig(f *testing.F) {
	f.Add(countersign.ExampleConfig(), "COUNTERSIGN_PEOPLE_0_ID=1")
	paths, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var data []byte
		var environ string
		for _, file := range archive.Files {
			switch file.Name {
			case "config.yaml":
				data = file.Data
			case "env":
				environ = string(file.Data)
			}
		}
		f.Add(data, environ)
	}
	f.Fuzz(func(t *testing.T, data []byte, environ string) {
		c, err := config.Parse("fuzz.yaml", data, strings.Split(environ, "\n"))
		if err == nil {
			if err := c.Validate(); err != nil {
				t.Fatalf("taken, and then: %v", err)
			}
			c.Route("iris", config.KindToolCall, []string{"trash_a"}, "destroy")
			c.StreamFor("iris")
			return
		}
		mistakes, ok := errors.AsType[*config.Error](err)
		if !ok || len(mistakes.Problems) == 0 {
			t.Fatalf("the error is %T: %v", err, err)
		}
		for _, p := range mistakes.Problems {
			if p.Where == "" || p.Text == "" {
				t.Errorf("a problem without place or text: %+v", p)
			}
		}
	})
}
