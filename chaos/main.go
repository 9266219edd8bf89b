// Command chaos shows that nothing is lost and nothing happens twice, whatever
// fails: it runs real bot processes on a real redis-server against the simulated
// Bot API, kills, freezes and cuts them off after a seeded schedule while
// approvals are asked, tapped, typed, withdrawn, claimed and reported, and then
// holds everything that is left behind against the promises, one by one.
//
//	go run ./chaos [-seed N] [-for 60s] [-approvals 2000] [-bots 3] [-mode polling|webhook] [-redis PATH]
//
// It prints what was done, what came of it, and PASS or FAIL; a failure is told
// in words, the evidence is kept, and the exit code is 1. With -seed the same
// approvals, people's intentions and strikes come again; how processes interleave
// is up to the machine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/chaos/verdict"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	redis.SetLogger(silent{})
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// silent keeps the Redis library's own words about lost connections to itself:
// they are lost on purpose.
type silent struct{}

// Printf prints nothing.
func (silent) Printf(context.Context, string, ...any) {}

// Exit codes.
const (
	exitPass  = 0
	exitFail  = 1
	exitUsage = 2
)

func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, keep, again, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitPass
	}
	if err != nil {
		fmt.Fprintf(stderr, "chaos: %v\n", err)
		return exitUsage
	}
	if again != "" {
		return judgeAgain(again, stdout, stderr)
	}
	pass, err := wholeRun(ctx, o, stdout)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "chaos: %v\n", err)
		return exitUsage
	case !pass:
		fmt.Fprintf(stdout, "The evidence is in %s.\n", o.out)
		return exitFail
	}
	if !keep {
		_ = os.RemoveAll(o.out)
	}
	return exitPass
}

func parse(args []string, stderr io.Writer) (o options, keep bool, again string, err error) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Uint64Var(&o.seed, "seed", 0, "repeat the plan and the schedule of a run; 0 draws a new seed")
	flags.DurationVar(&o.over, "for", time.Minute, "how long the storm lasts, where the machine can ask everything in that time")
	flags.IntVar(&o.approvals, "approvals", 2000, "how many approvals are asked")
	flags.IntVar(&o.bots, "bots", 3, "how many bot processes run")
	flags.StringVar(&o.redis, "redis", "redis-server", "the redis-server to start")
	flags.StringVar(&o.bot, "bot", "", "a countersign program to test, in place of a fresh build")
	mode := flags.String("mode", "", "polling or webhook; by default the seed decides")
	flags.StringVar(&o.out, "out", "", "keep logs and evidence in this new directory, also of a run that passed")
	flags.StringVar(&again, "judge", "", "judge the evidence of an earlier run once more")
	if err := flags.Parse(args); err != nil {
		return o, false, "", err
	}
	if again != "" {
		return o, false, again, nil
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1 << 32)
	}
	switch *mode {
	case "":
		o.webhook = o.seed%2 == 1
	case "polling", "webhook":
		o.webhook = *mode == "webhook"
	default:
		return o, false, "", fmt.Errorf("-mode %s: polling or webhook", *mode)
	}
	if o.bots < 1 || o.approvals < 1 || o.approvals > 99_999 || o.over <= 0 {
		return o, false, "", errors.New("at least one bot, 1 to 99999 approvals, and some time")
	}
	if o.redis, err = exec.LookPath(o.redis); err != nil {
		return o, false, "", fmt.Errorf("-redis: %w", err)
	}
	if o.out != "" {
		return o, true, "", os.Mkdir(o.out, 0o700)
	}
	o.out, err = os.MkdirTemp("", "chaos")
	return o, false, "", err
}

// wholeRun does everything and reports whether every promise was kept.
func wholeRun(ctx context.Context, o options, stdout io.Writer) (pass bool, err error) {
	fmt.Fprintf(stdout, "chaos -seed %d -for %v -approvals %d -bots %d -mode %s\n", o.seed, o.over, o.approvals, o.bots, modeName(o))
	r, err := newRun(ctx, o)
	if r != nil {
		defer r.close()
	}
	if err != nil {
		return false, err
	}
	r.play(ctx)
	if ctx.Err() != nil {
		return false, errors.New("interrupted")
	}
	e, err := r.gather(ctx)
	if err != nil {
		return false, fmt.Errorf("reading what is left: %w", err)
	}
	if err := save(e, o.out); err != nil {
		return false, err
	}
	v := verdict.Check(e)
	r.tell(stdout, e, v)
	return len(v.Violations) == 0, nil
}

func modeName(o options) string {
	if o.webhook {
		return "webhook"
	}
	return "polling"
}

const evidenceFile = "evidence.json"

func save(e *verdict.Evidence, dir string) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, evidenceFile), data, 0o600)
}

// judgeAgain checks kept evidence.
func judgeAgain(dir string, stdout, stderr io.Writer) int {
	data, err := os.ReadFile(filepath.Join(dir, evidenceFile))
	var e verdict.Evidence
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		fmt.Fprintf(stderr, "chaos: -judge: %v\n", err)
		return exitUsage
	}
	v := verdict.Check(&e)
	tellVerdict(stdout, v)
	if len(v.Violations) > 0 {
		return exitFail
	}
	return exitPass
}
