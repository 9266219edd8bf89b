package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A bot is one process with its own way to Redis.
type bot struct {
	*child
	cutter  *cutter
	control sync.Mutex // held by whoever kills, freezes and starts it
}

func (r *run) startBots() error {
	var hooks []string
	public := ""
	for range r.options.bots {
		address, err := freeAddress()
		if err != nil {
			return err
		}
		hooks = append(hooks, address)
	}
	if r.options.webhook {
		url, err := r.open(r.front.crossing(hooks, r.nextOdd))
		if err != nil {
			return err
		}
		public = url + "/hook"
	}
	for n := range r.options.bots {
		b, err := r.newBot(n, public, hooks[n])
		if err != nil {
			return err
		}
		r.bots = append(r.bots, b)
		if err := b.start(); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) newBot(n int, public, hook string) (*bot, error) {
	c, err := newCutter(r.db.addr)
	if err != nil {
		return nil, err
	}
	api, err := r.open(r.front.door(n))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(r.options.out, fmt.Sprintf("bot-%d.yaml", n))
	if err := os.WriteFile(file, []byte(r.configuration(api, c.address(), public, hook)), 0o600); err != nil {
		return nil, err
	}
	if n == 0 {
		r.operatorConfig = filepath.Join(r.options.out, "operator.yaml")
		if err := os.WriteFile(r.operatorConfig, []byte(r.configuration(api, r.db.addr, public, hook)), 0o600); err != nil {
			return nil, err
		}
	}
	return &bot{cutter: c, child: &child{
		guardian: r.guardian, log: filepath.Join(r.options.out, fmt.Sprintf("bot-%d.log", n)),
		argv: []string{r.bot, "run", "--config", file, "--name", fmt.Sprintf("bot-%d", n)},
	}}, nil
}

// configuration is a bot's. Telegram's limits are off, on both sides: otherwise
// the run would measure nothing but them; that they are kept is tested elsewhere.
func (r *run) configuration(api, redis, public, hook string) string {
	var s strings.Builder
	mode := "polling"
	if public != "" {
		mode = fmt.Sprintf("webhook\n  webhook: {public_url: %q, listen: %q}", public, hook)
	}
	fmt.Fprintf(&s, `telegram:
  token: %q
  api_url: %q
  limits: {per_second: 0, chat_per_second: 0, group_per_minute: 0}
  mode: %s
redis: {url: "redis://%s/0", namespace: %s}
people:
  - {id: %d, name: Ann, role: owner}
  - {id: %d, name: Olga, role: owner}
  - {id: %d, name: Dora, role: owner}
  - {id: %d, name: Ben, role: reader}
routes:
`, r.sim.Token(), api, mode, redis, namespace, annID, olgaID, doraID, benID)
	for _, route := range routes() {
		chats, owners := []string{}, []string{}
		for _, id := range route.chats {
			chats = append(chats, fmt.Sprintf("{id: %d}", id))
		}
		for _, id := range route.owners {
			owners = append(owners, fmt.Sprint(id))
		}
		fmt.Fprintf(&s, "  - {match: {runtime: %s}, chats: [%s], owners: [%s], quorum: %d}\n",
			route.runtime, strings.Join(chats, ", "), strings.Join(owners, ", "), route.quorum)
	}
	fmt.Fprintf(&s, `confirm: {dwell: %v, window: %v}
expiry: {remind: 3s}
sweep: {schedule: "@every 1s"}
http: {listen: "127.0.0.1:0"}
log: {level: debug}
`, dwell, window)
	return s.String()
}

// serving waits until a bot serves.
func (r *run) serving(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	for {
		n, err := r.db.client.Exists(ctx, keyOf("alive")).Result()
		if err == nil && n == 1 && r.db.leader(ctx) >= 0 {
			return nil
		}
		if !pause(ctx, 100*time.Millisecond) {
			return fmt.Errorf("no bot serves: %w; see %s", context.Cause(ctx), r.options.out)
		}
	}
}
