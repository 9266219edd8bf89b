package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"countersign/config"
	"countersign/delivery"
	"countersign/queue"
	"countersign/simulator"
	"countersign/sweeper"
	"countersign/telegram"
)

// A heldClock stands still until it is moved.
type heldClock struct {
	mu  sync.Mutex // guards at
	at  time.Time
	all []func(time.Time) // told of every move
}

// Now is the time it shows.
func (c *heldClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *heldClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	for _, tell := range c.all {
		tell(c.at)
	}
}

// A scene is the bot, its Redis, its Telegram and the model beside them. One
// goroutine drives it.
type scene struct {
	ctx    context.Context
	clock  *heldClock
	mini   *miniredis.Miniredis
	rdb    *redis.Client
	sim    *simulator.Server
	people map[int64]*simulator.Person
	client *queue.Client

	app    *App
	draw   *delivery.Reconciler
	sweeps *sweeper.Sweeper
	alone  int // restarts

	offset    int64
	fates     map[string]*fate
	ids       []string // in order of asking
	refs      map[string]string
	withdrawn map[string]bool // before their request
	events    []published
	buttons   []button
	seen      map[string]bool
	steps     int
	said      []simulator.Message // messages of the bot with a keyboard
}

// A published event is not taken by the intake yet.
type published struct {
	kind  string
	entry string
	at    time.Time
	fate  *fate // requests: as asked
	id    string
	data  map[string]any
}

// A button is one that was ever shown.
type button struct {
	chat, message int64
	id, data      string
}

func newScene(t *rapid.T) *scene {
	w := &scene{
		ctx: context.Background(), clock: &heldClock{at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)},
		fates: map[string]*fate{}, refs: map[string]string{}, seen: map[string]bool{}, withdrawn: map[string]bool{}, people: map[int64]*simulator.Person{},
	}
	w.mini = miniredis.NewMiniRedis()
	if err := w.mini.Start(); err != nil {
		t.Fatal(err)
	}
	w.clock.all = append(w.clock.all, func(at time.Time) { w.mini.SetTime(at) })
	w.clock.move(0)
	w.rdb = redis.NewClient(&redis.Options{Addr: w.mini.Addr()})
	w.sim = simulator.New(simulator.Options{Now: w.clock.Now, Token: "7000000:test-token", Username: "countersign_bot", AnswerWithin: 1000 * time.Hour})
	for id, name := range map[int64]string{annID: "Ann", benID: "Ben", olgaID: "Olga", samID: "Sam"} {
		w.people[id] = w.sim.AddUser(id, name)
		w.people[id].Start()
	}
	w.sim.AddSupergroup(teamID, "Team", w.people[annID], w.people[benID], w.people[olgaID], w.people[samID])
	w.client = queue.NewClient(w.rdb, "approvals")
	w.boot(t)
	w.drainUpdates(t)
	return w
}

