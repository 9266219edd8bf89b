package main

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"countersign/approval"
	"countersign/simulator"
)

// While Redis is away for an hour, with taps in hand, no cause is told of more
// than once a second; and when it is back, all of it goes on by itself.
func TestLogOfAnOutage(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]error{
		"refused":    errDead,
		"read-only":  redisSays("READONLY You can't write against a read only replica."),
		"full":       redisSays("OOM command not allowed when used memory > 'maxmemory'."),
		"loading":    redisSays("LOADING Redis is loading the dataset in memory"),
		"busy":       redisSays("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."),
		"disk full":  redisSays("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."),
		"cluster":    redisSays("CLUSTERDOWN The cluster is down"),
		"no primary": redisSays("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
		"replicas":   redisSays("NOREPLICAS Not enough good replicas to write."),
		"no rights":  redisSays("NOPERM this user has no permissions to run the 'evalsha' command"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *bubble) {
				var away atomic.Bool
				w.run("one", &life{at: func(name string) ending {
					if away.Load() && !isCall(name) {
						return fails
					}
					return goesOn
				}, fault: answer})
				for i := range 30 {
					w.ask(fmt.Sprintf("a%d", i), "iris", 5*time.Hour)
				}
				m := w.has(time.Minute, annID, "a29", "Trash it")
				w.pass(5 * time.Second)
				before := len(w.log.all())
				away.Store(true)
				w.ask("late", "iris", 5*time.Hour)
				for range 4 {
					id := w.ann.Tap(m, "Reject")
					w.pass(10 * time.Second)
					if a, ok := w.sim.Answer(id); !ok || a.Text == "" {
						t.Errorf("a tap in the outage was answered %q, %v", a.Text, ok)
					}
				}
				w.pass(time.Hour)
				w.sparse(before)
				if n := len(w.log.all()) - before; n == 0 || n > 3600 {
					t.Errorf("%d lines in an hour", n)
				}
				w.state("a29", approval.Open) // Telegram keeps no tap for so long
				w.ann.Tap(m, "Reject")
				w.pass(5 * time.Second)
				away.Store(false)
				w.says(time.Minute, annID, "a29", "Rejected by Ann")
				w.once("a29", "rejected")
				w.has(time.Minute, annID, "late", "Trash it")
				w.confirms("a0")
				w.once("a0", "approved")
				if n, err := w.rdb.XLen(context.Background(), "{approvals}:dead").Result(); err != nil || n != 0 {
					t.Errorf("%d set aside, %v", n, err)
				}
			})
		})
	}
}

// redisSays is an error of Redis.
type redisSays string

func (e redisSays) Error() string { return string(e) }

// RedisError marks it as one, as the client library does.
func (redisSays) RedisError() {}

// sparse wants no two lines of one cause within a second, from a line on.
func (w *bubble) sparse(from int) {
	w.Helper()
	last := map[string]time.Time{}
	for _, line := range w.log.all()[from:] {
		key := line.Level + line.Message
		if at, ok := last[key]; ok && line.at.Sub(at) < time.Second {
			w.Errorf("%q was logged twice within %v", line.Message, line.at.Sub(at))
			return
		}
		last[key] = line.at
	}
}

// A stop takes ten seconds at the most, whatever it meets: nothing to do, a
// Telegram that hangs, a Redis that hangs, both, a backlog under tight limits.
func TestStopWithinTenSeconds(t *testing.T) {
	t.Parallel()
	hangs := func(w *bubble) {
		w.sim.Fault(simulator.Fault{Kind: simulator.Hang})
	}
	for name, meets := range map[string]func(w *bubble, stall *stalls){
		"nothing":        func(*bubble, *stalls) {},
		"Telegram hangs": func(w *bubble, _ *stalls) { hangs(w) },
		"Redis hangs":    func(_ *bubble, s *stalls) { s.on.Store(true) },
		"both hang":      func(w *bubble, s *stalls) { hangs(w); s.on.Store(true) },
	} {
		for _, after := range []time.Duration{0, 300 * time.Millisecond, 3 * time.Second} {
			t.Run(fmt.Sprint(name, " for ", after), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(w *bubble) {
					s := &stalls{}
					w.dial = s.around(w.dial)
					r := w.run("one", &life{})
					w.ask("a0", "both", time.Hour)
					m := w.has(time.Minute, annID, "a0", "Trash it")
					for i := 1; i < 40; i++ {
						w.ask(fmt.Sprintf("a%d", i), "both", time.Hour)
					}
					meets(w, s)
					w.ann.Tap(m, "Trash it")
					w.pass(after)
					told := time.Now()
					r.stop()
					if took := time.Since(told); took > 10*time.Second {
						t.Errorf("the stop took %v", took)
					}
					s.on.Store(false)
				})
			})
		}
	}
}

