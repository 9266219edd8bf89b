package clients_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

// A guarded is one run of the example that guards rm -rf, in a folder of its own.
type guarded struct {
	*world
	folder string
	cmd    *exec.Cmd
	out    bytes.Buffer // to be read after ends
	done   chan struct{}
}

// hostile are names that a shell, a flag parser or JSON might take for something
// else; safe stand beside them, and must stay.
func hostile() (names, safe []string) {
	names = []string{
		"a b", " ", "-rf", "--help", "-", "$(touch pwned)", "`touch pwned`", `"; touch pwned; "`, "'", `\`, `\n`, "two\nlines", "end\n", "*",
		"?", "~", "#", "é\u202e\u200b", "{}", "%s%n", "$HOME", "&& touch pwned",
	}
	return names, []string{"a", "b", "two", "lines", "end", "help", "kept", "\xff"}
}

// guard starts the example on paths, in a folder that holds every name above.
func guard(t *testing.T, environment []string, paths ...string) *guarded {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		lacking(t, err)
		return nil
	}
	w := newWorld(t)
	if w == nil {
		return nil
	}
	g := &guarded{world: w, folder: t.TempDir(), done: make(chan struct{})}
	g.folder, _ = filepath.EvalSymlinks(g.folder)
	names, safe := hostile()
	for _, name := range append(names, safe...) {
		if err := os.Mkdir(filepath.Join(g.folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(g.folder, name, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs("../examples/rm-if-approved.sh")
	if err != nil {
		t.Fatal(err)
	}
	g.cmd = exec.CommandContext(w.ctx, "sh", append([]string{script}, paths...)...)
	g.cmd.Dir, g.cmd.Env = g.folder, append(w.environment(), environment...)
	g.cmd.Stdout, g.cmd.Stderr = &g.out, &g.out
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it starts ends with it
	// A shell cannot trap what was ignored as it began, as nohup has it; what is caught
	// here is not.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	err = g.cmd.Start()
	signal.Stop(caught)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = g.cmd.Wait() // ends reads its exit code
		close(g.done)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
		<-g.done
	})
	return g
}

// ends waits for the script's end, which must have this exit code.
func (g *guarded) ends(want int) {
	g.t.Helper()
	<-g.done
	if got := g.cmd.ProcessState.ExitCode(); got != want {
		g.t.Errorf("exit code %d, want %d\n%s", got, want, &g.out)
	}
}

// stopped sends a signal as a terminal does, and holds that the request is withdrawn.
func (g *guarded) stopped(by syscall.Signal) {
	g.t.Helper()
	if err := syscall.Kill(-g.cmd.Process.Pid, by); err != nil {
		g.t.Fatal(err)
	}
	g.acts("card", "Withdrawn")
	<-g.done
}

// left holds that everything is still there but what is named.
func (g *guarded) left(gone ...string) {
	g.t.Helper()
	names, safe := hostile()
	want := slices.DeleteFunc(append(names, safe...), func(n string) bool { return slices.Contains(gone, n) })
	slices.Sort(want)
	entries, err := os.ReadDir(g.folder)
	if err != nil {
		g.t.Fatal(err)
	}
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		g.t.Errorf("what is left (-want +got):\n%s", diff)
	}
}

// events lists the types of what was published.
func (g *guarded) events() (types []string) {
	g.t.Helper()
	entries, err := g.server.Client().XRange(g.ctx, g.server.Keys().Requests(), "-", "+").Result()
	if err != nil {
		g.t.Fatal(err)
	}
	for _, e := range entries {
		types = append(types, e.Values["type"].(string))
	}
	return types
}

// awaitCard waits for the card.
func (g *guarded) awaitCard() simulator.Message {
	g.t.Helper()
	card, err := g.sim.WaitMessage(g.ctx, annID, func(m simulator.Message) bool { return strings.Contains(m.Text, "Delete ") })
	if err != nil {
		g.t.Fatal(err)
	}
	return card
}

func (g *guarded) acts(act, says string) string {
	g.t.Helper()
	text, err := g.act(act, "Delete", says)
	if err != nil {
		g.t.Fatal(err)
	}
	return text
}

// rm deletes the very files that the card showed, whatever they are called, and
// nothing beside them.
func TestShellDeletes(t *testing.T) {
	t.Parallel()
	names, _ := hostile()
	g := guard(t, nil, names...)
	if g == nil {
		return
	}
	g.awaitCard()
	rows, err := g.server.Client().Keys(g.ctx, g.server.Keys().Row("*")).Result()
	if err != nil || len(rows) != 1 {
		t.Fatalf("rows %q, %v", rows, err)
	}
	var asked struct {
		Arguments struct {
			Argv []string `json:"argv"`
		} `json:"arguments"`
		Card struct {
			Lines []string `json:"lines"`
		} `json:"card"`
	}
	text, err := g.server.Client().HGet(g.ctx, rows[0], "request").Result()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &asked); err != nil {
		t.Fatal(err)
	}
	want := []string{}
	for _, name := range names {
		want = append(want, g.folder+"/"+name)
	}
	if diff := cmp.Diff(want, asked.Card.Lines); diff != "" {
		t.Errorf("the card (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append([]string{"rm", "-rf", "--"}, want...), asked.Arguments.Argv); diff != "" {
		t.Errorf("the pinned command (-want +got):\n%s", diff)
	}
	g.left()
	g.acts("approve", "")
	g.ends(0)
	g.left(names...)
	g.acts("card", "Done")
	if got := g.events(); !slices.Equal(got, []string{"approval.requested", "approval.claimed", "approval.reported"}) {
		t.Errorf("published %q", got)
	}
}

// What is not approved is not deleted, and not claimed.
func TestShellDeletesNothing(t *testing.T) {
	for name, no := range map[string]struct {
		code int
		env  []string
		what func(*guarded)
	}{
		"rejected": {1, nil, func(g *guarded) { g.acts("reject", "") }},
		"lapsed":   {3, []string{"EXPIRES_IN=5"}, func(*guarded) {}},
		"withdrawn": {5, nil, func(g *guarded) {
			id := strings.TrimPrefix(g.server.Client().Keys(g.ctx, g.server.Keys().Row("*")).Val()[0], g.server.Keys().Row(""))
			cmd := exec.Command(filepath.Join(g.dir, "countersign"), "withdraw", id, "--redis", g.runtime, "--namespace", g.ns)
			if out, err := g.finish(cmd); err != nil {
				g.t.Errorf("%v\n%s", err, out)
			}
		}},
		"interrupted": {130, nil, func(g *guarded) { g.stopped(syscall.SIGINT) }},
		"hung up":     {129, nil, func(g *guarded) { g.stopped(syscall.SIGHUP) }},
		"ended":       {143, nil, func(g *guarded) { g.stopped(syscall.SIGTERM) }},
		"claimed by another": {1, nil, func(g *guarded) {
			// Between the answer and the script's own claim: whatever is first in Redis counts.
			row := g.server.Client().Keys(g.ctx, g.server.Keys().Row("*")).Val()[0]
			id := strings.TrimPrefix(row, g.server.Keys().Row(""))
			if err := g.server.Client().HSet(g.ctx, g.server.Keys().Claim(id), "pin", "another's").Err(); err != nil {
				g.t.Error(err)
			}
			g.acts("approve", "")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := guard(t, no.env, "a", "a b")
			if g == nil {
				return
			}
			g.awaitCard()
			no.what(g)
			g.ends(no.code)
			g.left()
			if !strings.Contains(g.out.String(), "nothing is deleted") {
				t.Errorf("said\n%s", &g.out)
			}
			if got := g.events(); slices.Contains(got, "approval.claimed") || slices.Contains(got, "approval.reported") {
				t.Errorf("published %q", got)
			}
		})
	}
}

// What cannot be asked is said before anything is published.
func TestShellAsksNothing(t *testing.T) {
	for name, bad := range map[string]struct {
		code  int
		env   []string
		paths []string
		says  string
	}{
		"no path":               {2, nil, nil, "which paths?"},
		"an empty path":         {2, nil, []string{"a", ""}, "an empty path"},
		"no such path":          {2, nil, []string{"a", "none"}, "there is no"},
		"not UTF-8":             {2, nil, []string{"a", "\xff"}, "not UTF-8"},
		"Redis is away":         {69, []string{"REDIS_URL=redis://127.0.0.1:1"}, []string{"a"}, "nothing is deleted"},
		"nobody is there":       {69, []string{"NAMESPACE=nobody"}, []string{"a"}, "nothing is deleted"},
		"too long to be shown":  {4, nil, []string{strings.Repeat("./", 600) + "a"}, "card.lines[0]: over 1,000 characters"},
		"no deadline like that": {4, []string{"EXPIRES_IN=1"}, []string{"a"}, "expires_in: must be at least 5 seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := guard(t, bad.env, bad.paths...)
			if g == nil {
				return
			}
			g.ends(bad.code)
			g.left()
			if !strings.Contains(g.out.String(), bad.says) {
				t.Errorf("said\n%s", &g.out)
			}
			if got := g.events(); len(got) > 0 {
				t.Errorf("published %q", got)
			}
		})
	}
}
