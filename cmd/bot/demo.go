package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"countersign/config"
	"countersign/simulator"
	"countersign/simulator/page"
	"countersign/store"
)

// demoCmd runs everything with nothing: an embedded Redis, a simulated Bot API, the bot
// itself as a process of its own, sample runtimes, and a chat page in the browser.
type demoCmd struct {
	Listen string `help:"Where the chat page is served; a loopback address." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
}

// Run runs the demo until it is interrupted.
func (c *demoCmd) Run(s *shell) error {
	l, err := listenLocally(s.ctx, c.Listen)
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	d, err := newDemo(s.stderr, time.Now, unhurried())
	if err != nil {
		return errors.Join(fmt.Errorf("start the demo: %w", err), l.Close())
	}
	err = d.run(s.ctx, l, func() {
		fmt.Fprintf(s.stdout, "The demo is at http://%s\n"+
			"Its queue: --redis %s --namespace %s, for the other commands.\n"+
			"Nothing leaves this machine, and nothing is kept. Stop it with Ctrl-C.\n",
			l.Addr(), d.cfg.Redis.URL.Reveal(), d.cfg.Redis.Namespace)
	})
	return errors.Join(err, d.close())
}

// A demo is everything that a demonstration needs, wired.
type demo struct {
	cfg      config.Config // of the bot
	mini     *miniredis.Miniredis
	sim      *simulator.Server
	rdb      redis.UniversalClient // of the runtimes
	runtimes *demoRuntimes
	faults   *demoFaults
}

// newDemo starts the servers that the bot needs, and makes the runtimes and the faults.
// What the bot logs goes to log.
func newDemo(log io.Writer, now func() time.Time, pace demoPace) (_ *demo, err error) {
	d := &demo{mini: miniredis.NewMiniRedis()}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if err := d.mini.Start(); err != nil {
		return nil, fmt.Errorf("embedded Redis: %w", err)
	}
	d.mini.ClockTTL(true) // by itself it expires keys only when told
	options := simulator.Options{Now: now}
	if pace.limits {
		options.Limits = simulator.TelegramLimits()
	}
	d.sim = simulator.New(options)
	api, err := d.sim.Start("")
	if err != nil {
		return nil, err
	}
	places := populate(d.sim)
	places.token, places.api, places.redis = d.sim.Token(), api, "redis://"+d.mini.Addr()
	configuration := demoConfig(places, pace)
	if d.cfg, err = config.Parse("the demo's configuration", configuration, nil); err != nil {
		return nil, err
	}
	if d.rdb, err = dial(d.cfg, 0); err != nil {
		return nil, err
	}
	d.runtimes = newDemoRuntimes(d.rdb, d.cfg.Redis, now, pace)
	d.faults = &demoFaults{
		now: now, pace: pace, sim: d.sim, mini: d.mini, configuration: configuration, log: log,
		lag:    demoLag{sim: d.sim, rdb: d.rdb, keys: store.NewKeys(d.cfg.Redis.Namespace), asked: d.runtimes.recent},
		turned: make(chan struct{}),
	}
	return d, nil
}

// run starts the bot, serves the page and runs the runtimes until ctx ends. It calls
// ready, once, when the page can be used, and closes the listener.
func (d *demo) run(ctx context.Context, l net.Listener, ready func()) error {
	if err := d.faults.start(); err != nil {
		return errors.Join(err, l.Close())
	}
	bot := d.faults.process
	return together(ctx,
		d.faults.Run,
		d.runtimes.Run,
		func(ctx context.Context) error { return servePage(ctx, l, page.New(d.sim, d.runtimes, d.faults)) },
		func(ctx context.Context) error {
			select {
			case <-bot.ready:
				ready()
			case <-bot.done:
				return fmt.Errorf("the bot did not start: %w", bot.err)
			case <-ctx.Done():
			}
			return nil
		},
	)
}

// close ends what newDemo started, the last first.
func (d *demo) close() error {
	var errs []error
	if d.rdb != nil {
		errs = append(errs, d.rdb.Close())
	}
	if d.sim != nil {
		errs = append(errs, d.sim.Close())
	}
	d.mini.Close()
	return errors.Join(errs...)
}

// stopPageWithin bounds how long requests under way are waited for.
const stopPageWithin = 2 * time.Second

// servePage serves until ctx ends. Streams end with ctx, so that none holds up the stop.
func servePage(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve the page: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPageWithin)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		return server.Close()
	}
	return nil
}
