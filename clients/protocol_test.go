package clients_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every command on the protocol's page is run as it stands there, in order, by
// redis-cli on a real Redis, with no client of ours.
func TestProtocolByHand(t *testing.T) {
	t.Parallel()
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		lacking(t, err)
		return
	}
	w := newWorld(t, "approvals") // which is what the page says, and nobody else's here
	if w == nil {
		return
	}
	t.Cleanup(func() { _ = w.server.Client().Do(w.ctx, "acl", "deluser", "mailer").Err() })
	dir := t.TempDir()
	// Only the address is not the usual one.
	wrapper := fmt.Sprintf("#!/bin/sh\nexec %s -u %s \"$@\"\n", cli, w.server.AdminURL())
	if err := os.WriteFile(filepath.Join(dir, "redis-cli"), []byte(wrapper), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	text, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```sh[^\n]*\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	identified := regexp.MustCompile(`"approval_id": "([^"]+)"`)
	var said strings.Builder
	for _, block := range blocks {
		tapped := make(chan error, 1)
		if strings.Contains(block[1], `"outcome": "undone"`) {
			go func() {
				_, err := w.act("undo", "Trash 1 newsletter", "")
				tapped <- err
			}()
		} else {
			tapped <- nil
		}
		cmd := exec.Command("sh", "-euc", block[1])
		cmd.Dir = ".."
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+w.dir+":"+os.Getenv("PATH"), "COUNTERSIGN_CONFIG="+w.config)
		out, err := w.end(cmd)
		if err != nil {
			t.Fatalf("%v in\n%s\nwhich said\n%s", err, block[1], out)
		}
		if err := <-tapped; err != nil {
			t.Fatal(err)
		}
		said.WriteString(out)
		for _, m := range identified.FindAllStringSubmatch(block[1], -1) {
			// A person takes longer to get to the next block.
			for w.server.Client().Exists(w.ctx, "{approvals}:row:"+m[1]).Val() == 0 {
				if !pause(w.ctx) {
					t.Fatalf("no row %s", m[1])
				}
			}
		}
	}
	for _, want := range []string{"\nok\n", "approval.undo_requested", `"decision":"withdrawn"`, "terms_differ"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in\n%s", want, &said)
		}
	}
	if _, err := w.act("card", "Trash 1 newsletter", "Undone"); err != nil {
		t.Error(err)
	}
}
