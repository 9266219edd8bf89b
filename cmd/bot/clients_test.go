package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"countersign/queue"
	"countersign/simulator"
	"countersign/store/storetest"
)

// requireClients names the variable that makes a client which cannot be tested a
// failure.
const requireClients = "COUNTERSIGN_REQUIRE_CLIENTS"

// The claim script that the clients carry with them is the one in queue.
func TestClientsCarryClaimScript(t *testing.T) {
	python, err := os.ReadFile("../../clients/python/src/countersign/claim.lua")
	if err != nil || string(python) != queue.ClaimScript() {
		t.Errorf("clients/python has another claim script (%v): copy queue/claim.lua", err)
	}
	script, err := os.ReadFile("../../clients/typescript/src/claim-script.ts")
	if err != nil || !strings.HasSuffix(string(script), "export const claimScript = `"+queue.ClaimScript()+"`;\n") {
		t.Errorf("clients/typescript has another claim script (%v): copy queue/claim.lua", err)
	}
}

// TestClients runs the other languages' own tests against the whole bot on a real
// Redis, where they have no more than a runtime's rights, while Ann taps.
func TestClients(t *testing.T) {
	for language, find := range map[string]func(*testing.T) (*exec.Cmd, error){"python": pythonTests, "typescript": nodeTests} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			cmd, err := find(t)
			server := storetest.Real(t)
			if err == nil && server == nil {
				err = errors.New("no redis-server")
			}
			if err != nil {
				if os.Getenv(requireClients) != "" {
					t.Fatalf("%s is set, but the client cannot be tested: %v", requireClients, err)
				}
				t.Logf("not tested: %v", err)
				return
			}
			newClientStage(t, server).run(cmd)
		})
	}
}

// pythonTests finds a Python that has redis-py.
func pythonTests(t *testing.T) (*exec.Cmd, error) {
	t.Helper()
	python, err := findPython(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python, "-W", "error::DeprecationWarning:countersign", "-m", "unittest", "discover", "-s", "tests", "-p", "test*.py")
	cmd.Dir = "../../clients/python"
	cmd.Env = append(os.Environ(), "PYTHONPATH=src", "PYTHONDONTWRITEBYTECODE=1")
	return cmd, nil
}

func findPython(t *testing.T) (string, error) {
	t.Helper()
	var err error
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if err = exec.Command(name, "-c", "import redis").Run(); err == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("no python3 with redis-py: %w", err)
}

// nodeTests builds the package and its tests where npm has installed what they need.
func nodeTests(t *testing.T) (*exec.Cmd, error) {
	t.Helper()
	const folder = "../../clients/typescript"
	node, err := findNode(t)
	if err != nil {
		return nil, err
	}
	build := exec.Command(node, "node_modules/typescript/bin/tsc", "-p", ".")
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("tsc: %v\n%s", err, out)
	}
	tests, err := filepath.Glob(folder + "/dist/test/*.test.js")
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	arguments := []string{"--test"}
	for _, file := range tests {
		arguments = append(arguments, "dist/test/"+filepath.Base(file))
	}
	cmd := exec.Command(node, arguments...)
	cmd.Dir = folder
	cmd.Env = os.Environ()
	return cmd, nil
}

// findNode finds a Node that can run the package, which npm must have installed.
func findNode(t *testing.T) (string, error) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		return "", err
	}
	if err := exec.Command(node, "-e", `process.exit("".isWellFormed ? 0 : 1)`).Run(); err != nil {
		return "", errors.New("node is older than 20")
	}
	if _, err := os.Stat("../../clients/typescript/node_modules/typescript"); err != nil {
		return "", fmt.Errorf("run npm ci in clients/typescript: %w", err)
	}
	return node, nil
}

// A clientStage is a bot on a real Redis, a user there with a runtime's rights, and
// an address at which a test in another language has Ann do things.
type clientStage struct {
	*stage
	ctx     context.Context
	runtime string // the address of Redis with the runtime's user
	admin   string // the same with every right
	table   string // a namespace that no bot serves
	control string
}

func newClientStage(t *testing.T, server *storetest.Server) *clientStage {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	c := &clientStage{stage: &stage{t: t, redis: server.Client()}, ctx: ctx, table: storetest.Real(t).Namespace()}
	c.build(server.URL(), server.Namespace())
	c.redis = redis.NewClient(&redis.Options{ // build closes the one it is given
		Addr: server.Client().Options().Addr, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = c.redis.Close() })
	mail := "(+xadd %W~{" + c.table + "}:mail)"
	c.runtime = server.User(t, "runtime", append(storetest.Rights("runtime", c.table), mail)...)
	c.admin = server.AdminURL()
	control := httptest.NewServer(http.HandlerFunc(c.owner))
	t.Cleanup(control.Close)
	c.control = control.URL
	c.start("bot-1")
	return c
}

// run runs the tests of a client.
func (c *clientStage) run(cmd *exec.Cmd) {
	c.t.Helper()
	if out, err := c.finish(cmd); err != nil {
		c.t.Errorf("%v\n%s", err, out)
	}
}

