package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"countersign/simulator"
)

// The shell example runs against the whole bot, while Ann taps.
func TestExampleScript(t *testing.T) {
	t.Run("approved", func(t *testing.T) {
		e := startExample(t)
		e.taps(e.ann, e.card, "Trash 3 emails", "")
		e.yes(e.ann, e.offers(e.card, "Yes"), "Approved.")
		e.taps(e.ann, e.offers(e.shows(e.card, "Approved by Ann", "3 emails are in the bin"), "Undo"), "Undo", "")
		e.shows(e.card, "Undone")
		e.ends(0)
		e.prints("approved by Ann", "running: trash_email m1 m2 m3", "executed", "running: restore_email m1 m2 m3", "undone")
		e.claims(1)
	})
	t.Run("rejected", func(t *testing.T) {
		e := startExample(t)
		e.taps(e.ann, e.card, "Reject", "Rejected.")
		e.shows(e.card, "Rejected by Ann")
		e.ends(1)
		e.prints("nothing is done")
		if strings.Contains(e.stdout.String(), "running") {
			t.Errorf("ran what was rejected:\n%s", &e.stdout)
		}
		e.claims(0)
	})
}

// An example is one run of the script, and the card that it caused.
type example struct {
	*play
	cmd    *exec.Cmd
	stdout bytes.Buffer // to be read after ends
	stderr bytes.Buffer
	card   simulator.Message
}

func startExample(t *testing.T) *example {
	t.Helper()
	e := &example{play: newPlay(t)}
	ctx, cancel := context.WithCancel(e.ctx)
	e.cmd = exec.CommandContext(ctx, "sh", "../../examples/trash-3-emails.sh",
		"--redis", e.cfg.Redis.URL.Reveal(), "--namespace", e.cfg.Redis.Namespace)
	e.cmd.Stdout, e.cmd.Stderr = &e.stdout, &e.stderr
	// The shell's children end with it.
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	e.cmd.Cancel = func() error { return syscall.Kill(-e.cmd.Process.Pid, syscall.SIGKILL) }
	e.ok(e.cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = e.cmd.Wait() // the second time where the test waited for its end
	})
	var err error
	e.card, err = e.sim.WaitMessage(e.ctx, annID, has("You asked: Can you delete my promo emails?"))
	e.ok(err)
	return e
}

// ends waits for the script's end, which must have this exit code.
func (e *example) ends(want int) {
	e.t.Helper()
	_ = e.cmd.Wait() // says in words what ProcessState says in numbers
	if got := e.cmd.ProcessState.ExitCode(); got != want {
		e.t.Errorf("exit code %d, want %d\n%s%s", got, want, &e.stdout, &e.stderr)
	}
}

// prints checks what was printed, in order.
func (e *example) prints(parts ...string) {
	e.t.Helper()
	rest := e.stdout.String()
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			e.t.Errorf("%q is missing in\n%s", part, &e.stdout)
			return
		}
		rest = after
	}
}

// claims counts the claims in the queue.
func (e *example) claims(want int) {
	e.t.Helper()
	got, err := e.redis.Keys(e.ctx, "{approvals}:claim:*").Result()
	e.ok(err)
	if len(got) != want {
		e.t.Errorf("claims %q, want %d", got, want)
	}
}
