package delivery_test

import (
	"context"
	"crypto/rand"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"countersign/approval"
	"countersign/cards"
	"countersign/delivery"
	"countersign/simulator"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/telegram"
)

// The people and places of the tests.
const (
	ann   = storetest.Ann
	ben   = storetest.Ben
	cleo  = storetest.Cleo
	dora  = int64(1004) // a reader
	team  = int64(-1001000000001)
	forum = int64(-1001000000002)
)

const (
	window   = time.Minute
	lifetime = 5 * time.Minute // of a request
)

// A world is Redis, a Bot API server and its people, around processes that
// deliver.
type world struct {
	testing.TB
	dial  func(context.Context, string, string) (net.Conn, error)
	keys  string // the namespace
	store *store.Store
	sim   *simulator.Server
	rooms map[int64]*simulator.Room
	log   *lines
	// refused counts the calls that a test wants to be refused as wrong.
	refused int
	now     func() time.Time

	// signing are the keys of stores made from now on; nil: none.
	signing *approval.Keys

	mu      sync.Mutex // guards present
	present delivery.Present
}

// inBubble runs a test in a world whose time passes only when all wait for it.
// Redis is the embedded server, spoken to through memory.
func inBubble(t *testing.T, test func(w *world), changes ...func(*simulator.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		t.Cleanup(m.Close)
		dial := func(context.Context, string, string) (net.Conn, error) { return storetest.Dial(m) }
		w := newWorld(t, dial, "approvals", time.Now, changes...)
		test(w)
		w.noRefusals()
	})
}

// onServers runs a test on each server of package storetest, by the real clock.
func onServers(t *testing.T, test func(w *world, s *storetest.Server)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", s.Client().Options().Addr)
		}
		w := newWorld(t, dial, s.Namespace(), time.Now)
		test(w, s)
		w.noRefusals()
	})
}

func newWorld(t testing.TB, dial func(context.Context, string, string) (net.Conn, error), namespace string,
	now func() time.Time, changes ...func(*simulator.Options),
) *world {
	t.Helper()
	o := simulator.Options{Now: now}
	for _, change := range changes {
		change(&o)
	}
	w := &world{TB: t, dial: dial, keys: namespace, now: now, sim: simulator.New(o), log: &lines{}, rooms: map[int64]*simulator.Room{}}
	t.Cleanup(func() { _ = w.sim.Close() })
	w.store = w.newStore(w.client())
	var people []*simulator.Person
	for id, name := range map[int64]string{ann: "Ann", ben: "Ben", cleo: "Cleo", dora: "Dora"} {
		p := w.sim.AddUser(id, name)
		p.Start()
		people = append(people, p)
	}
	w.rooms[team] = w.sim.AddSupergroup(team, "Team", people...)
	w.rooms[forum] = w.sim.AddForum(forum, "Forum", people...)
	w.present = drawing()
	return w
}

// drawing is the configuration of a world.
func drawing() delivery.Present {
	return delivery.Present{
		Cards: cards.Settings{
			Confirm: approval.Confirm{Window: window, Dwell: 400 * time.Millisecond, OneTap: true}, TimeTag: true,
		},
		Owner:  func(user int64) bool { return user == ann || user == ben || user == cleo },
		Reader: func(chat int64) bool { return chat == dora },
	}
}