// finish runs a program that knows where everything is.
func (c *clientStage) finish(cmd *exec.Cmd) (string, error) {
	c.t.Helper()
	cmd.Env = append(cmd.Env,
		"COUNTERSIGN_TEST_ADMIN="+c.admin, "COUNTERSIGN_TEST_RUNTIME="+c.runtime,
		"COUNTERSIGN_TEST_NAMESPACE="+c.cfg.Redis.Namespace, "COUNTERSIGN_TEST_TABLE_NAMESPACE="+c.table,
		"COUNTERSIGN_TEST_CONTROL="+c.control,
		"REDIS_URL="+c.runtime, "NAMESPACE="+c.cfg.Redis.Namespace)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// What it starts ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	stop := context.AfterFunc(c.ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	err := cmd.Wait()
	return out.String(), err
}

// owner has Ann do something with the card of a title: approve, reject or undo. With
// card it waits until the card says something, and answers with what it says.
func (c *clientStage) owner(w http.ResponseWriter, r *http.Request) {
	title, says := r.FormValue("title"), r.FormValue("says")
	text, err := c.act(c.ctx, strings.Trim(r.URL.Path, "/"), title, says)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write([]byte(text))
}

func (c *clientStage) act(ctx context.Context, act, title, says string) (string, error) {
	card, err := c.sim.WaitMessage(ctx, annID, func(m simulator.Message) bool {
		return strings.Contains(m.Text, title) && m.Keyboard() != nil
	})
	if err != nil {
		return "", fmt.Errorf("no card %q: %w", title, err)
	}
	if err := c.awaitRecord(ctx, card); err != nil {
		return "", err
	}
	switch act {
	case "approve":
		if err := c.tap(ctx, card, title, ""); err != nil {
			return "", err
		}
		return "", c.tap(ctx, card, "Yes", "Approved")
	case "reject":
		return "", c.tap(ctx, card, "Reject", "Rejected")
	case "undo":
		return "", c.tap(ctx, card, "Undo", "")
	case "card":
		card, err = c.sim.WaitEdit(ctx, card, func(m simulator.Message) bool { return strings.Contains(m.Text, says) })
		return card.Text, err
	}
	return "", fmt.Errorf("no such act: %s", act)
}

// awaitRecord waits until the bot knows a message of its own again.
func (c *clientStage) awaitRecord(ctx context.Context, m simulator.Message) error {
	key := fmt.Sprintf("{%s}:bot:message:%d:%d", c.cfg.Redis.Namespace, m.Chat.ID, m.MessageID)
	for {
		n, err := c.redis.Exists(ctx, key).Result()
		if err != nil || n == 1 {
			return err
		}
		if !wait(ctx, 5*time.Millisecond) {
			return fmt.Errorf("message %d was not recorded", m.MessageID)
		}
	}
}

// tap taps a button as soon as the card has it, and again while the bot has yet to
// record what the card shows: a test is faster than a person.
func (c *clientStage) tap(ctx context.Context, card simulator.Message, button, words string) error {
	card, err := c.sim.WaitEdit(ctx, card, func(m simulator.Message) bool { _, ok := m.Button(button); return ok })
	if err != nil {
		return fmt.Errorf("no button %q: %w", button, err)
	}
	for {
		answer, err := c.ann.TapWait(ctx, card, button)
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(answer.Text, "Wait until the card shows the question"):
		case words == "" && answer.Text == "", words != "" && strings.HasPrefix(answer.Text, words):
			return nil
		default:
			return fmt.Errorf("%s: %q", button, answer.Text)
		}
	}
}

// TestClientExamples runs the examples in other languages to the end, with a
// runtime's rights: request, Ann's taps, claim, report, and the final card.
func TestClientExamples(t *testing.T) {
	for _, example := range []struct {
		language, title string
		find            func(*testing.T) (*exec.Cmd, error)
	}{
		{"python", "Trash 1 email, says Python", pythonExample},
		{"typescript", "Trash 1 email, says Node", nodeExample},
	} {
		t.Run(example.language, func(t *testing.T) {
			t.Parallel()
			cmd, err := example.find(t)
			server := storetest.Real(t)
			if err == nil && server == nil {
				err = errors.New("no redis-server")
			}
			if err != nil {
				if os.Getenv(requireClients) != "" {
					t.Fatalf("%s is set, but the example cannot run: %v", requireClients, err)
				}
				t.Logf("not tested: %v", err)
				return
			}
			c := newClientStage(t, server)
			tapped := make(chan error, 1)
			go func() {
				_, err := c.act(c.ctx, "approve", example.title, "")
				tapped <- err
			}()
			out, err := c.finish(cmd)
			if err != nil || !strings.Contains(out, "running: trash_email m7") {
				t.Errorf("the example: %v\n%s", err, out)
			}
			if err := <-tapped; err != nil {
				t.Error(err)
			}
			if _, err := c.act(c.ctx, "card", example.title, "Done"); err != nil {
				t.Error(err)
			}
		})
	}
}

func pythonExample(t *testing.T) (*exec.Cmd, error) {
	python, err := findPython(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python, "trash_one_email.py", "mail-7")
	cmd.Dir = "../../examples"
	cmd.Env = append(os.Environ(), "PYTHONPATH=../clients/python/src", "PYTHONDONTWRITEBYTECODE=1")
	return cmd, nil
}

// nodeExample runs a copy of the example beside the built package, by whose name it
// finds it.
func nodeExample(t *testing.T) (*exec.Cmd, error) {
	const folder = "../../clients/typescript"
	cmd, err := nodeTests(t)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile("../../examples/trash-one-email.mjs")
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(folder, "dist", "example.mjs")
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		return nil, err
	}
	cmd.Args = []string{cmd.Path, "dist/example.mjs", "mail-7"}
	return cmd, nil
}
