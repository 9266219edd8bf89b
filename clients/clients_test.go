package clients_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"countersign/queue"
)

// The claim script that the clients carry with them is the one in queue.
func TestClientsCarryClaimScript(t *testing.T) {
	python, err := os.ReadFile("python/src/countersign/claim.lua")
	if err != nil || string(python) != queue.ClaimScript() {
		t.Errorf("clients/python has another claim script (%v): copy queue/claim.lua", err)
	}
	script, err := os.ReadFile("typescript/src/claim-script.ts")
	if err != nil || !strings.HasSuffix(string(script), "export const claimScript = `"+queue.ClaimScript()+"`;\n") {
		t.Errorf("clients/typescript has another claim script (%v): copy queue/claim.lua", err)
	}
}

// TestClients runs the other languages' own tests against the whole bot on a real
// Redis, where they have no more than a runtime's rights, while Ann taps.
func TestClients(t *testing.T) {
	for language, find := range map[string]func(*testing.T) (*exec.Cmd, error){
		"python": pythonTests, "typescript": nodeTests, "langchain": langchainTests,
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			cmd, err := find(t)
			if err != nil {
				lacking(t, err)
				return
			}
			w := newWorld(t)
			if w == nil {
				return
			}
			if out, err := w.finish(cmd); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// pythonTests finds a Python that has redis-py.
func pythonTests(t *testing.T) (*exec.Cmd, error) {
	t.Helper()
	cmd, err := python("-W", "error::DeprecationWarning:countersign", "-m", "unittest", "discover", "-s", "tests", "-p", "test*.py")
	if err == nil {
		cmd.Dir = "python"
	}
	return cmd, err
}

// python runs a Python that has redis-py, with the client on its path.
func python(arguments ...string) (*exec.Cmd, error) {
	var err error
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if err = exec.Command(name, "-c", "import redis, cryptography").Run(); err != nil {
			continue
		}
		source, err := filepath.Abs("python/src")
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(name, arguments...)
		cmd.Env = []string{"PYTHONPATH=" + source, "PYTHONDONTWRITEBYTECODE=1"}
		return cmd, nil
	}
	return nil, fmt.Errorf("no python3 with redis-py and cryptography: %w", err)
}

// nodeTests are those of the TypeScript client.
func nodeTests(t *testing.T) (*exec.Cmd, error) { return nodePackage(t, "typescript") }

// langchainTests are those of the adapter for LangChain, which needs the client built.
func langchainTests(t *testing.T) (*exec.Cmd, error) {
	if _, err := nodePackage(t, "typescript"); err != nil {
		return nil, err
	}
	return nodePackage(t, "langchain")
}

// nodePackage builds a package and its tests where npm has installed what they
// need, and returns how to run the tests.
func nodePackage(t *testing.T, folder string) (*exec.Cmd, error) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	if err := exec.Command(node, "-e", `process.exit("".isWellFormed ? 0 : 1)`).Run(); err != nil {
		return nil, errors.New("node is older than 20")
	}
	const compiler = "typescript/node_modules/typescript/bin/tsc"
	for _, needed := range []string{compiler, folder + "/node_modules"} {
		if _, err := os.Stat(needed); err != nil {
			return nil, fmt.Errorf("run npm ci in clients/%s: %w", folder, err)
		}
	}
	build.Lock()
	out, err := exec.Command(node, compiler, "-p", folder).CombinedOutput()
	build.Unlock()
	if err != nil {
		t.Fatalf("tsc: %v\n%s", err, out)
	}
	tests, err := filepath.Glob(folder + "/dist/test/*.test.js")
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	cmd := exec.Command(node, "--test")
	for _, file := range tests {
		cmd.Args = append(cmd.Args, "dist/test/"+filepath.Base(file))
	}
	cmd.Dir = folder
	return cmd, nil
}
