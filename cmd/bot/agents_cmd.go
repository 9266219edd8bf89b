package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/redis/go-redis/v9"

	"countersign/agents"
	"countersign/approval"
	"countersign/config"
	"countersign/queue"
)

// A desk is how a command for coding agents asks.
type desk struct {
	target
	Stream  string        `help:"The inbound stream; else the first that takes the runtime." placeholder:"KEY"`
	Runtime string        `help:"Who asks, as routes and policies match it." default:"${runtime}"`
	Prefix  string        `name:"id-prefix" help:"What every approval's id begins with, where the stream takes no other." placeholder:"TEXT"`
	Within  time.Duration `help:"How long an owner has to answer." default:"9m"`
	Key     []string      `sep:"none" help:"Public keys of which one must have signed the answer, PEM; else those of the configuration." placeholder:"PUB.pem"`
}

// Bounds of the flags.
const (
	leastWithin   = 5 * time.Second
	mostWithin    = 7 * 24 * time.Hour
	longestPrefix = 64
)

// open makes a desk, and does not touch Redis yet: what fails there fails when a
// call is asked, where it can be answered.
func (d desk) open(s *shell) (*agents.Desk, redis.UniversalClient, error) {
	if d.Within < leastWithin || d.Within > mostWithin {
		return nil, nil, fail(exitUsage, "--within: want %v to %v", leastWithin, mostWithin)
	}
	if d.Prefix != "" && (!approval.ValidID(d.Prefix) || len(d.Prefix) > longestPrefix) {
		return nil, nil, fail(exitUsage, "--id-prefix: want at most %d of A-Z a-z 0-9 . _ : -", longestPrefix)
	}
	rdb, cfg, err := d.connect(s)
	if err != nil {
		return nil, nil, err
	}
	stream := d.Stream
	if stream == "" && d.Redis == "" {
		if own, ok := cfg.StreamFor(d.Runtime); ok {
			stream = own.Key
		}
	}
	if stream == "" {
		stream = "{" + cfg.Redis.Namespace + "}:requests"
	}
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	keys, err := d.keys(s, cfg)
	if err != nil {
		return nil, nil, errors.Join(err, rdb.Close())
	}
	return &agents.Desk{
		Client:  queue.NewClient(rdb, cfg.Redis.Namespace, queue.WithStream(stream), queue.WithKeys(keys)),
		Runtime: d.Runtime, By: fmt.Sprintf("%.60s on %.60s", d.Runtime, host), Stream: stream, Within: d.Within, Prefix: d.Prefix,
		Read: readRegular, NewID: newCallID,
	}, rdb, nil
}

// keys are those of which one must have signed an answer, nil where none need have.
func (d desk) keys(s *shell, cfg config.Config) (*approval.Keys, error) {
	if slices.Contains(d.Key, "-") {
		return nil, fail(exitUsage, "--key: want a file, since standard input is the agent's")
	}
	if keys, err := s.publicKeys(d.Key); keys != nil || err != nil {
		return keys, err
	}
	return signingKeys(cfg)
}

// largestRead bounds a file that is read for a diff, in bytes.
const largestRead = 1 << 20

// readRegular reads a file that can be read without waiting for anything. A device is
// not even opened, which may do something.
func readRegular(path string) ([]byte, error) {
	if err := regular(os.Stat(path)); err != nil {
		return nil, err
	}
	return readAtOnce(path)
}

// readAtOnce waits neither for a writer nor for an end, whatever a path has become
// since it was looked at.
func readAtOnce(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := regular(f.Stat()); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, largestRead+1))
	if err == nil && len(text) > largestRead {
		err = errTooLong
	}
	return text, err
}

var errTooLong = errors.New("it is too long")

// regular is an error for what is no file of a length that is read.
func regular(info fs.FileInfo, err error) error {
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case info.Size() > largestRead:
		return errTooLong
	}
	return nil
}

func newCallID() (string, error) { return "call-" + rand.Text(), nil }

type hookCmd struct {
	ClaudeCode claudeCodeCmd `cmd:"" name:"claude-code" set:"runtime=claude-code" help:"Decide on a tool call of Claude Code: reads the hook's JSON, prints the decision."`
}

type claudeCodeCmd struct {
	desk
	Pass      []string `help:"Say nothing of these tools either, by their exact names." placeholder:"TOOL"`
	Otherwise string   `help:"What to say of a call that no owner answered: deny or ask." enum:"deny,ask" default:"deny"`
}

// Run answers one hook. Claude Code takes an exit code other than 0 and 2 for a
// hook that broke, and goes on without it: so whatever goes wrong before a call
// is a decision on standard output, or code 2.
func (c *claudeCodeCmd) Run(s *shell) error {
	defer s.endOnHangup()()
	data, err := s.readEvent()
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	event, err := agents.ReadEvent(data)
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	hook := &agents.Hook{Pass: append(agents.Passed(), c.Pass...), Otherwise: agents.Fallback(c.Otherwise)}
	if !event.Reports() && hook.Passes(event) {
		return nil
	}
	own, rdb, err := c.open(s)
	switch {
	case err == nil:
		defer func() { _ = rdb.Close() }()
		hook.Desk = own
	case event.Reports():
		return err
	default:
		return s.decide(hook.Failed(event, err))
	}
	if event.Reports() {
		ctx, cancel := s.within(agents.Grace)
		defer cancel()
		if err := hook.After(ctx, event); err != nil {
			return fail(exitUnavailable, "what came of the call was not reported: %w", err)
		}
		return nil
	}
	return s.decide(hook.Before(s.ctx, event))
}

// endOnHangup has a terminal that closes end a command like any other stop, so that
// what was asked is withdrawn.
func (s *shell) endOnHangup() (stop func()) {
	s.ctx, stop = signal.NotifyContext(s.ctx, syscall.SIGHUP)
	return stop
}

// decide prints a decision. One that cannot be printed is a no.
func (s *shell) decide(decision []byte) error {
	if _, err := s.stdout.Write(decision); err != nil {
		return fail(exitUsage, "the decision could not be printed: %w", err)
	}
	return nil
}

// inputWithin bounds how long a hook waits for its input.
const inputWithin = 10 * time.Second

// readEvent reads standard input to its end. A read that blocks holds up neither a
// signal nor the bound.
func (s *shell) readEvent() ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	ctx, cancel := s.within(inputWithin)
	defer cancel()
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(s.stdin, agents.MaxEvent+1))
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, errors.New("no whole event came on standard input")
	}
}

type mcpCmd struct{ desk }

// Run serves an agent on standard input and output.
func (c *mcpCmd) Run(s *shell) error {
	defer s.endOnHangup()()
	own, rdb, err := c.open(s)
	if err != nil {
		return err
	}
	defer func() { _ = rdb.Close() }()
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	err = agents.NewServer(own, "mcp-"+rand.Text(), version).Run(s.ctx, &mcp.IOTransport{
		Reader: io.NopCloser(s.stdin), Writer: unclosed{s.stdout},
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fail(exitNotDone, "the session ended: %w", err)
	}
	return nil
}

// unclosed is a writer that is not ours to close.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }
