package config_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"countersign/config"
)

var update = flag.Bool("update", false, "write what comes out into the golden files")

// TestMessages holds one archive for each kind of mistake. Its files are config.yaml
// (absent: no file is given), env with a variable on each line, any further ones that
// config.yaml names, and want: the messages, or nothing for a good configuration.
func TestMessages(t *testing.T) {
	paths, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := make(map[string]string)
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			got := messages(files)
			if *update {
				writeWant(t, path, archive, got)
				return
			}
			if diff := cmp.Diff(files["want"], got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			for _, secret := range []string{"hunter2", "AAHidden", "sesame"} {
				if strings.Contains(got, secret) {
					t.Errorf("the messages repeat %q, which is secret", secret)
				}
			}
		})
	}
}

func messages(files map[string]string) string {
	name := ""
	if _, ok := files["config.yaml"]; ok {
		name = "config.yaml"
	}
	_, err := config.Load(name, strings.Split(files["env"], "\n"), readFrom(files))
	if err == nil {
		return ""
	}
	return err.Error() + "\n"
}

// readFrom reads like os.ReadFile, from a map.
func readFrom(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("no such file or directory")}
		}
		return []byte(text), nil
	}
}

func writeWant(t *testing.T, path string, archive *txtar.Archive, got string) {
	t.Helper()
	for i, f := range archive.Files {
		if f.Name == "want" {
			archive.Files[i].Data = []byte(got)
			if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%s has no file want", path)
}
