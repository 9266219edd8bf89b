package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/cards"
	"countersign/chaos/verdict"
	"countersign/delivery"
	"countersign/handlers"
	"countersign/queue"
	"countersign/simulator"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/telegram"
)

// TestSevered has the connection to a real server cut at one command of each kind,
// the first time, half way and the last time: within the command, after its effect
// and within the reply. Once the client library sends the command again, as in the
// bot, and once the rooms have to, as where that is cut too. All of a short life goes
// on by itself: nothing is lost, and nothing is done twice.
func TestSevered(t *testing.T) {
	t.Parallel()
	server := storetest.Real(t)
	if server == nil {
		return // none is required, or Real would have failed
	}
	names := scriptNames(t)
	whole := newLifetime(t, storetest.Real(t), &blade{scripts: names, seen: map[string]int{}}, 0)
	whole.goes()
	whole.holds(0)
	for _, kind := range slices.Sorted(maps.Keys(whole.blade.seen)) {
		for _, at := range []place{midCommand, noReply, midReply} {
			for _, nth := range someTimes(whole.blade.seen[kind]) {
				for who, retries := range map[string]int{"the library": 0, "the rooms": -1} {
					t.Run(fmt.Sprintf("%s %d/%s/%s", kind, nth, at, who), func(t *testing.T) {
						t.Parallel()
						b := &blade{scripts: names, seen: map[string]int{}, kind: kind, nth: nth, at: at}
						l := newLifetime(t, storetest.Real(t), b, retries)
						l.goes()
						if !b.has() {
							t.Logf("%s came fewer than %d times", kind, nth)
						}
						l.holds(1)
					})
				}
			}
		}
	}
}

// someTimes are the first, the middle and the last of n.
func someTimes(n int) []int { return slices.Compact([]int{1, (n + 1) / 2, n}) }

// A lifetime is the rooms of a bot around one connection, a runtime that has it
// too, and what happens to two approvals.
type lifetime struct {
	*testing.T
	server *storetest.Server
	blade  *blade
	sim    *simulator.Server
	ann    *simulator.Person
	client *queue.Client
	store  *store.Store
	intake *queue.Intake
	words  *handlers.Handlers
	leader *delivery.Leader
	draw   *delivery.Reconciler
	api    *telegram.Client
	faults int // of what was tried
}

