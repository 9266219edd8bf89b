package deploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/simulator"
)

const operations = "../docs/operations.md"

// fences are the blocks of docs/operations.md of a kind, which stands after the opening
// fence.
func fences(t *testing.T, kind string) []string {
	t.Helper()
	text, err := os.ReadFile(operations)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		if m[1] == kind {
			found = append(found, m[2])
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no block ```%s", operations, kind)
	}
	return found
}

// fence is the block of a kind that begins with a text.
func (s *site) fence(kind, begins string) string {
	s.t.Helper()
	for _, block := range fences(s.t, kind) {
		if strings.HasPrefix(block, begins) {
			return block
		}
	}
	s.t.Fatalf("%s has no block ```%s that begins with %q", operations, kind, begins)
	return ""
}

// prepare makes the folder one in which somebody works: with the configuration that
// init writes, the program on the PATH, and the usual ports where the test's are.
func (s *site) prepare() {
	s.t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "deploy"), filepath.Join(s.dir, "deploy")); err != nil {
		s.t.Fatal(err)
	}
	if _, s.port, err = net.SplitHostPort(s.redis.Client().Options().Addr); err != nil {
		s.t.Fatal(err)
	}
	for name, text := range map[string]string{
		"countersign.token": token + "\n",
		"countersign.yaml": fmt.Sprintf("telegram: {token_file: %q, api_url: %q}\npeople: [{id: %d, name: Ann, role: owner}]\nconfirm: {dwell: 0s}\n",
			filepath.Join(s.dir, "countersign.token"), s.url, annID),
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	bin := filepath.Join(s.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		s.t.Fatal(err)
	}
	for name, script := range map[string]string{
		"countersign":  `exec ` + program(s.t) + ` "$@"`,
		"redis-cli":    `exec ` + found(s.t, "redis-cli") + ` -p "$REDIS_PORT" "$@"`,
		"redis-server": `exec ` + found(s.t, "redis-server") + ` --port "$REDIS_PORT" --bind 127.0.0.1 "$@"`,
		"pgrep":        `cat bot.pid`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
}

// found is where a program is.
func found(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// env is the environment of what is typed in the folder.
func (s *site) env() []string {
	return []string{
		"PATH=" + filepath.Join(s.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "USER=ann", "REDIS_PORT=" + s.port,
		"COUNTERSIGN_CONFIG=countersign.yaml", "COUNTERSIGN_REDIS_URL=redis://127.0.0.1:" + s.port + "/0", "COUNTERSIGN_HTTP_LISTEN=" + s.listen,
	}
}

// tries runs what is typed, and returns what it said.
func (s *site) tries(script string) (string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", script)
	cmd.Dir, cmd.Env = s.dir, s.env()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// shell runs what is typed, which must not fail.
func (s *site) shell(script string) string {
	s.t.Helper()
	out, err := s.tries(script)
	if err != nil {
		s.t.Fatalf("%v in\n%s\nwhich said\n%s", err, script, out)
	}
	return out
}

// until waits until something holds.
func (s *site) until(holds func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			s.t.Fatal("gave up waiting")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// guardian runs a program for as long as its own input stays open, so that it goes when
// the test process does, however that ends.
const guardian = `"$@" >server.log 2>&1 & cat >/dev/null; kill $! 2>/dev/null; wait $!`

// serves starts a Redis on a free port, which it returns, until the test ends.
func (s *site) serves(argv ...string) string {
	s.t.Helper()
	_, port, err := net.SplitHostPort(freeAddress(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	argv = append(argv, "--port", port, "--bind", "127.0.0.1")
	cmd := exec.Command("sh", append([]string{"-c", guardian, "sh"}, argv...)...)
	cmd.Dir = s.dir
	life, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = life.Close(); _ = cmd.Wait() })
	return port
}

// A process is a bot that runs in the folder.
type process struct {
	cmd  *exec.Cmd
	done chan error
}

// bot starts one, and waits until it is ready. Its log goes to a file of its name.
func (s *site) bot(name string, environ ...string) *process {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program(s.t), "run", "--name", name)
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, append(s.env(), environ...), log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	p := &process{cmd: cmd, done: make(chan error, 1)}
	line := make([]byte, 256)
	n, err := out.Read(line)
	if err != nil || !strings.Contains(string(line[:n]), "is ready") {
		_ = cmd.Wait()
		s.t.Fatalf("%s said %q (%v); its log\n%s", name, line[:n], err, s.log(name))
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		p.done <- cmd.Wait()
	}()
	s.t.Cleanup(func() { _ = p.stop() })
	return p
}

// stop stops it by SIGTERM, and returns how it ended. To stop it again does nothing.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	err := <-p.done
	p.done <- err
	return err
}

func (s *site) log(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, name+".log"))
	return string(text)
}

// requests publishes a request, and waits for its card.
func (s *site) requests(id string) simulator.Message {
	s.t.Helper()
	data := fmt.Sprintf(`{"approval_id":%q,"tool":"x","arguments":{},"card":{"title":"Do %s"}}`, id, id)
	s.shell("printf '%s' '" + data + "' | countersign request -f -")
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	card, err := s.sim.WaitMessage(ctx, annID, func(m simulator.Message) bool { return strings.Contains(m.Text, "Do "+id+"\n") })
	if err != nil {
		s.t.Fatalf("%s: %v", id, err)
	}
	return card
}

// approves has Ann approve by two taps, and waits until the card shows it.
func (s *site) approves(id string, card simulator.Message) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	s.ann.Tap(card, "Do "+id)
	question, err := s.sim.WaitEdit(ctx, card, func(m simulator.Message) bool { _, ok := m.Button("Yes"); return ok })
	if err != nil {
		s.t.Fatalf("%s: no question: %v", id, err)
	}
	for said := ""; said != "Approved."; { // as soon as the step is known to be shown
		a, err := s.ann.TapWait(ctx, question, "Yes")
		if err != nil {
			s.t.Fatalf("%s: %v (last %q)", id, err, said)
		}
		said = a.Text
	}
	if _, err := s.sim.WaitEdit(ctx, question, func(m simulator.Message) bool { return strings.Contains(m.Text, "Approved by Ann") }); err != nil {
		s.t.Fatalf("%s: the card does not show it: %v", id, err)
	}
}

