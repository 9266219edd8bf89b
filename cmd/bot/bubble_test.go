package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/config"
	"countersign/queue"
	"countersign/simulator"
	"countersign/store"
	"countersign/store/storetest"
)

// A bubble is a world in which time passes only when all wait for it: a Redis and
// a Bot API server, spoken to through memory, with any number of bots between
// them. Its hours take no time.
type bubble struct {
	testing.TB
	dial   func(context.Context, string, string) (net.Conn, error) // to Redis
	rdb    *redis.Client                                           // of the world, not of a bot
	sim    *simulator.Server
	store  *store.Store
	client *queue.Client
	cfg    config.Config
	ann    *simulator.Person
	olga   *simulator.Person
	log    *bubbleLog
	line   *line // on which webhooks are delivered
}

func inBubble(t *testing.T, test func(w *bubble), change ...func(*config.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		mini := miniredis.NewMiniRedis()
		t.Cleanup(mini.Close)
		w := &bubble{TB: t, log: &bubbleLog{}, line: &line{}}
		w.dial = func(context.Context, string, string) (net.Conn, error) { return storetest.Dial(mini) }
		o := &redis.Options{}
		w.connect(o)
		w.rdb = redis.NewClient(o)
		t.Cleanup(func() { _ = w.rdb.Close() })
		w.client = queue.NewClient(w.rdb, "approvals")
		var err error
		w.store, err = store.New(w.rdb, store.Options{Namespace: "approvals", Retention: 30 * 24 * time.Hour, Random: rand.Reader})
		w.ok(err)
		w.sim = simulator.New(simulator.Options{
			Now: time.Now, Token: "7000000:test-token", Username: "countersign_bot", WebhookClient: w.line.client(),
		})
		t.Cleanup(func() { _ = w.sim.Close() })
		w.ann, w.olga = w.sim.AddUser(annID, "Ann"), w.sim.AddUser(olgaID, "Olga")
		w.ann.Start()
		w.olga.Start()
		w.sim.AddSupergroup(teamID, "Team", w.ann, w.olga)
		w.cfg = bubbleConfig(w.sim.Token())
		for _, c := range change {
			c(&w.cfg)
		}
		w.ok(w.cfg.Validate())
		w.cfg.HTTP.Listen = "" // whoever waits on a socket would hold up time
		test(w)
		for _, c := range w.sim.Refusals() {
			w.Errorf("Telegram refused %s", c)
		}
	})
}

func bubbleConfig(token string) config.Config {
	cfg := config.Default()
	cfg.Telegram.Token = config.NewSecret(token)
	cfg.Telegram.APIURL = "http://simulator.invalid"
	cfg.Telegram.Limits = config.Limits{}
	cfg.People = []config.Person{
		{ID: annID, Name: "Ann", Role: config.RoleOwner}, {ID: olgaID, Name: "Olga", Role: config.RoleOwner},
	}
	cfg.Routes = []config.RouteRule{
		{Match: config.Match{Runtime: "both"}, Chats: []config.Chat{{ID: annID}, {ID: teamID}}, Quorum: 1},
		{Chats: []config.Chat{{ID: annID}}, Quorum: 1},
	}
	return cfg
}

