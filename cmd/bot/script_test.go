package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"countersign/approval"
	"countersign/config"
	"countersign/queue"
	"countersign/simulator"
)

const atOnce = 6

// TestMain makes this test binary two programs more: what scripts call
// countersign is main itself. Most tests here wait, for a lease or a deadline to pass or
// for a browser, so that more of them run at once than a small machine has cores.
func TestMain(m *testing.M) {
	if f := flag.Lookup("test.parallel"); runtime.GOMAXPROCS(0) < atOnce {
		_ = f.Value.Set(strconv.Itoa(atOnce)) // go test -parallel counts more
	}
	testscript.Main(m, map[string]func(){"countersign": main, "redis-cli": redisCLI})
}

// TestScripts runs the command line from a shell's point of view. Every script
// has a stage of its own; $REDIS is its Redis, and $HEALTH its bot's http.listen. Beside the usual commands there
// are
//
//	bot                      start the bot
//	signing FILE             have bots sign with the keys in a file from now on
//	chained                  wait until every transition is chained
//	exits CODE PROGRAM ARG…  run a program that must exit with this code
//	state ID STATE           wait until the approval is in this state
//	ready                    wait until the bot says that it is ready
//	deaf                     have another program poll, and wait until the bot says so
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			st := newStage(t, func(c *config.Config) { c.HTTP.Listen = freeAddress(t) })
			testscript.Run(t, testscript.Params{
				Files: []string{file}, Setup: st.environment, Cmds: st.commands(),
				RequireExplicitExec: true, RequireUniqueNames: true,
			})
		})
	}
}

// environment tells a script where its Redis is, and by COUNTERSIGN_CONFIG the
// operator's configuration.
func (st *stage) environment(env *testscript.Env) error {
	env.Setenv("HEALTH", st.cfg.HTTP.Listen)
	env.Setenv("REDIS", st.cfg.Redis.URL.Reveal())
	file := filepath.Join(env.Cd, "operator.yaml")
	env.Setenv("COUNTERSIGN_CONFIG", file)
	return os.WriteFile(file, fmt.Appendf(nil, `
telegram: {token: %q, api_url: %q}
redis: {url: %q}
people: [{id: %d, name: Ann, role: owner}]
http: {listen: %q}
`, st.sim.Token(), st.url, st.cfg.Redis.URL.Reveal(), annID, st.cfg.HTTP.Listen), 0o600)
}

// patience bounds what a script waits for. It is no part of what is tested.
const patience = 30 * time.Second

func (st *stage) commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"bot": func(ts *testscript.TestScript, _ bool, _ []string) { st.start("bot-1") },
		"exits": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < 2 {
				ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
			}
			want, err := strconv.Atoi(args[0])
			ts.Check(err)
			err = ts.Exec(args[1], args[2:]...)
			got := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				got = exit.ExitCode()
			} else {
				ts.Check(err)
			}
			if got != want {
				ts.Fatalf("exit code %d, want %d", got, want)
			}
		},
		"signing": func(ts *testscript.TestScript, _ bool, args []string) {
			st.cfg.Audit.SigningKey = config.NewSecret(ts.ReadFile(args[0]))
		},
		"chained": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(st.awaitChained()) },
		"ready":   func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(st.awaitWord(true)) },
		"deaf": func(ts *testscript.TestScript, _ bool, _ []string) {
			st.sim.Fault(simulator.Fault{
				Method: "getUpdates", Code: http.StatusConflict,
				Description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
			})
			st.ann.Send(annID, "hello") // ends the poll that is held
			ts.Check(st.awaitWord(false))
		},
		"state": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 2 {
				ts.Fatalf("usage: state ID STATE")
			}
			ts.Check(st.awaitState(args[0], approval.State(args[1])))
		},
	}
}

// awaitWord waits until the bot says that it is ready, or that it is not.
func (st *stage) awaitWord(ready bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		words, is, err := askBot(ctx, st.cfg, "/readyz")
		if err == nil && is == ready {
			return nil
		}
		if !wait(ctx, 10*time.Millisecond) {
			return errors.Join(fmt.Errorf("gave up waiting for the bot, which says %q", words), err)
		}
	}
}

// awaitState waits until an approval is in a state.
func (st *stage) awaitState(id string, want approval.State) error {
	return st.awaitRow(id, func(row queue.Row) bool { return row.State == want })
}

// awaitChained waits until the audit is all chained.
func (st *stage) awaitChained() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		left, err := st.redis.LLen(ctx, "{"+st.cfg.Redis.Namespace+"}:bot:audit").Result()
		if err == nil && left == 0 {
			return nil
		}
		if !wait(ctx, 10*time.Millisecond) {
			return errors.Join(fmt.Errorf("gave up waiting for %d lines to be chained", left), err)
		}
	}
}

// awaitRow waits until there is an approval of that id, and it fits.
func (st *stage) awaitRow(id string, fits func(queue.Row) bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		row, err := st.client.Row(ctx, id)
		if err == nil && fits(row) {
			return nil
		}
		if !wait(ctx, 10*time.Millisecond) {
			return errors.Join(fmt.Errorf("gave up waiting for %s, which is %q", id, row.State), err)
		}
	}
}
