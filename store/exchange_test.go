package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/store"
	"countersign/store/storetest"
)

// A gate holds commands back until it is opened, and notes how many went at once.
type gate struct {
	open chan struct{}
	mu   sync.Mutex // guards seen
	seen []int
	do   func(context.Context) // with several at once; may be nil
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook { return next }

func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		if c.Name() == "evalsha" {
			g.note(1)
			<-g.open
		}
		return next(ctx, c)
	}
}

func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cs []redis.Cmder) error {
		if cs[0].Name() != "evalsha" { // the greeting of a new connection
			return next(ctx, cs)
		}
		g.note(len(cs))
		if g.do != nil {
			g.do(ctx)
		}
		return next(ctx, cs)
	}
}

// held is how many commands have come so far.
func (g *gate) held() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.seen)
}

func (g *gate) note(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, n)
}

// gated is a store whose commands a gate holds, with some approvals open.
func gated(t *testing.T, s *storetest.Server, n int) (*store.Store, *gate, []string) {
	t.Helper()
	st := storetest.NewStore(t, s)
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("a%03d", i) // of one length: what goes at once is bounded in bytes
		storetest.Open(t, st, storetest.Request(ids[i]))
	}
	if _, err := st.Read(t.Context(), ids[0]); err != nil { // Redis knows the script from now on
		t.Fatal(err)
	}
	g := &gate{open: make(chan struct{})}
	s.Bot().AddHook(g)
	return st, g, ids
}

// What is asked for while something is under way goes together, as much as fits, and each
// gets its own.
func TestScriptsGoTogether(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		const n = 150
		st, g, ids := gated(t, s, n)
		got := make([]string, n)
		var wg sync.WaitGroup
		for i, id := range ids {
			wg.Go(func() {
				r, err := st.Read(t.Context(), id)
				if err != nil {
					t.Error(err)
					return
				}
				got[i] = r.Row.ID
			})
		}
		until(t, func() bool { return st.Queued() == n-2 })
		close(g.open)
		wg.Wait()
		if !slices.Equal(got, ids) {
			t.Errorf("somebody got another's: %v", got)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		slices.Sort(g.seen)
		if want := []int{1, 1, 36, 56, 56}; !slices.Equal(g.seen, want) {
			t.Errorf("so many went at once: %v, want %v", g.seen, want)
		}
	})
}

// A caller that gives up takes no other with it, and what it asked for is not begun.
func TestWhoGivesUpGoesAlone(t *testing.T) {
	t.Parallel()
	s := storetest.Embedded(t)
	st, g, ids := gated(t, s, 4)
	ctx, end := context.WithCancel(t.Context())
	errs := make(chan error, 4)
	for i, id := range ids {
		own := t.Context()
		if i == 2 {
			own = ctx
		}
		go func() {
			_, err := st.Read(own, id)
			errs <- err
		}()
		until(t, func() bool { return g.held()+st.Queued() == i+1 })
	}
	end()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up gets %v", err)
	}
	close(g.open)
	for range 3 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if want := []int{1, 1, 1}; !slices.Equal(g.seen, want) {
		t.Errorf("so many went at once: %v, want %v", g.seen, want)
	}
}

// Where everybody has given up, a server that does not answer is left alone.
func TestWhenAllGiveUp(t *testing.T) {
	t.Parallel()
	s := storetest.Embedded(t)
	st, g, ids := gated(t, s, 4)
	ctx, end := context.WithCancel(t.Context())
	begun, left := make(chan struct{}), make(chan struct{})
	g.do = func(ctx context.Context) {
		close(begun)
		<-ctx.Done()
		close(left)
	}
	var wg sync.WaitGroup
	for i, id := range ids {
		own := ctx
		if i < 2 {
			own = t.Context() // those before go by themselves
		}
		wg.Go(func() { _, _ = st.Read(own, id) })
		until(t, func() bool { return g.held()+st.Queued() == i+1 })
	}
	close(g.open)
	<-begun
	end()
	<-left
	wg.Wait()
}

// Redis may forget scripts at any time.
func TestTogetherAfterAFlush(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		st, g, ids := gated(t, s, 10)
		if err := s.Client().ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		close(g.open)
		var wg sync.WaitGroup
		for range 20 {
			for _, id := range ids {
				wg.Go(func() {
					if r, err := st.Read(t.Context(), id); err != nil || r.Row == nil {
						t.Errorf("%s: %v", id, err)
					}
				})
			}
		}
		wg.Wait()
	})
}

// A panic while several go is one of each caller, and the next ones go on.
func TestPanicOfSeveral(t *testing.T) {
	t.Parallel()
	s := storetest.Embedded(t)
	st, g, ids := gated(t, s, 4)
	g.do = func(context.Context) { panic("ouch") }
	faults := make(chan any, 4)
	for i, id := range ids {
		go func() {
			defer func() { faults <- recover() }()
			_, _ = st.Read(t.Context(), id)
		}()
		until(t, func() bool { return g.held()+st.Queued() == i+1 })
	}
	close(g.open)
	var got []any
	for range 4 {
		if v := <-faults; v != nil {
			got = append(got, v)
		}
	}
	if !slices.Equal(got, []any{"ouch", "ouch"}) {
		t.Errorf("panics: %v", got)
	}
	if _, err := st.Read(t.Context(), ids[0]); err != nil {
		t.Error(err)
	}
}

// Where nothing else is under way a script goes at once, as a command of its own.
func TestAloneNothingWaits(t *testing.T) {
	t.Parallel()
	s := storetest.Embedded(t)
	st, g, ids := gated(t, s, 3)
	close(g.open)
	for _, id := range ids {
		if _, err := st.Read(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{1, 1, 1}; !slices.Equal(g.seen, want) {
		t.Errorf("so many went at once: %v", g.seen)
	}
}

// until waits for what goroutines are about to do.
func until(t *testing.T, there func() bool) {
	t.Helper()
	bound := time.NewTimer(time.Minute)
	defer bound.Stop()
	for !there() {
		tick := time.NewTimer(time.Millisecond)
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatal("it does not come to pass")
		}
	}
}
