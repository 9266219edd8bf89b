package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// standstill is how long everything may stand still before it is given up: a slow
// machine takes its time, but it goes on.
const standstill = 2 * time.Minute

// awaitWork waits until people and runtimes are done.
func (r *run) awaitWork(ctx context.Context, work *sync.WaitGroup) {
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	moves := watch{at: time.Now()}
	for {
		select {
		case <-done:
			r.took("everybody is done after the storm", time.Since(r.calm))
			return
		case <-time.After(time.Second):
		}
		if ctx.Err() != nil {
			return
		}
		if moves.still(r.answers(ctx)) {
			r.left = append(r.left, fmt.Sprintf("people or runtimes wait in vain: no event for %v", standstill))
			return
		}
	}
}

// settle waits until nothing is left to do, without any further input.
func (r *run) settle(ctx context.Context) {
	begun := time.Now()
	quietSince := time.Now()
	moves := watch{at: time.Now()}
	for {
		left := r.unsettled(ctx)
		if len(left) > 0 {
			quietSince = time.Now()
		}
		if time.Since(quietSince) > 3*time.Second {
			r.took("everything is settled after that", time.Since(begun))
			break
		}
		if moves.still(r.front.count()) || !pause(ctx, 250*time.Millisecond) {
			r.left = append(r.left, left...)
			break
		}
	}
	r.readLogs()
}

// A watch sees whether a count still changes.
type watch struct {
	count int64
	at    time.Time
}

func (w *watch) still(count int64) bool {
	if count != w.count {
		w.count, w.at = count, time.Now()
	}
	return time.Since(w.at) > standstill
}

// answers counts the events out and in so far.
func (r *run) answers(ctx context.Context) int64 {
	out, _ := r.db.client.XLen(ctx, keyOf("answers")).Result()
	in, _ := r.db.client.XLen(ctx, keyOf("requests")).Result()
	return out + in
}

// count is how many cards were drawn so far.
func (f *front) count() (n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c.Kind != "" && c.OK {
			n++
		}
	}
	return n
}

// unsettled says what is still to do.
func (r *run) unsettled(ctx context.Context) (left []string) {
	rdb := r.db.client
	note := func(n int64, err error, what string) {
		switch {
		case err != nil:
			left = append(left, fmt.Sprintf("%s: %v", what, err))
		case n > 0:
			left = append(left, fmt.Sprintf("%d %s", n, what))
		}
	}
	n, err := rdb.ZCard(ctx, keyOf("deadlines")).Result()
	note(n, err, "approvals are open")
	soon := time.Now().Add(70 * time.Second).UnixMilli()
	n, err = rdb.ZCount(ctx, keyOf("bot", "dirty"), "-inf", fmt.Sprint(soon)).Result()
	note(n, err, "approvals or notices wait to be looked at")
	groups, err := rdb.XInfoGroups(ctx, keyOf("requests")).Result()
	if err != nil {
		note(0, err, "the inbound stream")
	}
	for _, g := range groups {
		note(g.Pending+max(g.Lag, 0), nil, "events are not taken yet")
	}
	note(int64(r.sim.PendingUpdates()), nil, "updates are not taken yet")
	if r.front.busySince(time.Now().Add(-time.Second)) {
		left = append(left, "Telegram is still called")
	}
	return left
}

// busySince reports whether Telegram was asked for anything but updates since.
func (f *front) busySince(t time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.calls) - 1; i >= 0 && f.calls[i].Until.After(t); i-- {
		if m := f.calls[i].Method; m != "getUpdates" && m != "webhook" {
			return true
		}
	}
	return false
}

// readLogs looks for what must not be in the bots' logs.
func (r *run) readLogs() {
	for n := range r.bots {
		name := fmt.Sprintf("bot-%d.log", n)
		f, err := os.Open(filepath.Join(r.options.out, name))
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			line := lines.Text()
			_, secret, _ := strings.Cut(r.sim.Token(), ":")
			switch {
			case strings.Contains(line, secret):
				r.say("%s holds the token: %.300s", name, line)
			case strings.Contains(line, "panic") || strings.HasPrefix(line, "fatal error"):
				r.say("%s: %.300s", name, line)
			}
		}
		_ = f.Close()
	}
}
