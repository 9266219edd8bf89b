package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A guardian ends every child that is left when this process is gone, however it
// went. It learns of them by their ids.
type guardian struct {
	mu    sync.Mutex // guards lines
	lines io.WriteCloser
	shell *exec.Cmd
}

const guard = `pids=" "
while read -r sign pid; do
	case $sign in
	+) pids="$pids$pid " ;;
	-) pids="${pids% "$pid" *} ${pids#* "$pid" }" ;;
	esac
done
for pid in $pids; do kill -9 "$pid"; done 2>/dev/null`

func newGuardian() (*guardian, error) {
	g := &guardian{shell: exec.Command("/bin/sh", "-c", guard)}
	g.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt at the terminal is ours to handle
	var err error
	if g.lines, err = g.shell.StdinPipe(); err != nil {
		return nil, err
	}
	return g, g.shell.Start()
}

func (g *guardian) note(sign string, pid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, _ = fmt.Fprintf(g.lines, "%s %d\n", sign, pid)
}

// close ends what is left.
func (g *guardian) close() {
	_ = g.lines.Close()
	_ = g.shell.Wait()
}

// A child is a process that can be killed, frozen and started again.
type child struct {
	guardian *guardian
	argv     []string
	log      string // file that takes its output, over all its lives

	mu    sync.Mutex // guards what follows
	cmd   *exec.Cmd
	ended chan struct{}
	ready chan struct{} // closed when the present life has said that it is ready
	state error         // of the last exit
}

// A readiness passes output on, and looks for the word that the bot is ready.
type readiness struct {
	to    io.Writer
	ready chan struct{}
	found bool
}

// Write is called by one goroutine.
func (r *readiness) Write(p []byte) (int, error) {
	if !r.found && bytes.Contains(p, []byte("is ready")) {
		r.found = true
		close(r.ready)
	}
	return r.to.Write(p)
}

// start starts it. It must not be running.
func (c *child) start() error {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ready := make(chan struct{})
	cmd.Stdout, cmd.Stderr = &readiness{to: log, ready: ready}, log
	if err := cmd.Start(); err != nil {
		_ = log.Close()
		return err
	}
	c.guardian.note("+", cmd.Process.Pid)
	ended := make(chan struct{})
	c.mu.Lock()
	c.cmd, c.ended, c.ready = cmd, ended, ready
	c.mu.Unlock()
	go func() {
		err := cmd.Wait()
		_ = log.Close()
		c.guardian.note("-", cmd.Process.Pid)
		c.mu.Lock()
		c.state = err
		c.mu.Unlock()
		close(ended)
	}()
	return nil
}

// running reports whether it runs, or is frozen.
func (c *child) running() bool {
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	if ended == nil {
		return false
	}
	select {
	case <-ended:
		return false
	default:
		return true
	}
}

// signal sends a signal, if it runs.
func (c *child) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd != nil {
		_ = c.cmd.Process.Signal(s)
	}
}

// serving waits until the present life has said that it is ready, and reports
// whether it did.
func (c *child) serving(within time.Duration) bool {
	c.mu.Lock()
	ready, ended := c.ready, c.ended
	c.mu.Unlock()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-ready:
		return true
	case <-ended:
	case <-timer.C:
	}
	return false
}

// done is closed when the present life has ended.
func (c *child) done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// kill ends it at once, and waits until it is gone.
func (c *child) kill() {
	if !c.running() {
		return
	}
	c.signal(syscall.SIGKILL)
	<-c.done()
}

// exit is how the last life ended.
func (c *child) exit() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}
