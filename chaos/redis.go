package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// database is a real redis-server whose data outlive it.
type database struct {
	*child
	addr   string
	client *redis.Client // past every cutter, for those who are not bots
}

// newDatabase starts a server on a free port.
//
// The append-only file is written with fsync always. Redis answers a command only
// after that, so what anybody was told is on disk, and a kill at any instant may
// lose nothing that was acknowledged: the promises can be held to the letter.
func newDatabase(g *guardian, path, dir string, out string) (*database, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	d := &database{addr: addr, child: &child{guardian: g, log: filepath.Join(out, "redis.log"), argv: []string{
		path, "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--appendonly", "yes", "--appendfsync", "always",
		"--save", "", "--daemonize", "no", "--maxclients", "20000", "--auto-aof-rewrite-percentage", "0",
	}}}
	d.client = redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, PoolSize: 4000, DialTimeout: time.Second, DialerRetries: 1,
		ReadTimeout: 4 * time.Second, WriteTimeout: 2 * time.Second, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	return d, nil
}

// up starts it and waits until it answers. A server that just died may keep its
// port for a moment.
func (d *database) up(ctx context.Context) error {
	for {
		if !d.running() {
			if err := d.start(); err != nil {
				return err
			}
		}
		if err := d.client.Ping(ctx).Err(); err == nil {
			return nil
		}
		if !pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("redis-server did not start: %w", context.Cause(ctx))
		}
	}
}

// freeze stops the server for a while, as a machine that swaps does.
func (d *database) freeze(ctx context.Context, while time.Duration) {
	d.signal(syscall.SIGSTOP)
	pause(ctx, while)
	d.signal(syscall.SIGCONT)
}

// leader is the number of the bot that holds the lease, -1 if none does or
// nobody can be asked.
func (d *database) leader(ctx context.Context) int {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	holder, err := d.client.HGet(ctx, "{"+namespace+"}:bot:lease", "holder").Result()
	if err != nil {
		return -1
	}
	var n int
	if _, err := fmt.Sscanf(holder, "bot-%d/", &n); err != nil {
		return -1
	}
	return n
}

// freeAddress is an address that nobody listens on just now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// pause waits, and reports false where ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
