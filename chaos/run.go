package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"countersign/queue"
	"countersign/simulator"
)

// What every run shares.
const (
	namespace = "chaos"
	dwell     = 300 * time.Millisecond
	window    = 20 * time.Second
	// slack is how far the clock of a log may be from Redis's for one moment: both
	// are of this machine, but a log's line is written a little later or earlier.
	slack = 50 * time.Millisecond
)

// options are what the command line says.
type options struct {
	seed      uint64
	over      time.Duration
	approvals int
	bots      int
	redis     string // path of redis-server
	bot       string // path of a program that is built already; "": build it
	webhook   bool
	out       string // where logs and evidence go
}

// A run is everything that takes part in one.
type run struct {
	options        options
	guardian       *guardian
	sim            *simulator.Server
	front          *front
	hub            *hub
	db             *server
	bots           []*bot
	client         *queue.Client
	ledger         *ledger
	bot            string
	operatorConfig string
	doors          []*http.Server
	began, calm    time.Time
	dora           sync.Mutex // held while she blocks the bot

	mu    sync.Mutex // guards what follows
	said  []string
	left  []string
	times map[string][]time.Duration
	odds  []oddity // of the next deliveries
}

// A server is the database with whoever may strike it.
type server struct {
	*database
	control sync.Mutex
}

// say records what must not happen.
func (r *run) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// took records how long something took.
func (r *run) took(what string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[what] = append(r.times[what], d)
}

// odd has the next n deliveries go oddly.
func (r *run) odd(what oddity, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range n {
		r.odds = append(r.odds, what)
	}
}

func (r *run) nextOdd() oddity {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.odds) == 0 {
		return nothingOdd
	}
	what := r.odds[0]
	r.odds = r.odds[1:]
	return what
}

// newRun builds and starts everything.
func newRun(ctx context.Context, o options) (*run, error) {
	r := &run{options: o, ledger: newLedger(), times: map[string][]time.Duration{}, bot: o.bot}
	var err error
	if r.guardian, err = newGuardian(); err != nil {
		return nil, err
	}
	if r.bot == "" {
		r.bot = filepath.Join(o.out, "countersign")
		build := exec.CommandContext(ctx, "go", "build", "-o", r.bot, "countersign/cmd/bot")
		if out, err := build.CombinedOutput(); err != nil {
			return r, fmt.Errorf("building the bot: %w\n%s", err, out)
		}
	}
	if err := r.startRedis(ctx); err != nil {
		return r, err
	}
	r.world()
	r.client = queue.NewClient(r.db.client, namespace, queue.WithStream(keyOf("requests")))
	if err := r.startBots(); err != nil {
		return r, err
	}
	return r, r.serving(ctx)
}

func (r *run) startRedis(ctx context.Context) error {
	dir := filepath.Join(r.options.out, "redis")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	db, err := newDatabase(r.guardian, r.options.redis, dir, r.options.out)
	if err != nil {
		return err
	}
	r.db = &server{database: db}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return db.up(ctx)
}

// world makes the people and their chats.
func (r *run) world() {
	r.sim = simulator.New(simulator.Options{
		Now: time.Now, Token: "7000000:chaos-token-that-no-log-may-hold", Username: "countersign_bot", Name: "Countersign",
		LogLimit: 5_000_000,
	})
	var all []*simulator.Person
	for id, name := range map[int64]string{annID: "Ann", olgaID: "Olga", doraID: "Dora", benID: "Ben", samID: "Sam", malID: "Mal"} {
		p := r.sim.AddUser(id, name)
		p.Start()
		all = append(all, p)
	}
	for i := range teams {
		r.sim.AddSupergroup(teamFirst-int64(i), fmt.Sprintf("Team %d", i), all...)
	}
	r.sim.AddSupergroup(pairID, "Pair", all...)
	r.front = &front{sim: r.sim}
	r.hub = newHub(r.sim)
}

// open serves HTTP on a free port.
func (r *run) open(h http.Handler) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	r.doors = append(r.doors, s)
	go func() { _ = s.Serve(l) }()
	return "http://" + l.Addr().String(), nil
}

// close ends everything.
func (r *run) close() {
	for _, b := range r.bots {
		b.kill()
		b.cutter.close()
	}
	if r.db != nil {
		r.db.kill()
		_ = r.db.client.Close()
	}
	for _, d := range r.doors {
		_ = d.Close()
	}
	if r.sim != nil {
		_ = r.sim.Close()
	}
	r.guardian.close()
}

// play goes through the whole run: the storm with everybody at work in it, then
// calm until everything is settled.
func (r *run) play(ctx context.Context) {
	following, end := context.WithCancel(ctx)
	defer end()
	go r.hub.follow(following)
	r.began = time.Now()
	working, stop := context.WithCancel(ctx)
	defer stop()
	asked := newPace()
	var storm, work sync.WaitGroup
	storm.Go(func() { r.storm(ctx, asked) })
	acting, idle := make(chan struct{}, inFlight), make(chan struct{}, leftAlone)
	for _, p := range plans(r.options.seed, r.options.approvals, r.options.over) {
		places := acting
		if p.fate == unanswered || p.fate == strange {
			places = idle
		}
		if !pause(ctx, time.Until(r.began.Add(p.at))) || !r.enter(ctx, places) {
			break
		}
		r.take(working, &work, p, func() { <-places })
		asked.reach(p.at)
	}
	asked.reach(2 * r.options.over) // what is left of the schedule, all at once
	storm.Wait()
	r.calm = time.Now()
	r.awaitWork(ctx, &work)
	stop()
	r.settle(ctx)
}

// enter takes a place as soon as one is free, and reports whether there was one.
func (r *run) enter(ctx context.Context, places chan<- struct{}) bool {
	given := time.NewTimer(2 * standstill)
	defer given.Stop()
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-given.C:
		r.left = append(r.left, fmt.Sprintf("no approval was answered for %v", 2*standstill))
	}
	return false
}

// inFlight is how many approvals that somebody answers, and leftAlone how many
// that nobody does, wait at once: more are asked only as others end, so that a slow
// machine has a longer storm and not a deeper one.
const (
	inFlight  = 100
	leftAlone = 150
)

// take has everybody begin with one approval. answered is called when its runtime
// no longer waits.
func (r *run) take(ctx context.Context, work *sync.WaitGroup, p plan, answered func()) {
	source := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(p.seed, n)) }
	work.Go(func() { (&runtime{r, p, source(1)}).live(ctx, answered) })
	if p.spied {
		work.Go(func() { (&person{r, p, source(2)}).spy(ctx) })
	}
	work.Go(func() {
		who := &person{r, p, source(3)}
		if p.curious {
			who.look(ctx)
		}
		who.answer(ctx)
	})
}