// state is that of an approval, "" where there is none.
func (s *site) state(id string) string {
	s.t.Helper()
	out, err := s.tries("countersign show --json " + id + " 2>/dev/null")
	if err != nil {
		return ""
	}
	var row struct{ State string }
	if err := json.Unmarshal([]byte(out), &row); err != nil {
		s.t.Fatalf("%v in %s", err, out)
	}
	return row.State
}

// What docs/operations.md says to type does what it says; and what a backup holds goes on
// where it is restored: rows, answers, and the cards that stand in the chat.
func TestOperations(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if s == nil {
		return
	}
	s.prepare()
	s.ann.Start()
	bot := s.bot("bot-1")
	if err := os.WriteFile(filepath.Join(s.dir, "bot.pid"), fmt.Append(nil, bot.cmd.Process.Pid), 0o600); err != nil {
		t.Fatal(err)
	}
	s.requests("done")
	s.shell("countersign answer done approve")
	open := s.requests("open")
	for _, block := range fences(t, "sh run") {
		out := s.shell(block)
		if strings.HasPrefix(block, "countersign health") && strings.TrimSpace(out) != "ready: holds the lease, so it polls and sends" {
			t.Errorf("health: %s", out)
		}
	}
	s.until(func() bool {
		return strings.Contains(s.log("bot-1"), "people, routes, policies and limits were read again")
	})
	lost := s.requests("lost")

	if err := bot.stop(); err != nil {
		t.Errorf("the bot did not stop cleanly: %v\n%s", err, s.log("bot-1"))
	}
	s.shell("redis-cli SHUTDOWN NOSAVE || true")
	s.until(func() bool { _, err := s.tries("! redis-cli PING"); return err == nil })
	t.Cleanup(func() { _, _ = s.tries("redis-cli SHUTDOWN NOSAVE") })
	s.shell(s.fence("sh run restore", "mkdir restored"))
	s.until(func() bool { out, err := s.tries("redis-cli PING"); return err == nil && strings.Contains(out, "PONG") })
	s.shell(s.fence("sh run restored", "redis-cli CONFIG"))
	s.until(func() bool {
		out := s.shell("redis-cli INFO persistence")
		return strings.Contains(out, "aof_rewrite_in_progress:0") && strings.Contains(out, "aof_enabled:1")
	})

	// As ever, on the append-only file alone.
	s.shell("redis-cli SHUTDOWN NOSAVE || true")
	s.until(func() bool { _, err := s.tries("! redis-cli PING"); return err == nil })
	s.shell("redis-server --dir restored --appendonly yes --daemonize yes")
	s.until(func() bool { out, err := s.tries("redis-cli PING"); return err == nil && strings.Contains(out, "PONG") })

	s.bot("bot-2")
	for id, want := range map[string]string{"done": "approved", "open": "open", "lost": ""} {
		if got := s.state(id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
	s.approves("open", open)
	if got := s.state("open"); got != "approved" {
		t.Errorf("open is %q after its approval", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if a, err := s.ann.TapWait(ctx, lost, "Do lost"); err != nil || a.Text == "" || s.state("lost") != "" {
		t.Errorf("a card of what was lost says %q (%v)", a.Text, err)
	}
}

// What cannot be run here at least names services and commands that there are.
func TestOperationsDocker(t *testing.T) {
	t.Parallel()
	services := compose(t).Services
	n := 0
	for _, block := range fences(t, "sh") {
		for line := range strings.Lines(block) {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), "docker compose exec ")
			if !ok {
				continue
			}
			n++
			words := strings.Fields(rest)
			if _, ok := services[words[0]]; !ok || words[1] != "countersign" {
				t.Errorf("no such service or program: %s", line)
			}
			s := &site{t: t, dir: t.TempDir()}
			if out, errs, code := s.runs(nil, append(words[2:], "--help")...); code != 0 {
				t.Errorf("%s: exit code %d: %s%s", line, code, out, errs)
			}
		}
	}
	if n == 0 {
		t.Error("nothing was found")
	}
}