func newLifetime(t *testing.T, server *storetest.Server, b *blade, retries int) *lifetime {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{
		Addr: server.Client().Options().Addr, Dialer: b.dial, ContextTimeoutEnabled: true, MaxRetries: retries,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	l := &lifetime{T: t, server: server, blade: b, client: queue.NewClient(rdb, server.Namespace())}
	options := storetest.Options(server)
	var err error
	l.store, err = store.New(rdb, options)
	l.must(err)
	l.sim = simulator.New(simulator.Options{Now: time.Now})
	t.Cleanup(func() { _ = l.sim.Close() })
	l.ann = l.sim.AddUser(storetest.Ann, "Ann")
	l.ann.Start()
	l.api, err = telegram.New(telegram.Config{
		Token: l.sim.Token(), APIURL: "http://bot.invalid", Timeout: delivery.CallTimeout, HTTP: l.http(),
	})
	l.must(err)
	log, count := zerolog.Nop(), func(string, ...string) {}
	settings := cards.Settings{Confirm: approval.Confirm{Window: time.Minute}, TimeTag: true}
	pace := delivery.NewPace(delivery.Limits{}, time.Now)
	l.leader = delivery.NewLeader(l.store, "bot", time.Now, log)
	l.draw = delivery.NewReconciler(delivery.Config{
		Store: l.store, Bot: l.api, Pace: pace, Leader: l.leader, Log: log, Count: count,
		Present: func() delivery.Present {
			return delivery.Present{
				Cards: settings, Owner: func(int64) bool { return true }, Reader: func(int64) bool { return false },
			}
		},
	})
	ann := handlers.Person{ID: storetest.Ann, Name: "Ann", Role: handlers.Owner}
	l.words = handlers.New(handlers.Config{
		Store: l.store, Voice: delivery.NewSpeaker(l.api, pace, log), Now: time.Now, Log: log, Count: count,
		Username: func() string { return "countersign_bot" },
		Present: func() handlers.Present {
			return handlers.Present{
				People: map[int64]handlers.Person{ann.ID: ann}, Cards: settings,
				Approve: []string{"approve"}, Reject: []string{"reject"},
			}
		},
	})
	l.intake, err = queue.NewIntake(queue.IntakeConfig{
		Redis: rdb, Store: l.store, Namespace: server.Namespace(), Consumer: "bot", Retention: storetest.Retention, Log: log,
		Router: func() queue.Router { return toAnn{} },
		Durations: func() approval.Durations {
			return approval.Durations{ToolCall: time.Hour, Halt: 10 * time.Minute, Max: 7 * 24 * time.Hour}
		},
		Remind: func() time.Duration { return 0 }, Owners: func() []int64 { return []int64{storetest.Ann} },
		Glob: func(string, string) bool { return true },
	})
	l.must(err)
	return l
}

// http is a client of the simulated server.
func (l *lifetime) http() *http.Client { return l.sim.Client() }

// toAnn routes everything to Ann.
type toAnn struct{}

// Route implements queue.Router.
func (toAnn) Route(*approval.Request, string) queue.Route {
	return queue.Route{Chats: []approval.Chat{{ID: storetest.Ann}}, Owners: []int64{storetest.Ann}, Quorum: 1}
}

func (l *lifetime) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// insist does something until it succeeds, as whoever does it in a bot or in a
// runtime would. One cut costs no more than a few tries.
func (l *lifetime) insist(what string, do func() error) {
	l.Helper()
	var err error
	for range 5 {
		if err = do(); err == nil {
			return
		}
		l.faults++
	}
	l.Fatalf("%s: still %v", what, err)
}

// works does all there is to do, until nothing is left that is due soon.
func (l *lifetime) works() {
	l.Helper()
	ctx, end := context.WithTimeout(l.Context(), 20*time.Second)
	defer end()
	for rounds := 0; rounds < 2 || l.busy(); rounds++ {
		if rounds > 0 && !pause(ctx, 5*time.Millisecond) {
			l.Fatal("there is always something to do")
		}
		l.insist("intake", func() error {
			for {
				if n, err := l.intake.Step(ctx); err != nil || n == 0 {
					return err
				}
			}
		})
		l.hears()
		l.insist("lease", func() error {
			if !l.leader.Take(ctx) {
				return errors.New("not taken")
			}
			return nil
		})
		l.insist("cards", func() error { return l.draw.Once(ctx) })
	}
}

// busy reports whether something waits to be looked at within a few seconds.
func (l *lifetime) busy() bool {
	l.Helper()
	soon := strconv.FormatInt(l.server.Now(l).Add(5*time.Second).UnixMilli(), 10)
	n, err := l.server.Client().ZCount(l.Context(), l.server.Keys().Prefix()+"bot:dirty", "-inf", soon).Result()
	l.must(err)
	return n > 0
}

// hears handles what Ann did, as the poller does.
func (l *lifetime) hears() {
	l.Helper()
	ctx := l.Context()
	for l.sim.PendingUpdates() > 0 {
		l.insist("updates", func() error {
			offset, err := l.store.Offset(ctx)
			if err != nil {
				return err
			}
			raws, err := l.api.Updates(ctx, offset, 0, 50)
			if err != nil {
				return err
			}
			if err := l.words.Handle(ctx, raws); err != nil {
				return err
			}
			l.words.Wait()
			if len(raws) > 0 {
				offset = raws[len(raws)-1].ID + 1
			}
			if err := l.store.SetOffset(ctx, offset); err != nil {
				return err
			}
			_, err = l.api.Updates(ctx, offset, 0, 50) // confirms them
			return err
		})
	}
}

// asks publishes a request, again with every doubt.
func (l *lifetime) asks(id string) (p queue.Pending) {
	l.Helper()
	l.insist("alive", func() error { return l.store.Alive(l.Context(), []string{l.server.Keys().Requests()}) })
	l.insist("ask", func() (err error) {
		p, err = l.client.Request(l.Context(), queue.Request{Data: storetest.Request(id, storetest.WithCard(map[string]any{"title": "Do " + id}))})
		return err
	})
	return p
}

// card is the newest card about an approval that still decides, or any if over.
func (l *lifetime) card(id string) (newest simulator.Message) {
	l.Helper()
	for _, m := range l.posts(id) {
		if m.MessageID > newest.MessageID {
			newest = m
		}
	}
	if newest.MessageID == 0 {
		l.Fatalf("%s has no card", id)
	}
	return newest
}

// posts are the cards about an approval.
func (l *lifetime) posts(id string) (found []simulator.Message) {
	for _, m := range l.sim.BotMessages(storetest.Ann) {
		if _, kind, _ := describe(m.Text, buttons(m.ReplyMarkup)); kind == verdict.ACard && strings.Contains(m.Text, "Do "+id) {
			found = append(found, m)
		}
	}
	return found
}

// taps taps a button of the newest card.
func (l *lifetime) taps(id string, letter byte) {
	l.Helper()
	m := l.card(id)
	data := button(m, letter)
	if data == "" {
		l.Fatalf("no button %c on\n%s", letter, m.Text)
	}
	l.ann.TapData(m, data)
	l.works()
}

// goes lives through two approvals: one is shown again and approved by buttons,
// claimed, and reported; the other is rejected by a word.
func (l *lifetime) goes() {
	l.Helper()
	ctx := l.Context()
	p := l.asks("a1")
	l.works()
	l.ann.Send(storetest.Ann, "/show "+ref(l.card("a1")))
	l.works()
	l.taps("a1", cards.LetterAction)
	l.taps("a1", cards.LetterYes)
	l.insist("answer", func() error {
		a, err := l.client.Await(ctx, p)
		if err == nil && a.Decision != approval.DecisionApproved {
			l.Fatalf("a1 was %s", a.Decision)
		}
		return err
	})
	l.insist("claim", func() error {
		err := l.client.Claim(ctx, "a1", p.Pin, "worker")
		var refused *queue.ClaimRefused
		if errors.As(err, &refused) && refused.Status == queue.ClaimTaken {
			return nil // by itself, before the reply was lost: holds looks
		}
		return err
	})
	l.works()
	l.insist("report", func() error {
		return l.client.Report(ctx, approval.Report{ID: "a1", Outcome: approval.Executed, Message: "Done."})
	})
	l.asks("a2")
	l.works()
	l.ann.Reply(l.card("a2"), "reject not those")
	l.works()
}

// holds looks at what is left, by a connection of its own.
func (l *lifetime) holds(cuts int) {
	l.Helper()
	ctx, rdb, keys := context.WithoutCancel(l.Context()), l.server.Client(), l.server.Keys()
	st := storetest.NewStore(l.T, l.server)
	for id, want := range map[string]approval.State{"a1": approval.Executed, "a2": approval.Rejected} {
		r := storetest.Read(l.T, st, id)
		if r.Row == nil || r.Row.State != want {
			l.Errorf("%s is %+v, want %s", id, r.Row, want)
			continue
		}
		for _, stream := range []string{keys.Answers(), keys.Answer(id)} {
			if n := l.entries(rdb, stream, "approval.answered", id); n != 1 {
				l.Errorf("%d answers to %s on %s", n, id, stream)
			}
		}
		said := map[approval.State]string{approval.Executed: "Approved by Ann", approval.Rejected: "Rejected by Ann"}[want]
		for _, c := range r.Cards {
			if c.Retired && c.Message == 0 {
				continue // shown again before it was sent
			}
			m, ok := l.sim.Message(c.Chat, int64(c.Message))
			if !ok || !strings.Contains(m.Text, said) {
				l.Errorf("%s is %s, and its card says\n%s", id, want, m.Text)
			}
		}
		allowed := map[string]int{"a1": 2, "a2": 1}[id]
		if l.faults > 0 && id == "a1" {
			allowed += cuts // the command /show, done again
		}
		if n := len(l.posts(id)); n > allowed || len(r.Cards) == 0 {
			l.Errorf("%s has %d messages and %d known cards, want at most %d", id, n, len(r.Cards), allowed)
		}
	}
	if n := l.entries(rdb, keys.Requests(), "approval.claimed", "a1"); n != 1 {
		l.Errorf("claimed %d times", n)
	}
	if by, err := rdb.HGet(ctx, keys.Claim("a1"), "by").Result(); err != nil || by != "worker" {
		l.Errorf("claimed by %q, %v", by, err)
	}
	if n, err := rdb.XLen(ctx, keys.Dead()).Result(); err != nil || n != 0 {
		l.Errorf("%d set aside, %v", n, err)
	}
	if p, err := rdb.XPending(ctx, keys.Requests(), "countersign").Result(); err != nil || p.Count != 0 {
		l.Errorf("%+v pending, %v", p, err)
	}
	if refused := l.sim.Refusals(); len(refused) > 0 {
		l.Errorf("refused as wrong in itself: %v", refused)
	}
}

// entries counts the events of a type about an approval.
func (l *lifetime) entries(rdb redis.UniversalClient, stream, kind, id string) (n int) {
	l.Helper()
	entries, err := rdb.XRange(context.WithoutCancel(l.Context()), stream, "-", "+").Result()
	l.must(err)
	for _, e := range entries {
		data, _ := e.Values["data"].(string)
		var named struct {
			ID string `json:"approval_id"`
		}
		if e.Values["type"] == kind && json.Unmarshal([]byte(data), &named) == nil && named.ID == id {
			n++
		}
	}
	return n
}
