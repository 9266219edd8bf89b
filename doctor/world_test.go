package doctor_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/config"
	"countersign/doctor"
	"countersign/simulator"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/telegram"
)

// The people and the group of the tests.
const (
	annID  = 1001
	benID  = 1002
	samID  = 1003
	teamID = -1001234567890

	botID       = 7000000
	token       = "7000000:test-token"
	hookSetting = "webhook"
)

// A world is a healthy patient, for a test to spoil: a real Redis of its own, a Bot API
// server, two owners and a group.
type world struct {
	t       *testing.T
	cfg     config.Config
	files   []doctor.File
	ready   func(context.Context) (string, bool, error)
	ahead   time.Duration // of this machine's clock
	redis   *redis.Client // with every right
	store   *store.Store  // with the patient's
	client  *telegram.Client
	sim     *simulator.Server
	url     string
	ann     *simulator.Person
	ben     *simulator.Person
	team    *simulator.Room
	timeout time.Duration
}

// newWorld is nil where there is no redis-server, and none is required.
func newWorld(t *testing.T, options ...func(*simulator.Options)) *world {
	t.Helper()
	server := storetest.Own(t, "--appendonly", "yes")
	if server == nil {
		return nil
	}
	w := &world{t: t, redis: server.Client(), timeout: 30 * time.Second}
	w.do("acl", "setuser", "bot", "on", ">hush", "~*", "+@all")
	o := simulator.Options{Now: time.Now, Token: token, Username: "countersign_bot"}
	for _, change := range options {
		change(&o)
	}
	w.sim = simulator.New(o)
	t.Cleanup(func() { _ = w.sim.Close() })
	var err error
	if w.url, err = w.sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	w.ann, w.ben = w.sim.AddUser(annID, "Ann"), w.sim.AddUser(benID, "Ben")
	w.sim.AddUser(samID, "Sam")
	w.ann.Start()
	w.ben.Start()
	w.team = w.sim.AddSupergroup(teamID, "Team", w.ann, w.ben)

	w.cfg = config.Default()
	w.cfg.Telegram.Token, w.cfg.Telegram.APIURL = config.NewSecret(token), w.url
	w.cfg.Redis.URL = config.NewRedisURL("redis://bot:hush@" + w.redis.Options().Addr + "/0")
	w.cfg.People = []config.Person{
		{ID: annID, Name: "Ann", Role: config.RoleOwner},
		{ID: benID, Name: "Ben", Role: config.RoleOwner},
	}
	w.cfg.Routes = []config.RouteRule{
		{Match: config.Match{Runtime: "team*"}, Chats: []config.Chat{{ID: teamID}}, Quorum: 1},
	}
	user := *w.redis.Options()
	user.Username, user.Password = "bot", "hush"
	w.connect(&user)
	if w.client, err = telegram.New(telegram.Config{Token: token, APIURL: w.url}); err != nil {
		t.Fatal(err)
	}
	return w
}

// connect has the patient speak to another Redis, or as somebody else.
func (w *world) connect(o *redis.Options) {
	w.t.Helper()
	o.MaxRetries = -1
	rdb := redis.NewClient(o)
	w.t.Cleanup(func() { _ = rdb.Close() })
	var err error
	if w.store, err = store.New(rdb, store.Options{Namespace: w.cfg.Redis.Namespace, Retention: w.cfg.Retention}); err != nil {
		w.t.Fatal(err)
	}
}

// do runs a command with every right.
func (w *world) do(args ...any) {
	w.t.Helper()
	if err := w.redis.Do(w.t.Context(), args...).Err(); err != nil {
		w.t.Fatalf("%v: %v", args, err)
	}
}

// calls calls the Bot API by hand.
func (w *world) calls(method, params string) {
	w.t.Helper()
	answer, err := http.Post(w.url+"/bot"+token+"/"+method, "application/json", strings.NewReader(params))
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s", method, answer.Status)
	}
}

// lives has a bot serve the queue, as far as Redis shows.
func (w *world) lives(streams ...string) {
	w.t.Helper()
	if err := w.store.Alive(w.t.Context(), streams); err != nil {
		w.t.Fatal(err)
	}
	if _, ok, err := w.store.TakeLease(w.t.Context(), "bot-1/x", time.Minute); err != nil || !ok {
		w.t.Fatal(ok, err)
	}
}

// examine returns what is found.
func (w *world) examine() []doctor.Finding {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), w.timeout)
	defer cancel()
	var found []doctor.Finding
	doctor.Examine(ctx, doctor.Patient{
		Config: &w.cfg, Files: w.files, Store: w.store, Telegram: w.client, Ready: w.ready,
		Now: func() time.Time { return time.Now().Add(w.ahead) }, HookSetting: hookSetting,
	}, func(f doctor.Finding) { found = append(found, f) })
	return found
}

// bad are the findings that are not good, as check and level.
func bad(found []doctor.Finding) []string {
	var names []string
	for _, f := range found {
		if f.Level != doctor.Good {
			names = append(names, fmt.Sprintf("%s %s", f.Check, f.Level))
		}
	}
	return names
}

// show is findings in lines.
func show(found []doctor.Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s %s: %s (%s)\n", f.Level, f.Check, f.What, f.Remedy)
	}
	return b.String()
}

// names reports whether the lines that are not good say a text, and its remedy.
func names(found []doctor.Finding, what, remedy string) bool {
	return slices.ContainsFunc(found, func(f doctor.Finding) bool {
		return f.Level != doctor.Good && strings.Contains(f.What, what) && strings.Contains(f.Remedy, remedy)
	})
}
