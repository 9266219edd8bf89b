package sweeper_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/robfig/cron/v3"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/sweeper"
)

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }

// A hall is a store inside a bubble, with the bubble's time.
type hall struct {
	store *store.Store
	rdb   *redis.Client
	log   *lines
}

func newHall(t *testing.T) *hall {
	t.Helper()
	m := miniredis.NewMiniRedis()
	t.Cleanup(m.Close)
	rdb := redis.NewClient(&redis.Options{
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return storetest.Dial(m) },
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	st, err := store.New(rdb, store.Options{Namespace: "approvals", Retention: storetest.Retention, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return &hall{store: st, rdb: rdb, log: &lines{}}
}

// run runs a sweeper until the returned func is called.
func (h *hall) run(t *testing.T, count func(string, ...string)) (stop func() error) {
	s := sweeper.New(sweeper.Config{
		Store: h.store, Schedule: cron.Every(5 * time.Second), Keep: 72 * time.Hour,
		Streams: []string{h.store.Keys().Requests(), "elsewhere"}, Log: zerolog.New(h.log), Count: count,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

func (h *hall) state(t *testing.T, id string) approval.State {
	t.Helper()
	return storetest.Read(t, h.store, id).Row.State
}

func soon(seconds int) storetest.Option { return storetest.With("expires_in", seconds) }

func TestRunSweepsBySchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		storetest.Open(t, h.store, storetest.Request("a1", soon(8)))
		stop := h.run(t, func(string, ...string) {})
		<-time.After(7 * time.Second)
		synctest.Wait()
		if got := h.state(t, "a1"); got != approval.Open {
			t.Errorf("%s before its deadline", got)
		}
		<-time.After(4 * time.Second)
		synctest.Wait()
		if got := h.state(t, "a1"); got != approval.Lapsed {
			t.Errorf("%s three seconds after its deadline", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestRunSkipsWhileOneRuns holds a sweep up: no second one begins, and a stop
// waits for it.
func TestRunSkipsWhileOneRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		storetest.Open(t, h.store, storetest.Request("slow", soon(5)))
		var begun, ended atomic.Int32
		stop := h.run(t, func(string, ...string) {
			begun.Add(1)
			<-time.After(time.Minute)
			ended.Add(1)
		})
		<-time.After(11 * time.Second)
		storetest.Open(t, h.store, storetest.Request("later", soon(5)))
		<-time.After(30 * time.Second)
		synctest.Wait()
		if got := h.state(t, "later"); begun.Load() != 1 || got != approval.Open {
			t.Errorf("%d sweeps at once; the later one is %s", begun.Load(), got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if ended.Load() != 1 {
			t.Error("the stop did not wait for the sweep")
		}
	})
}

// TestRunGoesOnAfterAPanic has a sweep panic: the next one comes all the same.
func TestRunGoesOnAfterAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		storetest.Open(t, h.store, storetest.Request("first", soon(5)))
		var panics atomic.Int64
		stop := h.run(t, func(event string, _ ...string) {
			if event == "panics" {
				panics.Add(1)
				return
			}
			panic("counted out")
		})
		<-time.After(11 * time.Second)
		storetest.Open(t, h.store, storetest.Request("second", soon(5)))
		<-time.After(11 * time.Second)
		synctest.Wait()
		if got := h.state(t, "second"); got != approval.Lapsed {
			t.Errorf("%s after a panic before", got)
		}
		if n := h.log.count("counted out"); n != 2 {
			t.Errorf("%d lines about two panics", n)
		}
		if n := panics.Load(); n != 2 {
			t.Errorf("%d of two panics were counted", n)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestRunOutlastsAnOutage takes Redis away for a while.
func TestRunOutlastsAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		var down atomic.Bool
		h.rdb.AddHook(outage{&down})
		storetest.Open(t, h.store, storetest.Request("a1", soon(8)))
		stop := h.run(t, func(string, ...string) {})
		down.Store(true)
		<-time.After(22 * time.Second)
		synctest.Wait()
		if n := h.log.count("a sweep left something undone"); n == 0 || n > 5 {
			t.Errorf("%d lines about an outage of four sweeps", n)
		}
		down.Store(false)
		<-time.After(6 * time.Second)
		synctest.Wait()
		if got := h.state(t, "a1"); got != approval.Lapsed {
			t.Errorf("%s after the outage", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestRunPassesOverABadRow wants a row that cannot be read to be told of once an
// hour, and its approval to lapse once it is mended.
func TestRunPassesOverABadRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		ctx, row := t.Context(), h.store.Keys().Row("bad")
		storetest.Open(t, h.store, storetest.Request("bad", soon(8)))
		good := h.rdb.HGet(ctx, row, "request").Val()
		write := func(text string) {
			t.Helper()
			if err := h.rdb.HSet(ctx, row, "request", text).Err(); err != nil {
				t.Fatal(err)
			}
		}
		told := func(want int) {
			t.Helper()
			synctest.Wait()
			if n := h.log.count("a sweep left something undone"); n != want {
				t.Errorf("%d lines, want %d", n, want)
			}
		}
		write("{")
		stop := h.run(t, func(string, ...string) {})
		<-time.After(59 * time.Minute)
		told(1)
		<-time.After(2 * time.Minute)
		told(2)
		write(good)
		<-time.After(6 * time.Second)
		told(2)
		if got := h.state(t, "bad"); got != approval.Lapsed {
			t.Errorf("%s once it can be read", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// An outage fails every command while it lasts.
type outage struct{ down *atomic.Bool }

var errDown = errors.New("connection refused")

// DialHook implements redis.Hook.
func (o outage) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (o outage) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		if o.down.Load() {
			c.SetErr(errDown)
			return errDown
		}
		return next(ctx, c)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (o outage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cs []redis.Cmder) error {
		if o.down.Load() {
			return errDown
		}
		return next(ctx, cs)
	}
}

// TestRunTrims wants old answers to go after the retention, old requests a day
// before, what a group has not acknowledged to stay, and streams of others to be
// left alone.
func TestRunTrims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		ctx := t.Context()
		keys := h.store.Keys()
		old := func(stream string, age time.Duration) {
			id := strconv.FormatInt(time.Now().Add(-age).UnixMilli(), 10) + "-1"
			if err := h.rdb.XAdd(ctx, &redis.XAddArgs{Stream: stream, ID: id, Values: []any{"type", "x"}}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		for _, stream := range []string{keys.Answers(), keys.Requests(), "elsewhere"} {
			for _, age := range []time.Duration{80 * time.Hour, 71*time.Hour + 30*time.Minute, 49 * time.Hour, 40 * time.Hour} {
				old(stream, age)
			}
		}
		if err := h.rdb.XGroupCreate(ctx, keys.Requests(), "countersign", "0").Err(); err != nil {
			t.Fatal(err)
		}
		group := func(acknowledge int) {
			res, err := h.rdb.XReadGroup(ctx, &redis.XReadGroupArgs{
				Group: "countersign", Consumer: "c", Streams: []string{keys.Requests(), ">"}, Count: int64(acknowledge),
			}).Result()
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range res[0].Messages {
				if err := h.rdb.XAck(ctx, keys.Requests(), "countersign", m.ID).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
		group(2)
		stop := h.run(t, func(string, ...string) {})
		synctest.Wait()
		length := func(stream string, want int64) {
			t.Helper()
			if n := h.rdb.XLen(ctx, stream).Val(); n != want {
				t.Errorf("%s has %d entries, want %d", stream, n, want)
			}
		}
		length(keys.Answers(), 3)  // at once, of 80 h
		length(keys.Requests(), 2) // what is acknowledged
		<-time.After(time.Hour + time.Minute)
		synctest.Wait()
		length(keys.Answers(), 2)  // of 81 h and 72.5 h by now
		length(keys.Requests(), 2) // the one of 50 h is not acknowledged
		length("elsewhere", 4)
		group(2)
		<-time.After(time.Hour)
		synctest.Wait()
		length(keys.Requests(), 1)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
