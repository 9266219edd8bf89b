package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/delivery"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/telegram"
)

// A process delivers while it lives.
type process struct {
	w      *world
	store  *store.Store
	leader *delivery.Leader
	pace   *delivery.Pace
	life   *life
	cancel context.CancelFunc
	done   chan error
	counts *tally
}

// A start is how a process is to be.
type start struct {
	limits delivery.Limits
	bot    func(delivery.Bot) delivery.Bot // wraps the real client
	life   *life                           // when it dies
}

// start starts a process.
func (w *world) start(name string, s start) *process {
	w.Helper()
	if s.life == nil {
		s.life = &life{}
	}
	p := &process{w: w, life: s.life, done: make(chan error, 1), counts: &tally{n: map[string]int{}}}
	p.store = w.newStore(w.client(s.life))
	log := zerolog.New(w.log)
	p.pace = delivery.NewPace(s.limits, w.now)
	p.leader = delivery.NewLeader(p.store, name, w.now, log)
	var bot delivery.Bot = mortal{w.bot(), s.life}
	if s.bot != nil {
		bot = s.bot(bot)
	}
	r := delivery.NewReconciler(delivery.Config{
		Store: p.store, Bot: bot, Pace: p.pace, Leader: p.leader, Present: w.presentNow, Log: log, Count: p.counts.add,
	})
	ctx, cancel := context.WithCancel(w.Context())
	p.cancel = cancel
	go func() { p.done <- p.leader.Run(ctx, r.Run) }()
	w.Cleanup(p.stop)
	return p
}

// stop stops a process cleanly, once.
func (p *process) stop() {
	p.w.Helper()
	if p.cancel == nil {
		return
	}
	p.cancel()
	p.cancel = nil
	if err := <-p.done; err != nil {
		p.w.Errorf("process: %v", err)
	}
}

// kill ends a process as if by kill -9: nothing it does from now on has an
// effect.
func (p *process) kill() {
	p.life.end()
	p.stop()
}

// settle lets everything happen that needs no time to pass.
func settle() { synctest.Wait() }

// pass lets time pass, and everything happen that falls due.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// errDead is what a dead process gets of everything.
var errDead = errors.New("killed")

// A life is what a process has of Redis and Telegram until it ends: with its
// commandth command to Redis, if that is not 0.
type life struct {
	commandth int64
	late      bool // the last command still reaches Redis, but its answer is lost
	seen      atomic.Int64
	over      atomic.Bool
}

func (l *life) end() { l.over.Store(true) }

func (l *life) step(do func() error) error {
	if l.over.Load() {
		return errDead
	}
	if n := l.seen.Add(1); l.commandth != 0 && n >= l.commandth {
		l.end()
		if l.late {
			_ = do()
		}
		return errDead
	}
	return do()
}

// DialHook implements redis.Hook.
func (l *life) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (l *life) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		err := l.step(func() error { return next(ctx, c) })
		if errors.Is(err, errDead) {
			c.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (l *life) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cs []redis.Cmder) error {
		return l.step(func() error { return next(ctx, cs) })
	}
}

// mortal is a bot of a process that may die.
type mortal struct {
	delivery.Bot
	life *life
}

func (m mortal) Send(ctx context.Context, o telegram.Outgoing) (telegram.Sent, error) {
	if m.life.over.Load() {
		return telegram.Sent{}, errDead
	}
	return m.Bot.Send(ctx, o)
}

func (m mortal) Edit(ctx context.Context, chat int64, message int, o telegram.Outgoing) error {
	if m.life.over.Load() {
		return errDead
	}
	return m.Bot.Edit(ctx, chat, message, o)
}

func (m mortal) Reach(ctx context.Context, chat int64) error {
	if m.life.over.Load() {
		return errDead
	}
	return m.Bot.Reach(ctx, chat)
}

// A valve lets a test stand between a reconciler and the real client. A nil
// func lets everything through.
type valve struct {
	delivery.Bot
	send func(ctx context.Context, m telegram.Outgoing, next func() (telegram.Sent, error)) (telegram.Sent, error)
	edit func(ctx context.Context, chat int64, next func() error) error
}

func (v valve) Send(ctx context.Context, m telegram.Outgoing) (telegram.Sent, error) {
	next := func() (telegram.Sent, error) { return v.Bot.Send(ctx, m) }
	if v.send == nil {
		return next()
	}
	return v.send(ctx, m, next)
}

func (v valve) Edit(ctx context.Context, chat int64, message int, m telegram.Outgoing) error {
	next := func() error { return v.Bot.Edit(ctx, chat, message, m) }
	if v.edit == nil {
		return next()
	}
	return v.edit(ctx, chat, next)
}

// A tally counts events by their name alone.
type tally struct {
	mu sync.Mutex // guards n
	n  map[string]int
}

func (c *tally) add(event string, _ ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[event]++
}

func (c *tally) of(event string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[event]
}

// lines is a log that can be searched.
type lines struct {
	mu  sync.Mutex // guards all
	all bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

// count is how many lines hold a text.
func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.all.String(), text)
}

func mapKeys[V any](m map[int]V) iter.Seq[int] { return maps.Keys(m) }

func (w *world) openHalt(id string) {
	w.Helper()
	storetest.Open(w.TB, w.store, storetest.Request(id, storetest.Halt()))
}

// Answers, by whichever surface.

func (w *world) decide(id string, a store.Attempt) {
	w.Helper()
	status, _, err := w.store.Decide(w.Context(), w.read(id), a)
	w.ok(err)
	if status != store.Done {
		w.Fatalf("%s of %s: %s", a.Decision, id, status)
	}
}

func byOperator(d approval.Decision) store.Attempt {
	return store.Attempt{Decision: d, Guard: store.ByOperator, By: approval.By{Surface: approval.CLI, ID: "root", Name: "root"}}
}

func byAnn() store.Attempt {
	return store.Attempt{
		Decision: approval.DecisionRejected, Guard: store.ByOwner, User: ann,
		By: approval.By{Surface: approval.Telegram, ID: "1001", Name: "Ann", Chat: ann, Method: approval.Button},
	}
}

func byDeadline() store.Attempt {
	return store.Attempt{
		Decision: approval.DecisionLapsed, Guard: store.ByDeadline, By: approval.By{Surface: approval.Sweeper, ID: "sweeper"},
	}
}

func (w *world) byRuntime() store.Attempt {
	return store.Attempt{
		Decision: approval.DecisionWithdrawn, Guard: store.ByRuntime, Stream: w.store.Keys().Requests(),
		By: approval.By{Surface: approval.Runtime, ID: "iris"},
	}
}
