package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"countersign"
	"countersign/approval"
	"countersign/queue"
)

// addressVariable overrides redis.url of a configuration.
const addressVariable = "COUNTERSIGN_REDIS_URL"

// redisCLI is as much of redis-cli as the README uses: one command, one reply.
// It speaks to the tests' Redis in place of the usual port.
func redisCLI() {
	options, err := redis.ParseURL(os.Getenv(addressVariable))
	if err != nil {
		panic(err)
	}
	options.Protocol = 2
	rdb := redis.NewClient(options)
	var args []any
	for _, a := range os.Args[1:] {
		args = append(args, a)
	}
	reply, err := rdb.Do(context.Background(), args...).Result()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(reply)
}

// runBlocks runs a text's blocks marked "sh run", in order, in one folder and
// with the configuration countersign.yaml there. Only the address of Redis and the
// token come from the test. It returns what was said.
func (st *stage) runBlocks(t *testing.T, name, dir string) string {
	t.Helper()
	build := regexp.MustCompile(`(?m)^go build .*$`) // it was built: it is this binary
	identified := regexp.MustCompile(`"approval_id": "([^"]+)"`)
	var said strings.Builder
	for _, block := range fences(t, name, "sh run") {
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", build.ReplaceAllString(block, "countersign version"))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(),
			"COUNTERSIGN_CONFIG="+filepath.Join(dir, "countersign.yaml"),
			"COUNTERSIGN_TELEGRAM_TOKEN="+st.sim.Token(),
			addressVariable+"="+st.cfg.Redis.URL.Reveal())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v in\n%s\nwhich said\n%s", err, block, out)
		}
		said.Write(out)
		for _, m := range identified.FindAllStringSubmatch(block, -1) {
			// A person takes longer to get to the next block.
			if err := st.awaitRow(m[1], func(queue.Row) bool { return true }); err != nil {
				t.Fatal(err)
			}
		}
	}
	return said.String()
}

// What the README says to type does what it says.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.start("bot-1")
	said := st.runBlocks(t, readmeFile, t.TempDir())
	for id, want := range map[string]approval.State{"mail-1": approval.Executed, "mail-2": approval.Rejected} {
		if err := st.awaitState(id, want); err != nil {
			t.Error(err)
		}
	}
	if want := "the owner rejected this: Trash 1 email"; !strings.Contains(said, want) {
		t.Errorf("no %q in\n%s", want, said)
	}
	row, err := st.client.Row(t.Context(), "mail-1")
	if err != nil {
		t.Fatal(err)
	}
	shownAnswer(t, row.Answer)
}

// The commands of the protocol's page go the whole way, without a client of ours.
func TestReadmeProtocol(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.start("bot-1")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "countersign.yaml"), countersign.ExampleConfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	// They are typed in a checkout.
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "queue"), filepath.Join(dir, "queue")); err != nil {
		t.Fatal(err)
	}
	said := st.runBlocks(t, protocolFile, dir)
	if want := "\nok\n"; !strings.Contains(said, want) {
		t.Errorf("nothing was claimed in\n%s", said)
	}
	if err := st.awaitState("mail-4", approval.Executed); err != nil {
		t.Error(err)
	}
}

// The README's Go code asks Ann, runs what she approved, and takes it back.
func TestReadmeGoRuns(t *testing.T) {
	p := newPlay(t)
	ran := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		done <- cleanUp(p.ctx, p.client, func(a queue.Answer) error {
			ran <- string(a.Calls[0].Arguments)
			return nil
		})
	}()
	card, err := p.sim.WaitMessage(p.ctx, annID, has("Trash 2 emails"))
	p.ok(err)
	p.taps(p.ann, card, "Trash 2 emails", "")
	p.yes(p.ann, p.offers(card, "Yes"), "Approved.")
	p.ok(<-done)
	if got, want := <-ran, `{"ids":["m5","m6"]}`; got != want {
		t.Errorf("removed %s, want %s", got, want)
	}
	p.ok(p.awaitState("mail-3", approval.Executed))

	go func() {
		done <- putBack(p.ctx, p.client, "mail-3", func(u queue.Undo) error {
			ran <- u.UndoTool
			return nil
		})
	}()
	p.taps(p.ann, p.offers(card, "Undo"), "Undo", "")
	p.ok(<-done)
	if got, want := <-ran, "restore_email"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	p.ok(p.awaitState("mail-3", approval.Undone))
}
