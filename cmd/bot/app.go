package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/cards"
	"countersign/config"
	"countersign/delivery"
	"countersign/handlers"
	"countersign/queue"
	"countersign/store"
	"countersign/sweeper"
	"countersign/telegram"
)

// AppOptions are what the bot needs beside its configuration.
type AppOptions struct {
	Log    zerolog.Logger
	Now    func() time.Time
	Random io.Reader            // safe for concurrent use
	Jitter func() float64       // in [0, 1)
	Name   string               // of this instance: stable over restarts, unique among replicas
	HTTP   *http.Client         // transport to Telegram; nil: the client makes its own
	Ready  func()               // called once, when it serves; may be nil
	Redis  func(*redis.Options) // changes both connections, beside what the address says; may be nil

	// Listen listens for webhooks; nil: on the network.
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
}

// An App is the bot: every room, wired.
type App struct {
	cfg    atomic.Pointer[inForce] // replaced by Reload
	opts   AppOptions
	rdb    redis.UniversalClient
	reader redis.UniversalClient // for reads that block
	store  *store.Store
	client *telegram.Client
	pace   *delivery.Pace
	leader *delivery.Leader
	words  *handlers.Handlers
	intake *queue.Intake
	health *health
	me     atomic.Pointer[telegram.Me]

	led      chan struct{} // holds one token once this process leads, for whoever waits to poll
	reloads  sync.Mutex    // held while a configuration is remembered and put in force
	reloaded chan struct{} // holds one token after a reload
	redraw   chan struct{} // likewise, for whoever looks after the open cards

	layouts cards.Layouts // of long lists
}

// NewApp wires the bot. It touches neither Redis nor Telegram. Close ends what
// it opened.
func NewApp(cfg config.Config, opts AppOptions) (*App, error) {
	opts.Log = opts.Log.Hook(newSparse(opts.Now))
	a := &App{
		opts: opts, health: newHealth(opts.Now),
		led: make(chan struct{}, 1), reloaded: make(chan struct{}, 1), redraw: make(chan struct{}, 1),
	}
	a.enforce(&cfg)
	var err error
	if a.rdb, err = dial(cfg, 0, opts.changes()...); err != nil {
		return nil, err
	}
	// Every inbound stream holds a connection of the reader's.
	// None of its commands is sent again unseen: what the first one has brought would lie.
	if a.reader, err = dial(cfg, len(cfg.Streams()), append(opts.changes(), once)...); err != nil {
		return nil, errors.Join(err, a.rdb.Close())
	}
	if err := a.wire(cfg); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// changes are what is changed about connections to Redis.
func (o AppOptions) changes() []func(*redis.Options) {
	if o.Redis == nil {
		return nil
	}
	return []func(*redis.Options){o.Redis}
}

// wire builds the rooms, one after the other: each needs those before it.
func (a *App) wire(cfg config.Config) error {
	keys, err := signingKeys(cfg)
	if err != nil {
		return err
	}
	a.store, err = store.New(a.rdb, store.Options{
		Namespace: cfg.Redis.Namespace, Retention: cfg.Retention, Random: a.opts.Random, Signing: keys,
		Owners: func() []int64 { return owners(a.config()) },
	})
	if err != nil {
		return err
	}
	a.client, err = telegram.New(telegram.Config{
		Token: cfg.Telegram.Token.Reveal(), APIURL: cfg.Telegram.APIURL, Timeout: delivery.CallTimeout,
		HTTP: a.opts.HTTP, Called: a.health.metrics.called,
	})
	if err != nil {
		return err
	}
	a.pace = delivery.NewPace(limits(cfg), a.opts.Now)
	holder, err := a.store.NewID()
	if err != nil {
		return err
	}
	a.leader = delivery.NewLeader(a.store, a.opts.Name+"/"+holder, a.opts.Now, a.opts.Log)
	a.health.standing = a.leader.Standing
	a.health.metrics.of(a.store, a.health.registry, func() time.Duration {
		_, left := a.leader.Lease()
		return left
	})
	a.words = handlers.New(handlers.Config{
		Store: a.store, Voice: delivery.NewSpeaker(a.client, a.pace, a.opts.Log),
		Present:  func() handlers.Present { return a.cfg.Load().speaking },
		Username: func() string { return a.username() },
		Now:      a.opts.Now, Log: a.opts.Log, Count: a.health.count, Tapped: a.health.metrics.tapped,
	})
	a.intake, err = queue.NewIntake(queue.IntakeConfig{
		Redis: a.reader, Store: a.store, Namespace: cfg.Redis.Namespace, Streams: streams(cfg),
		Consumer: a.opts.Name, Retention: cfg.Retention, Log: a.opts.Log, Glob: config.Glob,
		Router:    func() queue.Router { return router{a.config()} },
		Policy:    func(q *approval.Request) queue.Ruling { return ruling(a.config(), q) },
		Ruled:     a.health.ruled,
		Durations: func() approval.Durations { return durations(a.config()) },
		Remind:    func() time.Duration { return a.config().Expiry.Remind },
		Owners:    func() []int64 { return owners(a.config()) },
		Count: func(event, reason string) {
			a.health.count("intake_"+event, reason)
			a.health.metrics.took(event, reason)
		},
	})
	return err
}

// config is the configuration now.
func (a *App) config() *config.Config { return a.cfg.Load().config }

// enforce puts a configuration in force.
func (a *App) enforce(cfg *config.Config) {
	a.cfg.Store(&inForce{config: cfg, speaking: speaking(cfg, &a.layouts), drawing: drawing(cfg, &a.layouts)})
}

func (a *App) username() string {
	if me := a.me.Load(); me != nil {
		return me.Username
	}
	return ""
}

// Close closes the connections. Run must have returned.
func (a *App) Close() error { return errors.Join(a.rdb.Close(), a.reader.Close()) }

// remembering bounds how long a reload waits for Redis.
const remembering = 10 * time.Second

// Reload takes people, routes, policies and limits from a new configuration.
// What else differs needs a new start. What allows more than before is audited and
// on its way to the owners before it is in force. With an error nothing changed.
func (a *App) Reload(ctx context.Context, cfg config.Config) error {
	a.reloads.Lock()
	defer a.reloads.Unlock()
	before := a.config()
	next := *before
	next.People, next.Routes, next.Policies = cfg.People, cfg.Routes, cfg.Policies
	next.Telegram.Limits = cfg.Telegram.Limits
	if what, _ := looser(knowing(before, 0), knowing(&next, 0)); len(what) > 0 {
		ctx, cancel := context.WithTimeout(ctx, remembering)
		defer cancel()
		if err := a.compare(ctx, &next); err != nil {
			return fmt.Errorf("it allows more than before, which could not be audited: %w", err)
		}
		a.opts.Log.Warn().Strs("looser", what).Msg("the configuration allows more now")
	}
	a.enforce(&next)
	nudge(a.reloaded)
	if keys := untaken(*before, cfg); len(keys) > 0 {
		a.opts.Log.Warn().Strs("keys", keys).Msg("these changed too, and are taken only at a new start")
	}
	a.pace.SetLimits(limits(next))
	nudge(a.redraw)
	return nil
}

// nudge puts a token where whoever waits takes it; one that lies there will do.
func nudge(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// aliveEvery is how often a sign of life is given.
const aliveEvery = 5 * time.Second

// stopWithin bounds a stop as a whole, from the signal on: what is being sent is
// recorded, and words on their way are said as far as there is time.
const stopWithin = 9 * time.Second

// stopping returns a context that lives on after ctx has ended, for as long as a
// stop may take.
func stopping(ctx context.Context) (context.Context, context.CancelFunc) {
	late, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		bounded, cancel := context.WithTimeout(late, stopWithin)
		context.AfterFunc(bounded, func() { end(); cancel() })
	})
	return late, end
}

