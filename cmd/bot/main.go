// Command countersign is a Telegram bot through which an owner approves, call by
// call, what agents and automations want to do.
//
// This package only wires: it reads flags and configuration, opens connections,
// builds the rooms and runs them. It is the one place that reads the clock, the
// environment and the system's randomness.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // images without zone data

	"github.com/redis/go-redis/v9"
)

// How much garbage may gather before it is collected, in percent of what lives, where GOGC
// does not say so, and from how many bytes in all it is collected sooner, where GOMEMLIMIT
// does not. What lives is a few megabytes most of the time, so this is little memory;
// collecting took a sixth of the time at Go's own 100. In a burst of large requests much
// more may live, and the limit, which is no hard one, keeps what is added to that small.
// giveBack returns what a burst has left.
const (
	gcPercent   = 400
	memoryLimit = 256 << 20
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	redis.SetLogger(quiet{}) // it would write past our log what it returns as errors anyway
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, world{
		args: os.Args[1:], environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
	})
	stop()
	os.Exit(code)
}

// quiet drops what a library would print by itself.
type quiet struct{}

// Printf prints nothing.
func (quiet) Printf(context.Context, string, ...any) {}

// A world is what a run of the program sees of its surroundings, so that tests
// can run the same program in theirs.
type world struct {
	args    []string
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
}

// Exit codes.
const (
	exitDone        = 0
	exitNotDone     = 1 // or rejected
	exitUsage       = 2
	exitLapsed      = 3
	exitRefused     = 4 // or invalid
	exitWithdrawn   = 5
	exitUnavailable = 69
)