// connect leads a connection to the world's Redis. Nobody ever waits for one of a
// pool, since the timers of those who wait go from one bubble to another.
func (w *bubble) connect(o *redis.Options) {
	o.Dialer, o.PoolSize = w.dial, 5000
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

func (w *bubble) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// build wires a bot. What it has of the world ends with its life.
func (w *bubble) build(name string, l *life, change ...func(*AppOptions)) *App {
	w.Helper()
	transport := w.sim.Client()
	transport.Transport = mortalTransport{transport.Transport, l}
	o := AppOptions{
		Log: zerolog.New(w.log).Level(zerolog.InfoLevel), Now: time.Now, Random: rand.Reader,
		Jitter: func() float64 { return 0 }, Name: name, HTTP: transport, Redis: w.connect,
		Listen: w.line.listen,
	}
	for _, c := range change {
		c(&o)
	}
	app, err := NewApp(w.cfg, o)
	w.ok(err)
	for _, c := range []redis.UniversalClient{app.rdb, app.reader} {
		c.AddHook(l)
	}
	return app
}

// A running is a bot that runs.
type running struct {
	*App
	w      *bubble
	life   *life
	cancel context.CancelFunc
	done   chan error
}

// run starts a bot.
func (w *bubble) run(name string, l *life, change ...func(*AppOptions)) *running {
	w.Helper()
	r := &running{App: w.build(name, l, change...), w: w, life: l, done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go func() { r.done <- r.Run(ctx) }()
	w.Cleanup(r.stop)
	return r
}

// stop stops a bot, once, and wants it to end well.
func (r *running) stop() {
	if r.cancel == nil {
		return
	}
	r.cancel()
	r.cancel = nil
	if err := <-r.done; err != nil && r.life.alive() {
		r.w.Errorf("a bot ended with %v", err)
	}
	_ = r.Close()
}

// kill ends a bot as if by kill -9: nothing it does from now on has an effect.
func (r *running) kill() {
	r.life.end()
	r.cancel()
}

// pass lets time pass, and everything happen that falls due.
func (w *bubble) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// ask publishes a request, whether a bot is there or not.
func (w *bubble) ask(id, runtime string, expires time.Duration) queue.Pending {
	w.Helper()
	data, err := json.Marshal(map[string]any{
		"approval_id": id, "runtime": runtime, "tool": "trash", "arguments": map[string]any{"id": id},
		"expires_in": expires.Seconds(),
		"card":       map[string]any{"title": "Trash " + id, "action": "Trash it", "undo_tool": "untrash", "undo_window_days": 30},
	})
	w.ok(err)
	p, err := w.client.Request(context.Background(), queue.Request{Data: data, NoCheck: true})
	w.ok(err)
	return p
}

// card is the newest message about an approval in a chat.
func (w *bubble) card(chat int64, id string) (simulator.Message, bool) {
	all := w.cards(chat, id)
	if len(all) == 0 {
		return simulator.Message{}, false
	}
	return all[len(all)-1], true
}

// cards are the messages in a chat that are cards of an approval.
func (w *bubble) cards(chat int64, id string) []simulator.Message {
	var all []simulator.Message
	for _, m := range w.sim.BotMessages(chat) {
		if m.ReplyToMessage == nil && strings.Contains(m.Text, "Trash "+id+"\n") && strings.Contains(m.Text, " · from ") {
			all = append(all, m)
		}
	}
	return all
}

// until lets time pass, a little at a time, until something is so.
func (w *bubble) until(within time.Duration, what string, is func() bool) {
	w.Helper()
	for left := within; ; left -= 100 * time.Millisecond {
		synctest.Wait()
		if is() {
			return
		}
		if left <= 0 {
			w.Fatalf("not within %v: %s", within, what)
		}
		w.pass(100 * time.Millisecond)
	}
}

// has waits until an approval's card has a button, and returns the card.
func (w *bubble) has(within time.Duration, chat int64, id, button string) (m simulator.Message) {
	w.Helper()
	w.until(within, fmt.Sprintf("%s has the button %q", id, button), func() (ok bool) {
		if m, ok = w.card(chat, id); ok {
			_, ok = m.Button(button)
		}
		return ok
	})
	return m
}

// says waits until an approval's card says something.
func (w *bubble) says(within time.Duration, chat int64, id, text string) {
	w.Helper()
	w.until(within, fmt.Sprintf("the card of %s says %q", id, text), func() bool {
		m, ok := w.card(chat, id)
		return ok && strings.Contains(m.Text, text)
	})
}

// confirms has Ann approve an approval from the card on, each step seen within a
// few seconds.
func (w *bubble) confirms(id string) {
	w.Helper()
	const within = 5 * time.Second
	m, ok := w.card(annID, id)
	if _, asked := m.Button("Yes"); !ok || !asked {
		w.ann.Tap(w.has(within, annID, id, "Trash it"), "Trash it")
		m = w.has(within, annID, id, "Yes")
	}
	w.pass(time.Second) // the dwell
	w.ann.Tap(m, "Yes")
	w.says(within, annID, id, "Approved by")
}

// row is what a runtime sees of an approval.
func (w *bubble) row(id string) queue.Row {
	w.Helper()
	r, err := w.client.Row(context.Background(), id)
	if err != nil {
		return queue.Row{}
	}
	return r
}

// state wants a row's state.
func (w *bubble) state(id string, want approval.State) {
	w.Helper()
	if got := w.row(id).State; got != want {
		w.Errorf("%s is %q, want %q", id, got, want)
	}
}

// answers are the decisions that were published about an approval, on its own
// stream and on that of all.
func (w *bubble) answers(id string) (own, all []string) {
	w.Helper()
	for i, key := range []string{"{approvals}:answer:" + id, "{approvals}:answers"} {
		entries, err := w.rdb.XRange(context.Background(), key, "-", "+").Result()
		w.ok(err)
		for _, e := range entries {
			if e.Values["type"] != "approval.answered" || e.Values["subject"] != id {
				continue
			}
			var a struct{ Decision string }
			w.ok(json.Unmarshal([]byte(e.Values["data"].(string)), &a))
			if i == 0 {
				own = append(own, a.Decision)
			} else {
				all = append(all, a.Decision)
			}
		}
	}
	return own, all
}

// once wants exactly one answer to an approval, on both streams.
func (w *bubble) once(id, decision string) {
	w.Helper()
	own, all := w.answers(id)
	for _, got := range [][]string{own, all} {
		if len(got) != 1 || got[0] != decision {
			w.Errorf("%s was answered %v and %v, want %s once", id, own, all, decision)
			return
		}
	}
}
