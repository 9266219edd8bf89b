package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"countersign/config"
)

// The demo runs the bot as a process of its own, so that killing it is the real thing:
// SIGKILL, at whatever instruction it stands. The process gets its configuration by its
// standard input, up to the line endOfConfig; so no file is left behind. Then the input
// stays open for as long as the demo lives, however that ends, and with it ends the bot.

// endOfConfig is how YAML marks the end of a document.
const endOfConfig = "..."

// demoBotCmd is the bot of a demo, as the demo starts it.
type demoBotCmd struct{}

// Run runs the bot until its input ends.
func (c *demoBotCmd) Run(s *shell) error {
	input := bufio.NewReader(s.stdin)
	text, err := readDocument(input)
	if err != nil {
		return fail(exitUsage, "read the configuration from the standard input: %w", err)
	}
	cfg, err := config.Parse("the demo's configuration", text, nil)
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	ctx, end := context.WithCancel(s.ctx)
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, input) // how it ends does not matter
		end()
	}()
	return s.serve(ctx, cfg, "demo")
}

// readDocument reads up to the end of a YAML document.
func readDocument(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		line, err := r.ReadString('\n')
		if strings.TrimSpace(line) == endOfConfig {
			return text, nil
		}
		if err != nil {
			return nil, fmt.Errorf("before a line %q: %w", endOfConfig, err)
		}
		text = append(text, line...)
	}
}

// A demoProcess is one process of the bot. Its methods may be called from several
// goroutines.
type demoProcess struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ready chan struct{} // closed when it serves
	done  chan struct{} // closed when it has ended, after err was set
	err   error
}

// startProcess starts the bot by a configuration. What it logs goes to log.
func startProcess(configuration []byte, log io.Writer) (*demoProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("where this program is: %w", err)
	}
	cmd := &exec.Cmd{
		Path: self, Args: []string{"countersign", "demo-bot"},
		Env:    []string{}, // the demo's bot has nothing to do with what the user has configured
		Stderr: log, WaitDelay: time.Second,
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the bot: %w", err)
	}
	p := &demoProcess{cmd: cmd, stdin: stdin, ready: make(chan struct{}), done: make(chan struct{})}
	go p.follow(stdout)
	if _, err := fmt.Fprintf(stdin, "%s\n%s\n", configuration, endOfConfig); err != nil {
		p.kill()
		return nil, fmt.Errorf("tell the bot its configuration: %w", err)
	}
	return p, nil
}

// follow waits for the line that says that the bot is ready, and for its end.
func (p *demoProcess) follow(stdout io.Reader) {
	lines := bufio.NewReader(stdout)
	if _, err := lines.ReadString('\n'); err == nil {
		close(p.ready)
	}
	_, _ = io.Copy(io.Discard, lines)
	p.err = p.cmd.Wait()
	close(p.done)
}

func (p *demoProcess) pid() int { return p.cmd.Process.Pid }

// kill ends the process at once, and returns when it is gone.
func (p *demoProcess) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
}

// stopProcessWithin is longer than the bot takes at most.
const stopProcessWithin = stopWithin + 2*time.Second

// stop lets the process end cleanly, and kills it if it does not.
func (p *demoProcess) stop() error {
	_ = p.stdin.Close() // it may be gone
	patience := time.NewTimer(stopProcessWithin)
	defer patience.Stop()
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("the bot ended: %w", p.err)
		}
		return nil
	case <-patience.C:
		p.kill()
		return errors.New("the bot did not stop, and was killed")
	}
}
