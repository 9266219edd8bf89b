package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/config"
	"countersign/setup"
	"countersign/store"
	"countersign/telegram"
)

type initCmd struct {
	APIURL string        `name:"api-url" help:"The Bot API server, where you run your own." placeholder:"URL"`
	Output string        `short:"o" help:"Where to write the configuration, unless you say otherwise." default:"countersign.yaml" placeholder:"FILE"`
	Wait   time.Duration `help:"How long to wait for the code." default:"5m"`
}

// Run asks at the terminal, and writes a configuration.
func (c *initCmd) Run(s *shell) error {
	t, err := s.openTerminal()
	if err != nil {
		return fail(exitUsage, "%w; countersign config example prints a configuration to fill in", err)
	}
	result, err := setup.Run(s.ctx, setup.Options{
		Terminal: t, Bot: c.bot, Redis: askRedis, Exists: exists, Absolute: filepath.Abs,
		APIURL: c.APIURL, Code: newCode(), Output: c.Output, WaitFor: c.Wait,
	})
	switch {
	case s.ctx.Err() != nil:
		t.Say("")
		return errors.New("stopped; nothing was written")
	case err != nil:
		return fmt.Errorf("nothing was written: %w", err)
	}
	if err := result.Write(); err != nil {
		return err
	}
	t.Say("Written, for your eyes alone: " + strings.Join(result.Paths(), ", "))
	t.Say("")
	return c.examine(s, t, result.Path)
}

// examine shows how the new configuration fares, and what to do next.
func (c *initCmd) examine(s *shell, t *terminal, path string) error {
	s.config = path
	cfg, err := s.load()
	if err != nil {
		return err
	}
	ctx, cancel := s.within(examineFor)
	defer cancel()
	report := newReport(s, false)
	if err := s.examine(ctx, cfg, report.tell); err != nil {
		return err
	}
	err = report.end()
	t.Say("")
	if err != nil {
		t.Say("See to the faults; countersign doctor --config " + path + " looks again.")
	}
	t.Say("Next:  countersign run --config " + path)
	return err
}

// bot makes a client for a token.
func (c *initCmd) bot(token string) (setup.Telegram, error) {
	return telegram.New(telegram.Config{Token: token, APIURL: c.APIURL, Timeout: examineCallFor})
}

// askRedisFor bounds how long a Redis is asked.
const askRedisFor = 5 * time.Second

// askRedis asks a Redis about itself and a queue.
func askRedis(ctx context.Context, address, namespace string) (setup.RedisAnswer, error) {
	if !namespaceForm.MatchString(namespace) {
		return setup.RedisAnswer{}, errors.New("a queue's name is 1 to 64 of A-Z a-z 0-9 . _ -")
	}
	ctx, cancel := context.WithTimeout(ctx, askRedisFor)
	defer cancel()
	cfg := config.Default()
	cfg.Redis.URL, cfg.Redis.Namespace = config.NewRedisURL(address), namespace
	rdb, err := dial(cfg, 0, once, hasty)
	if err != nil {
		return setup.RedisAnswer{}, err
	}
	defer func() { _ = rdb.Close() }()
	st, err := store.New(rdb, store.Options{Namespace: namespace, Retention: cfg.Retention})
	if err != nil {
		return setup.RedisAnswer{}, err
	}
	server, err := st.Server(ctx)
	if err != nil {
		return setup.RedisAnswer{}, err
	}
	present, err := st.Presence(ctx)
	if err != nil {
		return setup.RedisAnswer{}, err
	}
	return setup.RedisAnswer{Version: server.Version, Served: present.Alive}, nil
}

// hasty does not try for long to reach a server that may not be there.
func hasty(o *redis.Options) { o.DialTimeout, o.DialerRetries = 3*time.Second, 1 }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// newCode is what the owner sends: short enough to type, and not to be guessed while it
// is waited for.
func newCode() string { return strings.ToLower(rand.Text()[:8]) }
