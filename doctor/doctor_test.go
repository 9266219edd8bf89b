package doctor_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"countersign/config"
	"countersign/doctor"
	"countersign/simulator"
	"countersign/telegram"
)

// A spoiling is one thing wrong, and what is to be said of it.
type spoiling struct {
	name    string
	spoil   func(w *world)
	options func(*simulator.Options) // may be nil
	bad     []string                 // every line that is not good, as check and level
	what    string                   // a part of one such line
	remedy  string                   // and of its remedy
}

func spoilings() []spoiling {
	return slices.Concat(spoiledRedis(), spoiledStreams(), spoiledTelegram(), spoiledChats())
}

func spoiledRedis() []spoiling {
	return []spoiling{
		{
			name:  "Redis away",
			spoil: func(w *world) { w.connect(&redis.Options{Addr: "127.0.0.1:1", DialerRetries: 1}) },
			bad:   []string{"redis fault", "poller warning"}, what: "cannot be reached", remedy: "start Redis",
		},
		{
			name: "a wrong password",
			spoil: func(w *world) {
				w.connect(&redis.Options{Addr: w.redis.Options().Addr, Username: "bot", Password: "other"})
			},
			bad: []string{"redis fault", "poller warning"}, what: "WRONGPASS", remedy: "password",
		},
		{
			name:  "evicting",
			spoil: func(w *world) { w.do("config", "set", "maxmemory-policy", "allkeys-lru") },
			bad:   []string{"eviction fault"}, what: "allkeys-lru", remedy: "noeviction",
		},
		{
			name:  "nothing on disk",
			spoil: func(w *world) { w.do("config", "set", "appendonly", "no") },
			bad:   []string{"persistence fault"}, what: "nothing on disk", remedy: "appendonly yes",
		},
		{
			name: "snapshots alone",
			spoil: func(w *world) {
				w.do("config", "set", "appendonly", "no")
				w.do("config", "set", "save", "3600 1")
			},
			bad: []string{"persistence warning"}, what: "snapshots alone", remedy: "appendonly yes",
		},
		{
			name: "a replica",
			spoil: func(w *world) {
				w.do("replicaof", "127.0.0.1", "1")
			},
			bad: []string{"redis fault"}, what: "replica", remedy: "primary",
		},
		{
			name:  "a right is missing",
			spoil: func(w *world) { w.do("acl", "setuser", "bot", "-xack", "-hset") },
			bad:   []string{"rights fault"}, what: "xack {approvals}:requests", remedy: "deploy/redis.acl",
		},
		{
			name:  "no right at all",
			spoil: func(w *world) { w.do("acl", "setuser", "bot", "resetkeys", "~{other}:*") },
			bad:   []string{"rights fault", "stream fault", "bot warning", "poller warning"},
			what:  "and", remedy: "deploy/redis.acl",
		},
		{
			name:  "everybody's user",
			spoil: func(w *world) { w.connect(&redis.Options{Addr: w.redis.Options().Addr}) },
			bad:   []string{"rights warning"}, what: "default user", remedy: "deploy/redis.acl",
		},
		{
			name:  "the clock is ahead",
			spoil: func(w *world) { w.ahead = time.Hour },
			bad:   []string{"clock warning"}, what: "1h0m0s ahead of", remedy: "NTP",
		},
		{
			name:  "the clock is behind",
			spoil: func(w *world) { w.ahead = -time.Minute },
			bad:   []string{"clock warning"}, what: "1m0s behind", remedy: "NTP",
		},
		{
			name: "a secret for everybody's eyes",
			spoil: func(w *world) {
				w.files = []doctor.File{{Path: "a.yaml"}, {Key: "telegram.token_file", Path: "/t", World: true}}
			},
			bad: []string{"secrets warning"}, what: "telegram.token_file is /t", remedy: "chmod 600 /t",
		},
	}
}

