package queue_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/queue"
	"countersign/store/storetest"
)

// exchanges keeps what was sent to Redis, each exchange as the names of its commands.
type exchanges struct {
	mu  sync.Mutex // guards all
	all []string
}

func (h *exchanges) add(cmds ...redis.Cmder) {
	names := make([]string, len(cmds))
	for i, cmd := range cmds {
		names[i] = cmd.Name()
		if cmd.Name() == "xreadgroup" && slices.Contains(cmd.Args(), any("block")) {
			names[i] = "xreadgroup block"
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, strings.Join(names, ", "))
}

// since is what was sent after the first n.
func (h *exchanges) since(n int) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.all[min(n, len(h.all)):])
}

func (h *exchanges) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *exchanges) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.add(cmd)
		return next(ctx, cmd)
	}
}

func (h *exchanges) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.add(cmds...)
		return next(ctx, cmds)
	}
}

// running runs the intake until the test ends or stop is called, which waits for it.
func (b *bench) running(in *queue.Intake) (stop func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(within(b.t))
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		must(b.t, <-done)
	})
}

// A quiet stream's request costs two exchanges: the read that waits for it, which brings
// the time, and the script that opens its row. It is acknowledged before the next read
// waits, in the same exchange, and nobody looks for what others left each time.
func TestLoneRequestCostsTwoExchanges(t *testing.T) {
	const read = "evalsha, xreadgroup block, eval"
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s, func(c *queue.IntakeConfig) { c.ReclaimIdle = time.Hour }) // no look is due, however slow we are
		sent := &exchanges{}
		s.Bot().AddHook(sent)
		defer b.running(b.intake)()
		for i, id := range []string{"first", "a1", "a2", "a3"} {
			before := len(sent.since(0))
			b.request(id)
			b.eventually(within(t), func() bool { return slices.Contains(sent.since(before), "xack, "+read) })
			b.eventually(within(t), func() bool { return b.pending() == 0 })
			got := slices.DeleteFunc(sent.since(before), func(sent string) bool {
				return sent == "xadd" || sent == "xpending" || sent == read // ours, or a read that ended empty
			})
			want := []string{"evalsha", "xack, " + read}
			if diff := cmp.Diff(want, got); i > 0 && diff != "" { // by then the scripts are known
				t.Errorf("%s (-want +got):\n%s", id, diff)
			}
		}
	})
}

// The rows of a backlog open in one exchange for each batch.
func TestBacklogOpensTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s, func(c *queue.IntakeConfig) { c.Batch = 10 })
		b.request("first")
		b.step() // by now the scripts are known
		for _, id := range strings.Fields("a b c d e f g h i j") {
			b.request(id)
		}
		sent := &exchanges{}
		s.Bot().AddHook(sent)
		if n := b.step(); n != 10 {
			t.Fatalf("took %d, want 10", n)
		}
		want := []string{
			"evalsha, xautoclaim, eval",
			"evalsha, xreadgroup, eval",
			strings.TrimSuffix(strings.Repeat("evalsha, ", 10), ", "),
			"xack",
		}
		if diff := cmp.Diff(want, sent.since(0)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if b.state("a") != approval.Open || b.state("j") != approval.Open || b.pending() != 0 {
			t.Errorf("a is %q, j is %q, %d pending; want open, open, 0", b.state("a"), b.state("j"), b.pending())
		}
	})
}

// What was taken last is acknowledged also where the intake is told to stop before it
// reads on.
func TestStoppedAfterTheEffect(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		ctx, stop := context.WithCancel(within(t))
		in := b.newIntake("one", func(c *queue.IntakeConfig) {
			c.Count = func(event, _ string) { stop() }
		})
		b.request("a1")
		must(t, in.Run(ctx))
		if b.state("a1") != approval.Open || b.pending() != 0 {
			t.Errorf("a1 is %q, %d pending; want open, 0", b.state("a1"), b.pending())
		}
	})
}

// While acknowledging fails nothing more is taken, and what had its effect has it once.
func TestAcknowledgementRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		refuses := &severed{command: "xack"}
		s.Bot().AddHook(refuses)
		refuses.on.Store(true)
		stop := b.running(b.intake)
		defer stop()
		b.request("a1")
		b.eventually(within(t), func() bool { return refuses.refused.Load() > 0 })
		rev := b.row("a1").Rev
		b.request("a2")
		refuses.on.Store(false)
		b.eventually(within(t), func() bool { return b.state("a2") == approval.Open && b.pending() == 0 })
		if got := b.row("a1").Rev; got != rev || b.count.of(queue.EventOpened) != 2 || len(b.dead()) != 0 {
			t.Errorf("a1 at revision %d, %v counted, dead %q; want %d, two opened, none", got, b.count.seen, b.dead(), rev)
		}
	})
}

// What a dead consumer left is taken over by one that runs, though nothing new comes.
func TestTakeoverWhileRunning(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		fast := func(c *queue.IntakeConfig) { c.ReclaimIdle = 10 * time.Millisecond }
		b := newBench(t, s, fast)
		b.step() // makes the group
		b.request("a1")
		b.readAs("gone")
		sent := &exchanges{}
		s.Bot().AddHook(sent)
		defer b.running(b.intake)()
		b.eventually(within(t), func() bool { // the first look is over, and found it too young or took it
			return slices.Contains(sent.since(0), "evalsha, xreadgroup block, eval")
		})
		idle(t, s)
		b.eventually(within(t), func() bool { return b.state("a1") == approval.Open && b.pending() == 0 })
	})
}

// Redis forgets its scripts with a restart, a failover or at somebody's word.
func TestScriptsForgotten(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		for _, id := range []string{"a1", "a2", "a3"} {
			b.request(id)
			b.request(id + "-too")
			b.step()
			if b.state(id) != approval.Open || b.state(id+"-too") != approval.Open || b.pending() != 0 {
				t.Errorf("%s is %q, %d pending; want open, 0", id, b.state(id), b.pending())
			}
			must(t, s.Client().ScriptFlush(t.Context()).Err())
		}
	})
}

// In a cluster the whole exchange goes to the node that has the namespace, whose clock
// is the one that counts.
func TestInCluster(t *testing.T) {
	s := storetest.Cluster(t)
	if s == nil {
		return // no redis-server
	}
	b := newBench(t, s)
	b.request("before")
	b.step()
	stop := b.running(b.intake)
	defer stop()
	for _, id := range []string{"a1", "a2", "a3"} {
		b.request(id)
	}
	b.eventually(within(t), func() bool { return b.state("a3") == approval.Open && b.pending() == 0 })
	stop()
	for _, id := range []string{"before", "a1", "a2"} {
		if got := b.state(id); got != approval.Open {
			t.Errorf("%s is %q, want open", id, got)
		}
	}
	if n := b.log.count(`"level"`); n != 0 {
		t.Errorf("%d lines were logged, want none", n)
	}
}
