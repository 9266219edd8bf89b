package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"
)

// A stage is where contenders play: a redis-server, and what starts them.
type stage struct {
	dir     string
	redis   *process
	addr    string
	rdb     *redis.Client
	self    string // this program
	bot     string // the bot's
	numbers int64  // from where the next API numbers its messages and updates
}

// newStage starts a redis-server of its own. It ends with ctx.
func newStage(ctx context.Context, dir, server, bot string) (*stage, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &stage{dir: dir, self: self, bot: bot}
	if s.addr, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return nil, err
	}
	s.redis, err = begin(ctx, server, "--port", port, "--bind", "127.0.0.1", "--dir", dir,
		"--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--daemonize", "no")
	if err != nil {
		return nil, err
	}
	s.rdb = dial(s.addr)
	for s.rdb.Ping(ctx).Err() != nil {
		if err := errors.Join(s.redis.failed(), ctx.Err()); err != nil {
			return nil, err
		}
		after(ctx, 20*time.Millisecond)
	}
	return s, nil
}

func (s *stage) close() {
	_ = s.rdb.Close()
	s.redis.stop()
}

// freeAddress is an address that nobody listens on just now.
func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// A contender is what is measured.
type contender string

// The contenders, in the order of the table.
const (
	theBot   contender = "Countersign"
	theFloor contender = "floor"
	theUsual contender = "obvious bot"
)

// A player is a contender at work.
type player struct {
	*process
	api *api
	end context.CancelFunc
}

// enter starts a contender before an API of its own.
func (s *stage) enter(ctx context.Context, c contender, delay time.Duration, watch func(deed)) (*player, error) {
	ctx, end := context.WithCancel(ctx)
	s.numbers += 10_000_000
	a, err := newAPI(ctx, s.numbers, delay, watch)
	if err != nil {
		end()
		return nil, err
	}
	argv := []string{s.self, roleFloor, s.addr, a.url()}
	switch c {
	case theUsual:
		argv[1] = roleObvious
	case theBot:
		file, err := s.configure(ctx, a.url())
		if err != nil {
			end()
			return nil, err
		}
		argv = []string{s.bot, "--config", file, "run", "--name", "bench"}
	}
	p, err := begin(ctx, argv...)
	if err != nil {
		end()
		return nil, err
	}
	return &player{process: p, api: a, end: end}, nil
}

// leave stops a contender, and then its API.
func (p *player) leave() {
	p.stop()
	p.end()
}

// configure writes the bot's configuration: what is not named is as it comes.
func (s *stage) configure(ctx context.Context, api string) (string, error) {
	health, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	file := filepath.Join(s.dir, "countersign.yaml")
	return file, os.WriteFile(file, fmt.Appendf(nil, `telegram:
  token: %s
  api_url: %s
  limits: {per_second: 0, chat_per_second: 0, group_per_minute: 0}
redis: {url: "redis://%s/0"}
people:
  - {id: %d, name: Ann, role: owner}
http: {listen: %q}
`, token, api, s.addr, owner, health), 0o600)
}

// publish adds requests, the ones from a number on.
func (s *stage) publish(ctx context.Context, from, n int, until time.Time) error {
	for n > 0 {
		some := min(n, 500)
		_, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range some {
				s.add(ctx, p, from+i, until)
			}
			return nil
		})
		if err != nil {
			return err
		}
		from, n = from+some, n-some
	}
	return nil
}

func (s *stage) add(ctx context.Context, to redis.Cmdable, n int, until time.Time) *redis.StringCmd {
	return to.XAdd(ctx, &redis.XAddArgs{Stream: keyRequests, Values: []any{"type", "approval.requested", "data", request(n, until)}})
}

// build builds the bot as an image holds it.
func build(ctx context.Context, dir string) (string, error) {
	out := filepath.Join(dir, "countersign")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, "./cmd/bot")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the bot: %w\n%s", err, text)
	}
	return out, nil
}
