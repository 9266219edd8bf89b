package main

import (
	"context"
	"crypto/rand"
	"io"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"countersign/config"
	"countersign/queue"
	"countersign/simulator"
)

// The people of the tests.
const (
	annID  = 1001
	benID  = 1002
	olgaID = 1003
	samID  = 1004
	teamID = -1001234567890
)

// A stage is the whole bot with a Redis and a Bot API server around it.
type stage struct {
	t      testing.TB
	cfg    config.Config
	redis  *redis.Client
	mini   *miniredis.Miniredis // nil on a real Redis
	sim    *simulator.Server
	url    string
	client *queue.Client
	ann    *simulator.Person
	ben    *simulator.Person
	olga   *simulator.Person
	sam    *simulator.Person
	team   *simulator.Room
}

// newStage sets a stage on the embedded server. change may alter the
// configuration before anything is built from it.
func newStage(t testing.TB, change ...func(*config.Config)) *stage {
	t.Helper()
	mini := miniredis.RunT(t)
	st := &stage{t: t, mini: mini, redis: redis.NewClient(&redis.Options{Addr: mini.Addr()})}
	st.build("redis://"+mini.Addr(), "approvals", change...)
	return st
}

func (st *stage) build(address, namespace string, change ...func(*config.Config)) {
	t := st.t
	t.Helper()
	sim := simulator.New(simulator.Options{Now: time.Now, Token: "7000000:test-token", Username: "countersign_bot", Name: "Countersign"})
	st.sim = sim
	var err error
	if st.url, err = sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	t.Cleanup(func() { _ = st.redis.Close() })
	st.ann, st.ben = sim.AddUser(annID, "Ann"), sim.AddUser(benID, "Ben")
	st.olga, st.sam = sim.AddUser(olgaID, "Olga"), sim.AddUser(samID, "Sam")
	for _, p := range []*simulator.Person{st.ann, st.ben, st.olga, st.sam} {
		p.Start()
	}
	st.team = sim.AddSupergroup(teamID, "Team", st.ann, st.ben, st.olga, st.sam)
	cfg := config.Default()
	cfg.Telegram.Token = config.NewSecret(sim.Token())
	cfg.Telegram.APIURL = st.url
	cfg.Telegram.Limits = config.Limits{}
	cfg.Redis.URL, cfg.Redis.Namespace = config.NewRedisURL(address), namespace
	cfg.People = []config.Person{
		{ID: annID, Name: "Ann", Role: config.RoleOwner},
		{ID: benID, Name: "Ben", Role: config.RoleReader},
		{ID: olgaID, Name: "Olga", Role: config.RoleOwner},
	}
	cfg.Routes = []config.RouteRule{
		{Match: config.Match{Runtime: "team*"}, Chats: []config.Chat{{ID: teamID}}, Quorum: 2},
		{Match: config.Match{Runtime: "both*"}, Chats: []config.Chat{{ID: annID}, {ID: teamID}}, Quorum: 1},
		{Chats: []config.Chat{{ID: annID}}, Quorum: 1},
	}
	cfg.Confirm.Dwell = 0
	cfg.HTTP.Listen = "127.0.0.1:0"
	for _, c := range change {
		c(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	st.cfg = cfg
	st.client = queue.NewClient(st.redis, namespace)
}

// start starts one bot process's worth of work, and returns how to stop it.
func (st *stage) start(name string) (stop func()) {
	t := st.t
	t.Helper()
	var w io.Writer = testWriter{t}
	ready := make(chan struct{})
	app, err := NewApp(st.cfg, AppOptions{
		Log: zerolog.New(w).Level(zerolog.WarnLevel), Now: time.Now, Random: rand.Reader, Jitter: func() float64 { return 0 },
		Name: name, Ready: func() { close(ready) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("bot %s: %v", name, err)
		}
		if err := app.Close(); err != nil {
			t.Errorf("bot %s: close: %v", name, err)
		}
	}
	t.Cleanup(stop)
	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("bot %s ended: %v", name, err)
	}
	return stop
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", p)
	return len(p), nil
}
