package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// An exchange runs scripts. What is asked for while others are under way goes to
// Redis together, in one exchange, in the order in which it was asked for: nothing
// ever waits for company, and where much is to be done it costs Redis and us a
// fraction. Each script is still a step of its own, which the next one may come
// between, and has a result of its own.
//
// It is safe for concurrent use. A panic while several run is one of every caller.
type exchange struct {
	rdb redis.UniversalClient

	mu      sync.Mutex // guards what follows
	busy    int        // how many are under way
	waiting []*wanted
}

const (
	// abreast is how many are under way at once: while Redis works on one, the
	// next is written.
	abreast = 2
	// together bounds how many scripts go at once, and togetherBytes how much: all
	// of it is written before a reply is read, so it has to fit into what lies
	// between us and a server that answers as it reads. One alone may be larger.
	together      = 64
	togetherBytes = 16 << 10
)

// A wanted is a script that somebody waits for.
type wanted struct {
	ctx    context.Context
	script *redis.Script
	keys   []string
	args   []any

	done  chan struct{} // closed when what follows is set
	value any
	err   error
	fault any // a panic
}

// size is about how many bytes a script takes to send.
func (w *wanted) size() int {
	n := 128
	for _, k := range w.keys {
		n += len(k) + 16
	}
	for _, a := range w.args {
		n += 16
		if text, ok := a.(string); ok {
			n += len(text)
		}
	}
	return n
}

// run runs a script by its digest, and by its text where Redis does not know it
// (after a restart, a failover or SCRIPT FLUSH).
func (x *exchange) run(ctx context.Context, script *redis.Script, keys []string, args []any) (any, error) {
	x.mu.Lock()
	if x.busy < abreast {
		x.busy++
		x.mu.Unlock()
		defer x.next()
		return script.Run(ctx, x.rdb, keys, args...).Result()
	}
	w := &wanted{ctx: ctx, script: script, keys: keys, args: args, done: make(chan struct{})}
	x.waiting = append(x.waiting, w)
	x.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx) // as of any command, nobody knows whether it has its effect
	}
	if w.fault != nil {
		panic(w.fault)
	}
	return w.value, w.err
}

// next hands the turn of one that is done to those that wait.
func (x *exchange) next() {
	if batch := x.take(); batch != nil {
		go func() {
			for ; batch != nil; batch = x.take() {
				x.send(batch)
			}
		}()
	}
}

// take takes what is to go next, and gives the turn back where nothing waits.
func (x *exchange) take() []*wanted {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.waiting) == 0 {
		x.busy--
		return nil
	}
	n, size := 0, 0
	for n < min(len(x.waiting), together) {
		size += x.waiting[n].size()
		if n > 0 && size > togetherBytes {
			break
		}
		n++
	}
	batch := slices.Clone(x.waiting[:n])
	x.waiting = slices.Delete(x.waiting, 0, n) // which lets go of what it held
	return batch
}

// send runs what waited.
func (x *exchange) send(batch []*wanted) {
	defer func() {
		fault := recover()
		for _, w := range batch {
			w.fault = fault
			close(w.done)
		}
	}()
	live := make([]*wanted, 0, len(batch))
	for _, w := range batch {
		if w.err = context.Cause(w.ctx); w.err == nil {
			live = append(live, w)
		}
	}
	switch len(live) {
	case 0:
		return
	case 1:
		w := live[0]
		w.value, w.err = w.script.Run(w.ctx, x.rdb, w.keys, w.args...).Result()
		return
	}
	pipe := x.rdb.Pipeline()
	replies := make([]*redis.Cmd, len(live))
	ctx, end := untilAllGiveUp(live)
	defer end()
	for i, w := range live {
		replies[i] = w.script.EvalSha(ctx, pipe, w.keys, w.args...)
	}
	_, err := pipe.Exec(ctx)
	for i, w := range live {
		w.value, w.err = replies[i].Result()
		if w.err == nil && err != nil && w.value == nil {
			w.err = err
		}
		if redis.HasErrorPrefix(w.err, "NOSCRIPT") {
			w.value, w.err = w.script.Run(w.ctx, x.rdb, w.keys, w.args...).Result()
		}
	}
}

// untilAllGiveUp is a context that ends once none of those who wait does any more: one
// that gives up must not take the others with it, and where nobody waits a server that is
// away is not tried again.
func untilAllGiveUp(live []*wanted) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(live[0].ctx))
	var waiting atomic.Int64
	waiting.Store(int64(len(live)))
	stops := make([]func() bool, len(live))
	for i, w := range live {
		stops[i] = context.AfterFunc(w.ctx, func() {
			if waiting.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
