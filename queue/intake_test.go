package queue_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"countersign/approval"
	"countersign/queue"
	"countersign/store/storetest"
)

func TestNewIntakeChecks(t *testing.T) {
	b := newBench(t, storetest.Embedded(t))
	bad := map[string]func(*queue.IntakeConfig){
		"no redis":     func(c *queue.IntakeConfig) { c.Redis = nil },
		"no store":     func(c *queue.IntakeConfig) { c.Store = nil },
		"no consumer":  func(c *queue.IntakeConfig) { c.Consumer = "" },
		"no router":    func(c *queue.IntakeConfig) { c.Router = nil },
		"no durations": func(c *queue.IntakeConfig) { c.Durations = nil },
		"no remind":    func(c *queue.IntakeConfig) { c.Remind = nil },
		"no owners":    func(c *queue.IntakeConfig) { c.Owners = nil },
		"no glob":      func(c *queue.IntakeConfig) { c.Glob = nil },
		"no retention": func(c *queue.IntakeConfig) { c.Retention = 0 },
		"no key":       func(c *queue.IntakeConfig) { c.Streams = []queue.Stream{{}} },
		"same twice":   func(c *queue.IntakeConfig) { c.Streams = []queue.Stream{{Key: "a"}, {Key: "a"}} },
	}
	for name, spoil := range bad {
		cfg := b.config("one")
		spoil(&cfg)
		if _, err := queue.NewIntake(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Two processes share the work: each event is taken by one of them.
func TestTwoConsumers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		ctx, stop := context.WithCancel(within(t))
		done := make(chan error, 2)
		for _, consumer := range []string{"one", "two"} {
			in := b.newIntake(consumer, func(c *queue.IntakeConfig) { c.Batch = 3 })
			go func() { done <- in.Run(ctx) }()
		}
		const many = 60
		for i := range many {
			b.request(fmt.Sprintf("a%d", i))
		}
		b.eventually(ctx, func() bool { return b.state(fmt.Sprintf("a%d", many-1)) != "" && b.pending() == 0 })
		stop()
		must(t, <-done)
		must(t, <-done)
		for i := range many {
			if got := b.state(fmt.Sprintf("a%d", i)); got != approval.Open {
				t.Errorf("a%d is %q, want open", i, got)
			}
		}
		if n := b.count.of(queue.EventOpened); n != many || b.count.of(queue.EventRepeated) != 0 {
			t.Errorf("counted %v, want %d opened and none repeated", b.count.seen, many)
		}
	})
}

// The replies look different to a connection that speaks the old protocol.
func TestOldProtocol(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		o, err := redis.ParseURL(s.URL())
		must(t, err)
		o.Protocol = 2
		o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		old := redis.NewClient(o)
		defer old.Close()
		over := func(c *queue.IntakeConfig) { c.Redis = old }
		b := newBench(t, s, over)
		b.step()
		b.request("a1")
		b.readAs("one")
		b.request("a2")
		b.intake = b.newIntake("one", over)
		b.step()
		b.request("a3")
		b.step()
		for _, id := range []string{"a1", "a2", "a3"} {
			if got := b.state(id); got != approval.Open {
				t.Errorf("%s is %q, want open", id, got)
			}
		}
		if n := b.pending(); n != 0 {
			t.Errorf("%d pending, want 0", n)
		}
	})
}
