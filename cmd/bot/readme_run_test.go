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

// TestReadmeCommands runs the blocks marked "sh run", in order, in one folder
// and with the configuration that the README makes there. Only the address of
// Redis and the token come from the test.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.start("bot-1")
	dir := t.TempDir()
	build := regexp.MustCompile(`(?m)^go build .*$`) // it was built: it is this binary
	identified := regexp.MustCompile(`"approval_id": "([^"]+)"`)
	var said strings.Builder
	for _, block := range fences(t, "sh run") {
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", build.ReplaceAllString(block, "countersign version"))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(),
			"COUNTERSIGN_CONFIG="+filepath.Join(dir, "config.yaml"),
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
	for id, want := range map[string]approval.State{"mail-1": approval.Executed, "mail-2": approval.Rejected} {
		if err := st.awaitState(id, want); err != nil {
			t.Error(err)
		}
	}
	if want := "the owner rejected this: Trash 1 email"; !strings.Contains(said.String(), want) {
		t.Errorf("no %q in\n%s", want, &said)
	}
	row, err := st.client.Row(t.Context(), "mail-1")
	if err != nil {
		t.Fatal(err)
	}
	shownAnswer(t, row.Answer)
}

// The README's Go code asks Ann, and runs what she approved.
func TestReadmeGoRuns(t *testing.T) {
	p := newPlay(t)
	removed := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		done <- cleanUp(p.ctx, p.client, func(a queue.Answer) error {
			removed <- string(a.Calls[0].Arguments)
			return nil
		})
	}()
	card, err := p.sim.WaitMessage(p.ctx, annID, has("Trash 2 emails"))
	p.ok(err)
	p.taps(p.ann, card, "Trash 2 emails", "")
	p.yes(p.ann, p.offers(card, "Yes"), "Approved.")
	p.ok(<-done)
	if got, want := <-removed, `{"ids":["m5","m6"]}`; got != want {
		t.Errorf("removed %s, want %s", got, want)
	}
	p.ok(p.awaitState("mail-3", approval.Executed))
}