// boot makes the bot anew, as after a kill.
func (w *scene) boot(t *rapid.T) {
	cfg := config.Default()
	cfg.Telegram.Token = config.NewSecret(w.sim.Token())
	cfg.Telegram.APIURL = "http://simulator.invalid"
	cfg.Telegram.Limits = config.Limits{}
	cfg.Redis.URL = config.NewRedisURL("redis://" + w.mini.Addr())
	cfg.Confirm.Window, cfg.Confirm.Dwell = modelWindow, modelDwell
	cfg.People = []config.Person{
		{ID: annID, Name: "Ann", Role: config.RoleOwner},
		{ID: benID, Name: "Ben", Role: config.RoleReader},
		{ID: olgaID, Name: "Olga", Role: config.RoleOwner},
	}
	cfg.Routes = []config.RouteRule{
		{Match: config.Match{Runtime: "team"}, Chats: []config.Chat{{ID: teamID}}, Quorum: 2},
		{Match: config.Match{Runtime: "both"}, Chats: []config.Chat{{ID: annID}, {ID: teamID}}, Quorum: 1},
		{Chats: []config.Chat{{ID: annID}}, Quorum: 1},
	}
	log := zerolog.Nop()
	if os.Getenv("COUNTERSIGN_TEST_LOG") != "" {
		log = zerolog.New(os.Stderr)
	}
	w.alone++
	app, err := NewApp(cfg, AppOptions{
		Log: log, Now: w.clock.Now, Random: rand.Reader, Jitter: func() float64 { return 0 },
		Name: "bot-" + strconv.Itoa(w.alone), HTTP: w.sim.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	me, err := app.client.Me(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	app.me.Store(&me)
	w.app, w.draw = app, app.reconciler()
	if w.sweeps, err = app.sweeper(); err != nil {
		t.Fatal(err)
	}
}

func (w *scene) close() {
	w.app.words.Wait()
	_ = w.app.Close()
	_ = w.rdb.Close()
	_ = w.sim.Close()
	w.mini.Close()
}

// drainUpdates takes the /start updates of the people out of the way.
func (w *scene) drainUpdates(t *rapid.T) {
	for w.sim.PendingUpdates() > 0 {
		w.nextUpdate(t)
	}
}

// nextUpdate takes one update and has it handled; it returns what it was.
func (w *scene) nextUpdate(t *rapid.T) telegram.Update {
	w.clock.move(time.Second) // the real server slows a poller that asks again at once
	raws, err := w.app.client.Updates(w.ctx, w.offset, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(raws) == 0 {
		return telegram.Update{}
	}
	u, err := telegram.Decode(raws[0].Raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.app.words.Handle(w.ctx, raws); err != nil {
		t.Fatal(err)
	}
	w.app.words.Wait()
	w.offset = raws[0].ID + 1
	if rapid.IntRange(0, 3).Draw(t, "redelivered") == 0 {
		if err := w.app.words.Handle(w.ctx, raws); err != nil {
			t.Fatal(err)
		}
		w.app.words.Wait()
	}
	return u
}

var refForm = regexp.MustCompile(`#([2-9A-Z]{5})\b`)

// look notes every button that is shown, and from which approval.
func (w *scene) look() {
	for _, chat := range []int64{annID, olgaID, benID, teamID} {
		for _, m := range w.sim.BotMessages(chat) {
			if m.ReplyMarkup == nil {
				continue
			}
			ref := refForm.FindStringSubmatch(m.Text)
			if ref == nil {
				continue
			}
			id := w.refs[ref[1]]
			if key := fmt.Sprint("m", chat, " ", m.MessageID); !w.seen[key] {
				w.seen[key] = true
				w.said = append(w.said, m)
			}
			for _, row := range m.ReplyMarkup.Rows {
				for _, b := range row {
					if key := fmt.Sprint(chat, m.MessageID, b.CallbackData); !w.seen[key] {
						w.seen[key] = true
						w.buttons = append(w.buttons, button{chat: chat, message: m.MessageID, id: id, data: b.CallbackData})
					}
				}
			}
		}
	}
}

// learnRefs reads which reference stands for which approval.
func (w *scene) learnRefs(t *rapid.T) {
	for id := range w.fates {
		ref, err := w.rdb.HGet(w.ctx, "{approvals}:row:"+id, "ref").Result()
		if err == nil {
			w.refs[ref] = id
		} else if !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
	}
}

// publish adds an event to the inbound stream.
func (w *scene) publish(t *rapid.T, kind, id string, data map[string]any, f *fate) {
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := w.rdb.XAdd(w.ctx, &redis.XAddArgs{
		Stream: "{approvals}:requests", Values: []any{"type", kind, "data", raw},
	}).Result()
	if err != nil {
		t.Fatal(err)
	}
	w.events = append(w.events, published{kind: kind, entry: entry, at: w.clock.Now(), fate: f, id: id, data: data})
}

// anyID is some approval that was asked, "" before there is one.
func (w *scene) anyID(t *rapid.T) string {
	if len(w.ids) == 0 {
		return ""
	}
	return rapid.SampledFrom(w.ids).Draw(t, "id")
}
