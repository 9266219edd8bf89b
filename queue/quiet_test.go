package queue_test

import (
	"context"
	"crypto/rand"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/queue"
	"countersign/store"
)

// While Redis is away the intake tries again ever more seldom, says so at most
// once a second, and stops when it is told to.
func TestOutageIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := &absent{}
		rdb := redis.NewClient(&redis.Options{
			Addr: "nowhere:1", MaxRetries: -1,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		defer rdb.Close()
		rdb.AddHook(away)
		st, err := store.New(rdb, store.Options{Namespace: "ns", Retention: time.Hour, Random: rand.Reader})
		must(t, err)
		log := &lines{}
		in, err := queue.NewIntake(queue.IntakeConfig{
			Redis: rdb, Store: st, Namespace: "ns", Consumer: "one", Retention: time.Hour, Glob: glob, Log: zerolog.New(log),
			Streams:   []queue.Stream{{Key: "{ns}:a"}, {Key: "{ns}:b"}, {Key: "{ns}:c"}},
			Router:    func() queue.Router { return &router{} },
			Durations: func() approval.Durations { return approval.Durations{} },
			Remind:    func() time.Duration { return 0 },
			Owners:    func() []int64 { return nil },
		})
		must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- in.Run(ctx) }()
		<-time.After(time.Minute) // by the bubble's clock
		synctest.Wait()
		if n := log.count("trying again"); n == 0 || n > 60 {
			t.Errorf("%d lines in a minute, want some, at most 60", n)
		}
		if n := away.asked.Load(); n < 3*5 || n > 3*12 {
			t.Errorf("asked %d times in a minute by three streams, want 5 to 12 each", n)
		}
		stop()
		synctest.Wait()
		select {
		case err := <-done:
			must(t, err)
		default:
			t.Error("told to stop, the intake still runs")
		}
	})
}

// An absent server refuses every command and connection at once.
type absent struct{ asked atomic.Int64 }

func (a *absent) DialHook(redis.DialHook) redis.DialHook {
	return func(context.Context, string, string) (net.Conn, error) { return nil, errSevered }
}

func (a *absent) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "xgroup" {
			a.asked.Add(1)
		}
		cmd.SetErr(errSevered)
		return errSevered
	}
}

func (a *absent) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(context.Context, []redis.Cmder) error { return errSevered }
}
