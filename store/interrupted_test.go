package store_test

import (
	"context"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/store"
)

// between lets something happen after one script of the store has run and
// before its next one does.
type between struct{ happens func() }

func (b *between) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (b *between) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (b *between) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if happens := b.happens; happens != nil && err == nil && strings.HasPrefix(cmd.Name(), "eval") {
			b.happens = nil
			happens()
		}
		return err
	}
}

// interrupt lets something happen once, after the next script that runs.
func (e *env) interrupt(happens func()) {
	e.Helper()
	e.server.Bot().AddHook(&between{happens})
}

// interruptedChecks are about what happens between a reading and the script
// that goes by it.
func interruptedChecks() []check {
	return []check{
		{"report", "a claim between a report's reading and its writing is in the audit", func(e *env) {
			e.approved("a1")
			e.claim("a1")
			e.interrupt(func() { e.claimed("a1", e.keys.Requests(), store.Done) })
			status, r, err := e.store.Reported(e.ctx, e.reporting("a1", approval.Executed, 100))
			e.ok(err)
			same(e, "status", status, store.Done)
			same(e, "judged by", r.Row.State, approval.Claimed)
			e.audited("a1 approved>claimed runtime/worker-1", "a1 claimed>executed runtime/"+e.keys.Requests())
		}},
		{"report", "what goes between a report's reading and its writing is unknown", func(e *env) {
			e.approved("a1")
			e.interrupt(func() { e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1")).Err()) })
			status, _, err := e.store.Reported(e.ctx, e.reporting("a1", approval.Executed, 100))
			e.ok(err)
			same(e, "status", status, store.Unknown)
			same(e, "row", e.there(e.keys.Row("a1")), false)
		}},
	}
}