// client is a connection to Redis of its own. Nobody ever waits for one of its
// pool, since the timers of those who wait go from one bubble to another.
func (w *world) client(hooks ...redis.Hook) *redis.Client {
	c := redis.NewClient(&redis.Options{
		Dialer: w.dial, MaxRetries: -1, PoolSize: 5000,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	for _, h := range hooks {
		c.AddHook(h)
	}
	w.Cleanup(func() { _ = c.Close() })
	return c
}

func (w *world) newStore(c *redis.Client) *store.Store {
	w.Helper()
	s, err := store.New(c, store.Options{
		Namespace: w.keys, Retention: storetest.Retention, Random: rand.Reader, Signing: w.signing,
		Owners: func() []int64 { return []int64{ann, ben} },
	})
	w.ok(err)
	return s
}

// bot is a client of the simulated server.
func (w *world) bot() *telegram.Client {
	w.Helper()
	c, err := telegram.New(telegram.Config{
		Token: w.sim.Token(), APIURL: "http://bot.invalid", Timeout: delivery.CallTimeout, HTTP: w.sim.Client(),
	})
	w.ok(err)
	return c
}

func (w *world) presentNow() delivery.Present {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.present
}

// configure changes the configuration.
func (w *world) configure(change func(*delivery.Present)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.present)
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// open opens a good request, which can be undone, after the changes.
func (w *world) open(id string, changes ...func(*store.Opening)) {
	w.Helper()
	storetest.Open(w.TB, w.store, storetest.Request(id, storetest.WithUndo(30), storetest.With("expires_in", int(lifetime.Seconds()))), changes...)
}

// in names where an approval's cards go.
func in(chats ...approval.Chat) func(*store.Opening) {
	return func(o *store.Opening) { o.Chats = chats }
}

func chat(id int64) approval.Chat { return approval.Chat{ID: id} }

func (w *world) read(id string) *store.Reading {
	w.Helper()
	return storetest.Read(w.TB, w.store, id)
}

// state wants a row's state.
func (w *world) state(id string, want approval.State) {
	w.Helper()
	if got := w.read(id).Row.State; got != want {
		w.Errorf("%s is %s, want %s", id, got, want)
	}
}

// posts are the bot's messages in a chat that stand there now.
func (w *world) posts(chat int64, want int) []simulator.Message {
	w.Helper()
	posts := w.sim.BotMessages(chat)
	posts = slices.DeleteFunc(posts, func(m simulator.Message) bool { return m.Text == "" })
	if len(posts) != want {
		for _, m := range posts {
			w.Logf("message %d in %d: %s", m.MessageID, chat, m.Text)
		}
		w.Fatalf("%d messages in chat %d, want %d", len(posts), chat, want)
	}
	return posts
}

// post is the bot's one message in a chat.
func (w *world) post(chat int64) simulator.Message {
	w.Helper()
	return w.posts(chat, 1)[0]
}

// inLine wants every known message of some approvals to show what its row
// says, and nothing to be left to do.
func (w *world) inLine(ids ...string) {
	w.Helper()
	p := w.presentNow()
	for _, id := range ids {
		r := w.read(id)
		if n := delivery.Needs(r, p); n != 0 {
			w.Errorf("%s still needs %d things", id, n)
		}
		for i := range r.Cards {
			w.shows(r, &r.Cards[i], p)
		}
	}
}

func (w *world) shows(r *store.Reading, c *store.Card, p delivery.Present) {
	w.Helper()
	if c.Failed != "" {
		return
	}
	want := cards.Card(delivery.ViewOf(r, c, p), p.Cards)
	for _, id := range append(slices.Collect(mapKeys(c.Copies)), c.Message) {
		m, ok := w.sim.Message(c.Chat, int64(id))
		if !ok {
			w.Errorf("%s: there is no message %d in chat %d", r.ID, id, c.Chat)
			continue
		}
		if diff := cmp.Diff(want.Plain, m.Text); diff != "" {
			w.Errorf("%s, message %d in chat %d (-want +got):\n%s", r.ID, id, c.Chat, diff)
		}
		if diff := cmp.Diff(buttons(want.Keyboard), m.Keyboard()); diff != "" {
			w.Errorf("%s, buttons of message %d in chat %d (-want +got):\n%s", r.ID, id, c.Chat, diff)
		}
	}
}

// buttons are a keyboard as the simulator keeps it.
func buttons(k [][]cards.Button) [][]simulator.Button {
	var rows [][]simulator.Button
	for _, row := range k {
		var out []simulator.Button
		for _, b := range row {
			out = append(out, simulator.Button{Text: b.Text, CallbackData: b.Data, Style: b.Style})
		}
		rows = append(rows, out)
	}
	return rows
}

// noRefusals wants no call to have been wrong in itself, but those that the test
// is about, and no formatting to have been changed in silence.
func (w *world) noRefusals() {
	w.Helper()
	if calls := w.sim.Refusals(); len(calls) != w.refused {
		for _, c := range calls {
			w.Errorf("refused: %s", c)
		}
	}
	for _, c := range w.sim.Warnings() {
		w.Errorf("%s: %s", c.Text, c.Call)
	}
}
