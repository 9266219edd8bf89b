// Command bench measures how fast the bot is, and says how much of what it takes is
// the bot's own: beside it, in the same rounds, run a floor and an obvious bot.
//
//	go run ./bench [-rounds 3] [-quick] [-only WORDS] [-docs] [-redis PATH] [-bot PATH] [-filled DIR]
//
// # Who runs
//
// The bot is the program as it is built from this tree, with the promises it keeps. The
// floor does the least work that shows owner and runtime the same: requests read in
// batches, one script for the row, one JSON POST over kept connections, one script for
// the answer, nothing else and nothing kept for a crash. The obvious bot is what one
// writes in an afternoon: the library's own loop, one goroutine, state in memory.
//
// Each is a process of its own, and so is the redis-server (append-only file, fsync
// every second). The Bot API is served by this process: by hand, so that it takes
// little, and with answers that come at once or after a time that stands for the
// network.
//
// # What is measured
//
// The same in every round, one contender after another, so that what else the machine
// does meets all alike. The table gives medians over the rounds, with the least and the
// most; ratios are taken within a round. A latency counts from the moment before the
// request is added, or from when the tap can be fetched, to when the call has arrived
// here, or the answer was read. Limits are off: they are Telegram's, not ours.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	redis.SetLogger(silent{})
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// silent keeps the Redis library's own words to itself.
type silent struct{}

// Printf prints nothing.
func (silent) Printf(context.Context, string, ...any) {}

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && (args[0] == roleFloor || args[0] == roleObvious) {
		if err := play(ctx, args[0], args[1:]); err != nil {
			fmt.Fprintf(stderr, "bench %s: %v\n", args[0], err)
			return exitFailed
		}
		return exitDone
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	if err == nil {
		err = bench(ctx, o, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return exitUsage
	}
	return exitDone
}

// options are what a run is asked to do.
type options struct {
	rounds int
	quick  bool
	docs   bool
	only   string
	redis  string
	bot    string // a program to measure in place of a fresh build
	filled string // where what Redis holds with many open is kept between runs; "" for nowhere
	sizes
}

// sizes are how much of everything a run has.
type sizes struct {
	waiting     int // requests that wait for a bot to start
	slowWaiting int // the same, with a slow API
	slowObvious int // of these the obvious bot is given, which takes one at a time
	paced       int // approvals of a second's share, at pace
	open        int // approvals that are open beside
	lapsing     int // approvals that lapse together
	starts      int // in a row
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.rounds, "rounds", 3, "how often everything is measured")
	flags.BoolVar(&o.quick, "quick", false, "a tenth of everything, to see that it works")
	flags.BoolVar(&o.docs, "docs", false, "write table and plots into docs/")
	flags.StringVar(&o.only, "only", "", "measure only these, by first letters, comma-separated: intake, slow, paced, start, full, sweep")
	flags.StringVar(&o.redis, "redis", "redis-server", "the redis-server to start")
	flags.StringVar(&o.bot, "bot", "", "a countersign program to measure, in place of a fresh build")
	flags.StringVar(&o.filled, "filled", "", "a folder that keeps what Redis holds with 100,000 open, so that the next run need not fill it again")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.rounds < 1 {
		return o, errors.New("at least one round")
	}
	o.sizes = sizes{waiting: 5000, slowWaiting: 5000, slowObvious: 60, paced: 500, open: 100_000, lapsing: 10_000, starts: 5}
	if o.quick {
		o.sizes = sizes{waiting: 1000, slowWaiting: 1000, slowObvious: 20, paced: 100, open: 5000, lapsing: 1000, starts: 2}
	}
	o.redis, err = exec.LookPath(o.redis)
	return o, err
}

// wants reports whether a part is to be measured.
func (o options) wants(part string) bool {
	for word := range strings.SplitSeq(o.only, ",") {
		if strings.HasPrefix(part, word) {
			return true
		}
	}
	return false
}
