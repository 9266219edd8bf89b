package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/config"
	"countersign/simulator"
)

const hookedAt = "http://127.0.0.1:8443/telegram"

// hooks has bots of the world take updates by webhook from now on, at an address.
func (w *bubble) hooks(public string) {
	w.cfg.Telegram.Mode, w.cfg.Telegram.Webhook.PublicURL = config.ModeWebhook, public
}

// polls has them poll from now on, and knows no address any more.
func (w *bubble) polls() {
	w.cfg.Telegram.Mode, w.cfg.Telegram.Webhook.PublicURL = config.ModePolling, ""
}

// telegram calls the Bot API as another program with the same token.
func (w *bubble) telegram(method string) (result struct{ URL string }) {
	w.Helper()
	answer, err := w.sim.Client().Post("http://simulator.invalid/bot"+w.sim.Token()+"/"+method, "application/json", strings.NewReader("{}"))
	w.ok(err)
	defer answer.Body.Close()
	var envelope struct {
		OK     bool            `json:"ok"`
		Result json.RawMessage `json:"result"`
	}
	w.ok(json.NewDecoder(answer.Body).Decode(&envelope))
	if answer.StatusCode != http.StatusOK || !envelope.OK {
		w.Fatalf("%s: %s", method, answer.Status)
	}
	_ = json.Unmarshal(envelope.Result, &result) // of setWebhook it is no object
	return result
}

// The way for updates to come is changed while people go on tapping, and the bot
// is killed at each step of it, before and after it has its effect. Whoever goes
// on then, the new way, the old one or by polling, hears all that was tapped.
func TestChangeOfMode(t *testing.T) {
	t.Parallel()
	ways := map[string]func(*bubble){
		"polling":         (*bubble).polls,
		"webhook":         func(w *bubble) { w.hooks(hookedAt) },
		"another webhook": func(w *bubble) { w.hooks(hookedAt + "/new") },
	}
	for _, c := range []struct{ from, to, change string }{
		{"polling", "webhook", "setWebhook"},
		{"webhook", "polling", "deleteWebhook"},
		{"webhook", "another webhook", "setWebhook"},
	} {
		for _, l := range changeEnds(c.change) {
			for then, way := range ways {
				if then == "another webhook" && c.to != then {
					continue
				}
				t.Run(fmt.Sprintf("%s to %s, %s, then %s", c.from, c.to, l, then), func(t *testing.T) {
					t.Parallel()
					inBubble(t, func(w *bubble) { w.changes(ways[c.from], ways[c.to], way, l.life()) })
				})
			}
		}
	}
}

// A changeEnd is where in a change of mode a bot dies, "" where it does not.
type changeEnd struct {
	point string
	nth   int
	end   ending
}

func (e changeEnd) String() string {
	if e.end == goesOn {
		return "all well"
	}
	return fmt.Sprintf("killed at %s %d (before it: %v)", e.point, e.nth, e.end == killedBefore)
}

// changeEnds are those to be tried, where Telegram is told by a call.
func changeEnds(call string) []changeEnd {
	ends := []changeEnd{{end: goesOn}}
	for _, end := range []ending{killedBefore, killedAfter} {
		ends = append(ends, changeEnd{"getWebhookInfo", 1, end}, changeEnd{call, 1, end}, changeEnd{"hset", 1, end}, changeEnd{"hset", 2, end})
	}
	return ends
}

// life is one that ends there. What happens before Telegram is asked about the
// webhook does not count.
func (e changeEnd) life() *life {
	seen, begun := 0, false
	return &life{at: func(name string) ending {
		begun = begun || name == "getWebhookInfo"
		if name != e.point || !begun {
			return goesOn
		}
		if seen++; seen != e.nth {
			return goesOn
		}
		return e.end
	}}
}