// stalls are connections on which nothing moves any more while on is set: what is
// written is taken, and nothing comes back.
type stalls struct{ on atomic.Bool }

func (s *stalls) around(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return &stallingConn{Conn: c, on: &s.on}, err
	}
}

type stallingConn struct {
	net.Conn
	on *atomic.Bool
}

// Write swallows what is written to a connection that stalls.
func (c *stallingConn) Write(p []byte) (int, error) {
	if c.on.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// The clock of the host may be wrong: nothing is decided by it.
func TestWrongClockOfTheHost(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]time.Duration{"fast": time.Hour, "slow": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *bubble) {
				w.run("one", &life{}, func(o *AppOptions) {
					o.Now = func() time.Time { return time.Now().Add(off) }
				})
				w.ask("a1", "iris", 30*time.Minute)
				w.ask("a2", "iris", 30*time.Minute)
				w.ask("a3", "iris", 2*time.Hour)
				w.confirms("a1")
				w.once("a1", "approved")

				// A step ends after its window, and not before.
				w.ann.Tap(w.has(time.Minute, annID, "a2", "Trash it"), "Trash it")
				w.has(5*time.Second, annID, "a2", "Yes")
				w.pass(w.cfg.Confirm.Window - 10*time.Second)
				w.has(time.Second, annID, "a2", "Yes")
				w.has(15*time.Second, annID, "a2", "Trash it")

				// A plain word counts at once.
				w.ann.Send(annID, "approve") // two are open: it lists them
				w.pass(5 * time.Second)
				w.state("a2", approval.Open)

				// A deadline ends after its time, and not before.
				w.pass(28 * time.Minute)
				w.state("a2", approval.Open)
				w.pass(time.Minute)
				w.once("a2", "lapsed")
				w.state("a3", approval.Open)
				w.ann.Send(annID, "reject not now")
				w.pass(5 * time.Second)
				w.once("a3", "rejected")
			})
		})
	}
}

// A panic anywhere is like a kill of the one thing that was being done: the bot
// lives, and does it again.
func TestPanicsEverywhere(t *testing.T) {
	t.Parallel()
	for _, point := range []string{
		"getUpdates", "sendMessage", "editMessageText", "answerCallbackQuery", "getMe", "setMyCommands",
		"set", "get", "lease.lua", "due.lua", "read.lua", "open.lua", "card.lua", "intent.lua", "sent.lua", "settle.lua", "view.lua", "step.lua",
		"decide.lua", "xgroup create", "lost.lua+xautoclaim+eval", "lost.lua+xreadgroup+eval", "xack+lost.lua+xreadgroup+eval", "xread", "time", "zadd", "zscore+time+read.lua", "hget",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *bubble) {
				var seen atomic.Int32 // commands come from many goroutines
				w.run("one", &life{at: func(name string) ending {
					if name == point {
						if seen.Add(1) == 1 {
							return panics
						}
					}
					return goesOn
				}})
				w.ask("a1", "iris", time.Hour)
				w.ask("a2", "iris", 5*time.Second)
				m := w.has(90*time.Second, annID, "a1", "Trash it")
				w.pass(5 * time.Second)
				w.ann.Tap(m, "Reject")
				w.ann.Send(annID, "/pending")
				// A tap whose handling panicked is set aside, and counts for nothing.
				w.until(15*time.Second, "the tap is handled", func() bool { return w.sim.PendingUpdates() == 0 })
				w.says(2*time.Minute, annID, "a2", "Lapsed")
				w.once("a2", "lapsed")
				w.ask("a3", "iris", time.Hour)
				w.ann.Tap(w.has(5*time.Second, annID, "a3", "Trash it"), "Trash it") // may be the one that panics
				w.pass(5 * time.Second)
				w.confirms("a3")
				w.once("a3", "approved")
				w.ok(w.store.Touch(w.Context(), "a3")) // which needs nothing any more
				w.pass(5 * time.Second)
				if w.log.count("a panic of the test") == 0 {
					t.Error("nothing told of the panic")
				}
				if seen.Load() == 0 {
					t.Errorf("%s was not come to", point)
				}
			})
		})
	}
}
