package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// The parts that this program plays itself, in processes of their own.
const (
	roleFloor   = "floor"
	roleObvious = "obvious"
)

// play is one of them: its arguments are the addresses of Redis and of the Bot API.
func play(ctx context.Context, role string, args []string) error {
	if len(args) != 2 {
		return errors.New("want the addresses of Redis and of the Bot API")
	}
	rdb := dial(args[0])
	defer func() { _ = rdb.Close() }()
	err := errors.New("no such part")
	switch role {
	case roleFloor:
		err = newFloor(rdb, args[1]).run(ctx)
	case roleObvious:
		err = obvious(ctx, rdb, args[1])
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func dial(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, PoolSize: 64, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// A process is a running program whose resources are read from /proc.
type process struct {
	cmd     *exec.Cmd
	started time.Time
	ended   chan struct{}
	said    bytes.Buffer // read after ended
}

// begin starts a program. It ends with ctx.
func begin(ctx context.Context, argv ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is told by what it said
		close(p.ended)
	}()
	return p, nil
}

// stop asks a process to stop, and ends it where it does not.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	late := time.NewTimer(12 * time.Second)
	defer late.Stop()
	select {
	case <-p.ended:
	case <-late.C:
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// failed is the error of a process that ended by itself.
func (p *process) failed() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s ended: %s", p.cmd.Path, strings.TrimSpace(p.said.String()))
	default:
		return nil
	}
}

// clockTicks is how many of its ticks Linux counts a second, whatever its timer's rate.
const clockTicks = 100

// cpu is what a process has used, in seconds.
func (p *process) cpu() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The name in brackets may hold anything; user and system time are the 12th and 13th field after it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	total := 0.0
	for _, i := range []int{11, 12} {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total / clockTicks, nil
}

// memory is what of a process lies in memory, in MiB.
func (p *process) memory() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, errors.New("/proc tells no VmRSS")
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	return kib / 1024, err
}
