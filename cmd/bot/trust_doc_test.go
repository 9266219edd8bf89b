package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"countersign/config"
)

// TestTrustDocument runs the commands of docs/trust.md, in their order: a bot that
// signs with the key of the first is started after it.
func TestTrustDocument(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "countersign.yaml")
	for name, text := range map[string]string{
		file: fmt.Sprintf("telegram: {token: %q, api_url: %q}\nredis: {url: %q}\npeople: [{id: %d, name: Ann, role: owner}]\n"+
			"audit: {signing_key_file: %s}\n", st.sim.Token(), st.url, st.cfg.Redis.URL.Reveal(), annID, filepath.Join(dir, "countersign-signing.pem")),
		filepath.Join(dir, "request.json"): `{"approval_id":"mail-1","tool":"trash_emails","arguments":{},"card":{"title":"Trash 3 emails"}}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(block string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", block)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "COUNTERSIGN_CONFIG="+file)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v in\n%s\nwhich said\n%s", err, block, out)
		}
		return string(out)
	}
	var said strings.Builder
	for i, block := range fences(t, "docs/trust.md", "sh run") {
		said.WriteString(run(block))
		if strings.HasPrefix(block, "countersign request -f") {
			if err := st.awaitState("mail-1", "open"); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 {
			continue
		}
		key, err := os.ReadFile(filepath.Join(dir, "countersign-signing.pem"))
		if err != nil {
			t.Fatal(err)
		}
		st.cfg.Audit.SigningKey = config.NewSecret(string(key))
		st.start("bot-1")
	}
	for _, words := range []string{"public key", "good: signed by key", "the chain ends at", "mail-1 is forgotten"} {
		if !strings.Contains(said.String(), words) {
			t.Errorf("nothing said %q:\n%s", words, said.String())
		}
	}
}