// Run runs the bot until ctx ends. A nil error is a clean stop.
func (a *App) Run(ctx context.Context) error {
	late, end := stopping(ctx)
	defer end()
	done := make(chan error, 1)
	go func() { done <- a.together(ctx, a.introduce, a.serve) }()
	select {
	case err := <-done:
		a.finish(late)
		return err
	case <-late.Done():
		a.opts.Log.Warn().Msg("stopped before everything had come to its end; what was cut short is done again")
		return nil
	}
}

// serve waits until Redis can be used, and then does all there is to do.
func (a *App) serve(ctx context.Context) error {
	if err := a.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	return a.together(ctx,
		a.alive,
		a.intake.Run,
		a.announce,
		a.serveHTTP,
		a.receive,
		a.hear,
		func(ctx context.Context) error { return a.leader.Run(ctx, a.lead) },
		a.examine,
	)
}

// finish waits for words on their way, while ctx lives and not for long.
func (a *App) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	done := make(chan struct{})
	go func() { a.words.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		a.opts.Log.Warn().Msg("stopped before everything was said")
	}
}

// start waits for Redis, gives the first sign of life and says that it is ready. What
// comes after can rely on it: the namespace is signed by our key or by nobody, and the
// owners are told of what the configuration newly allows.
func (a *App) start(ctx context.Context) error {
	for try := 0; ; try++ {
		err := a.store.BeginSigning(ctx)
		if errors.Is(err, store.ErrNamespaceSigns) {
			return err
		}
		if err == nil {
			err = a.compare(ctx, a.config())
		}
		var now time.Time
		if err == nil {
			now, err = a.store.Now(ctx)
		}
		if err == nil {
			err = a.store.Alive(ctx, streamKeys(*a.config()))
		}
		if err == nil {
			a.health.metrics.begin(now)
			break
		}
		if try%30 == 0 {
			a.opts.Log.Error().Err(err).Msg("Redis cannot be used yet; waiting for it" + behind(": ", tlsRemedy(err)))
		}
		if !wait(ctx, time.Second) {
			return context.Cause(ctx)
		}
	}
	if a.opts.Ready != nil {
		a.opts.Ready()
	}
	return nil
}

// lead is the work of the process that holds the lease.
func (a *App) lead(ctx context.Context) error {
	nudge(a.led)
	sweep, err := a.sweeper()
	if err != nil {
		return err
	}
	parts := []func(context.Context) error{a.reconciler().Run, sweep.Run, a.menu, a.follow, a.tellMoves, a.unsealed, a.drawAnew}
	if a.config().Telegram.Mode == config.ModeWebhook {
		parts = append(parts, a.hook)
		defer a.health.set("telegram", "") // whoever leads next knows
	}
	return a.together(ctx, parts...)
}

func (a *App) reconciler() *delivery.Reconciler {
	return delivery.NewReconciler(delivery.Config{
		Store: a.store, Bot: a.client, Pace: a.pace, Leader: a.leader,
		Present: func() delivery.Present { return a.cfg.Load().drawing },
		Log:     a.opts.Log, Count: a.health.count, Carded: a.health.metrics.carded,
	})
}

func (a *App) sweeper() (*sweeper.Sweeper, error) {
	cfg := a.config()
	schedule, err := config.ParseSchedule(cfg.Sweep.Schedule)
	if err != nil {
		return nil, fmt.Errorf("sweep.schedule: %w", err)
	}
	return sweeper.New(sweeper.Config{
		Store: a.store, Schedule: schedule, Streams: streamKeys(*cfg), Keep: cfg.Retention,
		Log: a.opts.Log, Count: a.health.count,
	}), nil
}

// wait waits, and reports false where ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