// changes lives through a change of mode: a card is sent in the first, its action
// is tapped between that and the second, which may die, and its Yes in the third.
func (w *bubble) changes(before, after, then func(*bubble), l *life) {
	before(w)
	first := w.run("one", &life{})
	w.ask("a1", "iris", time.Hour)
	m := w.has(15*time.Second, annID, "a1", "Trash it")
	first.stop()
	w.ann.Tap(m, "Trash it")
	after(w)
	second := w.run("two", l)
	w.pass(5 * time.Second)
	second.kill()
	then(w)
	third := w.run("three", &life{})
	w.until(5*time.Minute, "the tap is heard", func() bool {
		_, left := third.leader.Lease()
		return left > 0 && w.sim.PendingUpdates() == 0 // what failed by webhook is delivered again only after a while
	})
	w.pass(5 * time.Second) // whatever is late is drawn
	w.confirms("a1")
	w.once("a1", "approved")
	w.state("a1", approval.Approved)
	if red := third.health.red(); red != "" {
		w.Errorf("in the end: %s", red)
	}
	for _, c := range w.sim.Calls() {
		if c.Params["drop_pending_updates"] != nil {
			w.Errorf("%s drops updates", c.Method)
		}
	}
}

// A webhook that something else took off, or set elsewhere, is set again.
func TestWebhookIsSetAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]string{
		"taken off": "deleteWebhook", "elsewhere": "setWebhook?url=http://127.0.0.1:80/other",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *bubble) {
				w.hooks(hookedAt)
				app := w.run("one", &life{})
				w.ask("a1", "iris", time.Hour)
				m := w.has(15*time.Second, annID, "a1", "Trash it")
				w.telegram(lose)
				w.ann.Tap(m, "Trash it")
				w.pass(hookStandsEvery + 15*time.Second)
				if at := w.telegram("getWebhookInfo").URL; at != hookedAt {
					t.Fatalf("the webhook is at %q", at)
				}
				if n := w.sim.PendingUpdates(); n != 0 {
					t.Errorf("%d updates wait", n)
				}
				if n := w.log.count("ours is set again"); n != 1 {
					t.Errorf("said %d times", n)
				}
				if red := app.health.red(); red != "" {
					t.Errorf("red: %s", red)
				}
			})
		})
	}
}

// Deliveries that fail are said where the operator looks, until they no longer do.
func TestFailedDeliveriesAreSaid(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *bubble) {
		w.hooks(hookedAt)
		app := w.run("one", &life{})
		w.ask("a1", "iris", time.Hour)
		m := w.has(15*time.Second, annID, "a1", "Trash it")
		w.pass(2 * hookStandsEvery)
		w.line.setCut(true)
		w.ann.Tap(m, "Trash it")
		w.pass(hookStandsEvery + time.Second)
		if said := app.health.warned(); !strings.Contains(said, "connection refused") {
			t.Errorf("health says %q", said)
		}
		if red := app.health.red(); red != "" {
			t.Errorf("not ready: %s", red)
		}
		if w.log.count("Telegram could not deliver updates") == 0 {
			t.Error("nothing in the log")
		}
		w.line.setCut(false)
		w.pass(3 * hookStandsEvery)
		if said := app.health.warned(); said != "" {
			t.Errorf("health still says %q", said)
		}
		if n := w.log.count("updates are delivered again"); n != 1 {
			t.Errorf("said %d times", n)
		}
	})
}

// A token that is revoked while updates come by webhook ends the program, as it
// does while they are polled.
func TestRevokedTokenByWebhook(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *bubble) {
		w.hooks(hookedAt)
		app := w.build("one", &life{})
		done := make(chan error, 1)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() { done <- app.Run(ctx) }()
		w.pass(hookStandsEvery)
		w.sim.Fault(simulator.Fault{Code: 401, Description: "Unauthorized"})
		w.pass(2 * hookStandsEvery)
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "the bot token is refused") || strings.Contains(err.Error(), w.sim.Token()) {
				t.Errorf("ended with %v", err)
			}
		default:
			t.Error("it goes on")
		}
		w.ok(app.Close())
	})
}

// A route that names a group by its old id is said at the start of leading.
func TestRoutesOfMovedGroups(t *testing.T) {
	t.Parallel()
	const old = int64(-4004)
	inBubble(t, func(w *bubble) {
		_, _, err := w.store.Moved(context.Background(), old, teamID)
		w.ok(err)
		w.cfg.Routes[0].Chats = append(w.cfg.Routes[0].Chats, config.Chat{ID: old})
		w.run("one", &life{})
		w.pass(5 * time.Second)
		if n := w.log.count("a route names a group by its old id"); n != 1 {
			t.Errorf("said %d times", n)
		}
		if w.log.count(`"key":"routes[0].chats[2].id"`) != 1 {
			t.Error("it is not said which")
		}
	})
}