func spoiledStreams() []spoiling {
	const stream = "{approvals}:requests"
	return []spoiling{
		{
			name:  "an id still to come",
			spoil: func(w *world) { w.do("xadd", stream, "32503680000000-0", "f", "v") },
			bad:   []string{"stream warning"}, what: "3000-01-01", remedy: "RENAME " + stream,
		},
		{
			name:  "the highest id",
			spoil: func(w *world) { w.do("xadd", stream, "18446744073709551615-18446744073709551615", "f", "v") },
			bad:   []string{"stream fault"}, what: "no request can be added", remedy: "RENAME " + stream,
		},
		{
			name:  "no stream",
			spoil: func(w *world) { w.do("set", stream, "v") },
			bad:   []string{"stream fault"}, what: "WRONGTYPE", remedy: "stream",
		},
		{
			name: "a bot that reads other streams",
			spoil: func(w *world) {
				w.lives("{approvals}:other")
			},
			bad: []string{"bot fault"}, what: "does not read " + stream, remedy: "restart",
		},
		{
			name: "signs of life, and nobody leads",
			spoil: func(w *world) {
				if err := w.store.Alive(w.t.Context(), []string{stream}); err != nil {
					w.t.Fatal(err)
				}
			},
			bad: []string{"bot warning"}, what: "none polls", remedy: "log",
		},
		{
			name: "a bot that is not ready",
			spoil: func(w *world) {
				w.lives(stream)
				w.ready = func(context.Context) (string, bool, error) {
					return "telegram: getUpdates: 409 Conflict: terminated by other getUpdates request", false, nil
				}
			},
			bad: []string{"bot fault"}, what: "terminated by other", remedy: "log",
		},
		{
			name: "a bot that cannot be asked",
			spoil: func(w *world) {
				w.lives(stream)
				w.ready = func(context.Context) (string, bool, error) { return "", false, errors.New("refused") }
			},
			bad: []string{"bot warning"}, what: "bot-1", remedy: "where the bot runs",
		},
		{
			name: "a bot with something to say",
			spoil: func(w *world) {
				w.lives(stream)
				w.ready = func(context.Context) (string, bool, error) {
					return "ready: holds the lease, so it polls and sends; telegram: deliveries fail", true, nil
				}
			},
			bad: []string{"bot warning"}, what: "deliveries fail", remedy: "log",
		},
	}
}

func spoiledTelegram() []spoiling {
	const stream = "{approvals}:requests"
	theirs := func(w *world) { w.calls("setWebhook", `{"url":"https://other.invalid/hush"}`) }
	mine := func(w *world) {
		w.cfg.Telegram.Mode = config.ModeWebhook
		w.cfg.Telegram.Webhook.PublicURL = "https://mine.invalid/hook"
	}
	return []spoiling{
		{
			name: "a wrong token",
			spoil: func(w *world) {
				w.client, _ = telegram.New(telegram.Config{Token: "1:wrong", APIURL: w.url})
			},
			bad: []string{"token fault"}, what: "refuses", remedy: "@BotFather",
		},
		{
			name: "Telegram away",
			spoil: func(w *world) {
				w.client, _ = telegram.New(telegram.Config{Token: token, APIURL: "http://127.0.0.1:1"})
			},
			bad: []string{"token fault"}, what: "cannot be asked", remedy: "proxy",
		},
		{
			name: "another system's webhook", spoil: theirs,
			bad: []string{"webhook fault"}, what: "other.invalid:", remedy: "deleteWebhook",
		},
		{
			name: "another system's webhook in place of ours",
			spoil: func(w *world) {
				mine(w)
				theirs(w)
			},
			bad: []string{"webhook fault"}, what: "other.invalid:", remedy: "deleteWebhook",
		},
		{
			name: "ours, to which nothing can be delivered",
			spoil: func(w *world) {
				mine(w)
				w.calls("setWebhook", `{"url":"https://mine.invalid/hook"}`)
				w.awaitDeliveryError()
			},
			bad: []string{"webhook fault"}, what: "updates wait", remedy: "public_url",
		},
		{
			name: "none, though a bot runs",
			spoil: func(w *world) {
				mine(w)
				w.lives(stream)
			},
			bad: []string{"webhook warning"}, what: "none is set", remedy: "log",
		},
		{
			name:  "kinds that another program left out",
			spoil: func(w *world) { w.calls("getUpdates", `{"allowed_updates":["message","poll"]}`) },
			bad:   []string{"updates warning"}, what: "callback_query, my_chat_member", remedy: "start the bot",
		},
		{
			name: "kinds left out while a bot runs",
			spoil: func(w *world) {
				w.calls("getUpdates", `{"allowed_updates":["message","poll"]}`)
				w.lives(stream)
			},
			bad: []string{"updates fault"}, what: "callback_query", remedy: "restart the bot",
		},
		{
			name:  "a second poller",
			spoil: func(w *world) { w.polls() },
			bad:   []string{"poller fault"}, what: "another program polls", remedy: "stop it",
		},
		{
			name: "privacy mode off", options: func(o *simulator.Options) { o.ReadsGroups = true },
			spoil: func(*world) {},
			bad:   []string{"privacy warning"}, what: "every word", remedy: "/setprivacy",
		},
	}
}

