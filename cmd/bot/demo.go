package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"countersign/config"
	"countersign/simulator"
	"countersign/simulator/page"
)

// demoCmd runs everything with nothing: an embedded Redis, a simulated Bot API, the bot
// itself as run builds it, sample runtimes, and a chat page in the browser.
type demoCmd struct {
	Listen string `help:"Where the chat page is served; a loopback address." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
}

// Run runs the demo until it is interrupted.
func (c *demoCmd) Run(s *shell) error {
	l, err := listenLocally(s.ctx, c.Listen)
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	log := logger(s.stderr, config.Log{Level: "warn", Format: config.FormatConsole})
	d, err := newDemo(log, time.Now, demoConfig)
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
	cfg      config.Config
	mini     *miniredis.Miniredis
	sim      *simulator.Server
	rdb      redis.UniversalClient // of the runtimes
	app      *App
	runtimes *demoRuntimes
	log      zerolog.Logger
	ready    chan struct{} // closed when the bot serves
}

// newDemo starts the servers that the bot needs, and builds the bot, by a configuration
// that fits them, and the runtimes.
func newDemo(log zerolog.Logger, now func() time.Time, configure func(demoPlaces) config.Config) (_ *demo, err error) {
	d := &demo{log: log, mini: miniredis.NewMiniRedis(), ready: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if err := d.mini.Start(); err != nil {
		return nil, fmt.Errorf("embedded Redis: %w", err)
	}
	d.mini.ClockTTL(true) // by itself it expires keys only when told
	d.sim = simulator.New(simulator.Options{Now: now, Limits: simulator.TelegramLimits()})
	api, err := d.sim.Start("")
	if err != nil {
		return nil, err
	}
	places := populate(d.sim)
	places.token, places.api, places.redis = d.sim.Token(), api, "redis://"+d.mini.Addr()
	d.cfg = configure(places)
	if err := d.cfg.Validate(); err != nil {
		return nil, err
	}
	if d.rdb, err = dial(d.cfg, 0); err != nil {
		return nil, err
	}
	d.runtimes = newDemoRuntimes(d.rdb, d.cfg.Redis, now)
	d.app, err = NewApp(d.cfg, AppOptions{
		Log: log, Now: now, Random: rand.Reader, Jitter: mathrand.Float64, Name: "demo",
		Ready: func() { close(d.ready) },
	})
	return d, err
}

// run serves the page and runs bot and runtimes until ctx ends. It calls ready, once,
// when the page can be used, and closes the listener.
func (d *demo) run(ctx context.Context, l net.Listener, ready func()) error {
	return together(ctx,
		d.app.Run,
		d.runtimes.Run,
		func(ctx context.Context) error { return servePage(ctx, l, page.New(d.sim, d.runtimes, nil)) },
		func(ctx context.Context) error {
			select {
			case <-d.ready:
				ready()
			case <-ctx.Done():
			}
			return nil
		},
	)
}

// close ends what newDemo started, the last first.
func (d *demo) close() error {
	var errs []error
	if d.app != nil {
		errs = append(errs, d.app.Close())
	}
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
