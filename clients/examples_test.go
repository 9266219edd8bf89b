package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// build is held while a package of Node's is built, since several tests need the
// same one.
var build sync.Mutex

// TestExamples runs every example to the end, with a runtime's rights: request, Ann's
// taps, claim, report, and the final card.
func TestExamples(t *testing.T) {
	for name, example := range map[string]struct {
		title, says string
		find        func(*testing.T) (*exec.Cmd, error)
	}{
		"go":                   {"Trash 1 email, says Go", `running: trash_email {"id":"m7"}`, goExample},
		"python":               {"Trash 1 email, says Python", "running: trash_email m7", pythonExample("trash_one_email.py", "mail-7")},
		"typescript":           {"Trash 1 email, says Node", "running: trash_email m7", nodeExample("typescript", "trash-one-email.mjs", "mail-7")},
		"langchain":            {"Trash 1 email, says LangChain", "running: trash_email m7", nodeExample("langchain", "langchain.mjs", "call-7")},
		"iris, a row":          {"Trash 2 emails, says IRIS", "respond_to_approval: row-7 approve", pythonExample("iris_row.py", "row-7")},
		"iris, a confirmation": {"Invite Ben to lunch, says IRIS", "next turn: approve", pythonExample("iris_confirmation.py", "c-7")},
		"abstractruntime":      {"Run delete_files", `"payload": {"approved": true}`, pythonExample("abstractruntime_wait.py", "w-7")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, err := example.find(t)
			if err != nil {
				lacking(t, err)
				return
			}
			w := newWorld(t)
			if w == nil {
				return
			}
			tapped := make(chan error, 1)
			go func() {
				_, err := w.act("approve", example.title, "")
				tapped <- err
			}()
			out, err := w.finish(cmd)
			if err != nil || !strings.Contains(out, example.says) {
				t.Errorf("the example: %v\n%s", err, out)
			}
			if err := <-tapped; err != nil {
				t.Error(err)
			}
			if _, err := w.act("card", example.title, "Done"); err != nil {
				t.Error(err)
			}
		})
	}
}

// No example is longer than fits beside its card.
func TestExamplesAreShort(t *testing.T) {
	const most = 25
	for _, pattern := range []string{"*.py", "*.mjs", "*/*.go"} {
		files, err := filepath.Glob("../examples/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no examples like %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for line := range strings.Lines(string(text)) {
				if strings.TrimSpace(line) != "" {
					n++
				}
			}
			if n > most {
				t.Errorf("%s has %d lines that are not blank, want at most %d", file, n, most)
			}
		}
	}
}

func goExample(t *testing.T) (*exec.Cmd, error) {
	cmd := exec.Command(filepath.Join(program(t), "trash-one-email"), "mail-7")
	cmd.Dir = t.TempDir() // its ledger is there
	return cmd, nil
}

func pythonExample(file string, arguments ...string) func(*testing.T) (*exec.Cmd, error) {
	return func(*testing.T) (*exec.Cmd, error) {
		cmd, err := python(append([]string{file}, arguments...)...)
		if err == nil {
			cmd.Dir = "../examples"
		}
		return cmd, err
	}
}

// nodeExample runs a copy of an example within a built package, by whose name it
// finds it.
func nodeExample(folder, file string, arguments ...string) func(*testing.T) (*exec.Cmd, error) {
	return func(t *testing.T) (*exec.Cmd, error) {
		cmd, err := nodePackage(t, "typescript")
		if err == nil && folder != "typescript" {
			cmd, err = nodePackage(t, folder)
		}
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile("../examples/" + file)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, "dist", file), text, 0o600); err != nil {
			return nil, err
		}
		cmd.Args = append([]string{cmd.Path, "dist/" + file}, arguments...)
		return cmd, nil
	}
}
