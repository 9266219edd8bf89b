package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"countersign/simulator/page"
)

// What the page offers to be done by hand does what the runtime did: the commands of one
// run, with another id, take a request all the way to its undo.
func TestDemoByHand(t *testing.T) {
	d, _ := startDemo(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := d.runtimes.Press(ctx, "trash"); err != nil {
		t.Fatal(err)
	}
	tap := func(button, then string) { tapUntil(ctx, t, d, demoAnn, demoAnn, button, has(then)) }
	tap("Trash 3 emails", "tap Yes")
	tap("Yes", "Approved by Ann")
	tap("Undo", "Undone") // from now on there is no other Undo

	hand := func(name string, fits func(page.Entry) bool) string {
		e := waitEntry(ctx, t, d, fits)
		return byHand(ctx, t, d, strings.ReplaceAll(e.Command, e.ID, name))
	}
	if said := hand("mine-1", step("trash", page.StepPublished)); !regexp.MustCompile(`^\d+-\d+\n$`).MatchString(said) {
		t.Errorf("published: %s", said)
	}
	tapUntil(ctx, t, d, demoOlga, demoOlga, "Trash 3 emails", has("tap Yes"))
	tapUntil(ctx, t, d, demoOlga, demoOlga, "Yes", has("Approved by Olga"))
	if said := hand("mine-1", step("trash", page.StepWaiting)); !strings.Contains(said, `"decision":"approved"`) {
		t.Errorf("answered: %s", said)
	}
	for _, want := range []string{"ok\n", "already_claimed\n"} {
		if said := hand("mine-1", step("trash", page.StepClaimed)); said != want {
			t.Errorf("claimed: %q, want %q", said, want)
		}
	}
	hand("mine-1", step("trash", page.StepReported))
	tapUntil(ctx, t, d, demoOlga, demoOlga, "Undo", has("Undo asked for by Olga"))
	if said := hand("mine-1", step("trash", page.StepWaiting)); !strings.Contains(said, "approval.undo_requested") {
		t.Errorf("undo: %s", said)
	}
}

// byHand runs a command in a shell. The redis-cli there finds its server by a variable.
func byHand(ctx context.Context, t *testing.T, d *demo, command string) string {
	t.Helper()
	command = regexp.MustCompile(`^redis-cli -p \d+ `).ReplaceAllString(command, "redis-cli ")
	cmd := exec.CommandContext(ctx, "sh", "-euc", command)
	cmd.Env = append(os.Environ(), addressVariable+"="+d.cfg.Redis.URL.Reveal())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, command, out)
	}
	return string(out)
}
