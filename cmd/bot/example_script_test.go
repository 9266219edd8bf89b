package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	"countersign/simulator"
)

// TestExampleScript runs the shell example against the whole bot, while Ann taps.
func TestExampleScript(t *testing.T) {
	t.Parallel()
	t.Run("approved", func(t *testing.T) {
		e := startExample(t)
		e.confirm("Trash 3 emails")
		e.card = e.edited("Approved by Ann")
		e.card = e.edited("3 emails are in the bin")
		if _, ok := e.card.Button("Undo"); !ok {
			t.Errorf("no Undo below %q", e.card.Text)
		}
		e.ends(0)
		e.said("approved by Ann", "claimed", "running: trash_email m1 m2 m3", "executed")
	})
	t.Run("rejected", func(t *testing.T) {
		e := startExample(t)
		e.tap("Reject")
		e.ends(1)
		e.said("nothing is done")
		if strings.Contains(e.stdout.String(), "running") {
			t.Errorf("ran what was rejected:\n%s", &e.stdout)
		}
	})
}

// An example is one run of the script, and the card that it caused.
type example struct {
	t      *testing.T
	ctx    context.Context
	st     *stage
	cmd    *exec.Cmd
	stdout bytes.Buffer // read it after ends
	stderr bytes.Buffer
	card   simulator.Message
}

func startExample(t *testing.T) *example {
	t.Helper()
	st := newStage(t)
	st.start("bot-1")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	e := &example{t: t, ctx: ctx, st: st}
	e.cmd = exec.CommandContext(ctx, "sh", "../../examples/trash-3-emails.sh",
		"--redis", st.cfg.Redis.URL.Reveal(), "--namespace", st.cfg.Redis.Namespace)
	e.cmd.Stdout, e.cmd.Stderr = &e.stdout, &e.stderr
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var err error
	if e.card, err = st.sim.WaitMessage(ctx, annID, has("You asked: Can you delete my promo emails?")); err != nil {
		t.Fatalf("no card: %v\n%s", err, &e.stderr)
	}
	return e
}

// confirm taps the action and then Yes.
func (e *example) confirm(action string) {
	e.t.Helper()
	e.tap(action)
	e.card = e.edited("tap Yes below to confirm")
	e.tap("Yes, " + action)
}

func (e *example) tap(button string) {
	e.t.Helper()
	if _, err := e.st.ann.TapWait(e.ctx, e.card, button); err != nil {
		e.t.Fatalf("tap %s: %v", button, err)
	}
}

// edited waits until the card has a text.
func (e *example) edited(text string) simulator.Message {
	e.t.Helper()
	card, err := e.st.sim.WaitEdit(e.ctx, e.card, has(text))
	if err != nil {
		e.t.Fatalf("the card never said %q: %v", text, err)
	}
	return card
}

// ends waits for the script's end, which must have this exit code.
func (e *example) ends(want int) {
	e.t.Helper()
	_ = e.cmd.Wait() // says in words what ProcessState says in numbers
	if got := e.cmd.ProcessState.ExitCode(); got != want {
		e.t.Errorf("exit code %d, want %d\n%s%s", got, want, &e.stdout, &e.stderr)
	}
}

// said checks what was printed, in order.
func (e *example) said(parts ...string) {
	e.t.Helper()
	rest := e.stdout.String()
	for _, p := range parts {
		_, after, ok := strings.Cut(rest, p)
		if !ok {
			e.t.Errorf("%q is missing in\n%s", p, &e.stdout)
			return
		}
		rest = after
	}
}