func spoiledChats() []spoiling {
	return []spoiling{
		{
			name:  "an owner who blocked the bot",
			spoil: func(w *world) { w.ben.Block() },
			bad:   []string{"owner fault"}, what: "Ben (1002) cannot be reached", remedy: "https://t.me/countersign_bot",
		},
		{
			name: "an owner who is asked in a group alone",
			spoil: func(w *world) {
				w.cfg.Routes[0].Match = config.Match{}
				w.ben.Block()
			},
			bad: []string{"owner warning"}, what: "Ben (1002) cannot be told of alarms", remedy: "presses Start",
		},
		{
			name: "an owner of a wrong id",
			spoil: func(w *world) {
				w.cfg.People = append(w.cfg.People, config.Person{ID: 4711, Name: "Cleo", Role: config.RoleOwner})
			},
			bad: []string{"owner fault"}, what: "Cleo (4711)", remedy: "correct it in people",
		},
		{
			name:  "a group without the bot",
			spoil: func(w *world) { w.team.KickBot() },
			bad:   []string{"chat fault"}, what: "the bot is not in chat -1001234567890", remedy: "add @countersign_bot",
		},
		{
			name:  "a group where the bot may not write",
			spoil: func(w *world) { w.team.SetStatus(botID, simulator.Restricted) },
			bad:   []string{"chat fault"}, what: "may not write in Team", remedy: "administrator",
		},
		{
			name:  "a group that moved",
			spoil: func(w *world) { group(w).Upgrade(-1009876543210) },
			bad:   []string{"chat fault"}, what: "has become the supergroup -1009876543210", remedy: "routes",
		},
		{
			name: "a group without an owner",
			spoil: func(w *world) {
				w.team.SetStatus(annID, simulator.Left)
				w.team.SetStatus(benID, simulator.Kicked)
			},
			bad: []string{"chat fault"}, what: "nobody who may answer is in Team (-1001234567890): Ann, Ben", remedy: "add one of them",
		},
		{
			name: "a group of which Telegram does not tell",
			spoil: func(w *world) {
				w.sim.Fault(simulator.Fault{Method: "getChatMember", Code: 400, Description: "Bad Request: member list is inaccessible"})
			},
			bad: []string{"chat warning"}, what: "who is in Team", remedy: "administrator",
		},
		{
			name: "a direct chat of somebody who may not answer",
			spoil: func(w *world) {
				w.cfg.Routes[0].Chats, w.cfg.Routes[0].Owners = []config.Chat{{ID: benID}}, []int64{annID}
			},
			bad: []string{"chat warning"}, what: "the direct chat of Ben (1002)", remedy: "owners",
		},
	}
}

// group puts the route to a group that is no supergroup yet.
func group(w *world) *simulator.Room {
	const old = -4242
	w.cfg.Routes[0].Chats = []config.Chat{{ID: old}}
	return w.sim.AddGroup(old, "Old team", w.ann, w.ben)
}

// Each thing that is wrong is found, with its remedy, and nothing else is.
func TestSpoiled(t *testing.T) {
	t.Parallel()
	for _, c := range spoilings() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var options []func(*simulator.Options)
			if c.options != nil {
				options = append(options, c.options)
			}
			w := newWorld(t, options...)
			if w == nil {
				return
			}
			c.spoil(w)
			found := w.examine()
			if diff := cmp.Diff(c.bad, bad(found)); diff != "" {
				t.Errorf("found (-want +got):\n%s\n%s", diff, show(found))
			}
			if !names(found, c.what, c.remedy) {
				t.Errorf("no line says %q, with the remedy %q:\n%s", c.what, c.remedy, show(found))
			}
			// The password, the token and what may be another's secret.
			if text := show(found); strings.Contains(text, "hush") || strings.Contains(text, token) {
				t.Errorf("a secret is shown:\n%s", text)
			}
		})
	}
}

// Where nothing is wrong every check says so, each at least once.
func TestSound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if w == nil {
		return
	}
	found := w.examine()
	if names := bad(found); len(names) > 0 {
		t.Errorf("found %v in\n%s", names, show(found))
	}
	said := map[string]bool{}
	for _, f := range found {
		said[f.Check] = true
		if f.What == "" || f.Remedy != "" {
			t.Errorf("%+v", f)
		}
	}
	want := []string{
		doctor.CheckBot, doctor.CheckChat, doctor.CheckClock, doctor.CheckEviction, doctor.CheckOwner,
		doctor.CheckPersistence, doctor.CheckPoller, doctor.CheckPrivacy, doctor.CheckRedis, doctor.CheckRights,
		doctor.CheckSecrets, doctor.CheckStream, doctor.CheckToken, doctor.CheckUpdates, doctor.CheckWebhook,
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(said))); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}
