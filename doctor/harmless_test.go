package doctor_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// polls has another program take the updates by long polling, until the test ends, and
// waits until it listens.
func (w *world) polls() {
	w.t.Helper()
	polling, stop := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		var offset int64
		for polling.Err() == nil {
			updates, err := w.client.Updates(polling, offset, 25*time.Second, 100)
			if err != nil {
				continue // the server spaces these
			}
			for _, u := range updates {
				offset = max(offset, u.ID+1)
			}
		}
	}()
	w.t.Cleanup(func() { stop(); <-done })
	ctx, cancel := context.WithTimeout(w.t.Context(), w.timeout)
	defer cancel()
	if err := w.sim.Wait(ctx, func() bool { return w.sim.PendingUpdates() == 0 && w.sim.Polling() }); err != nil {
		w.t.Fatal(err)
	}
}

// awaitDeliveryError waits until a delivery to the webhook has failed.
func (w *world) awaitDeliveryError() {
	w.t.Helper()
	w.until(func() bool {
		info, err := w.client.WebhookInfo(w.t.Context())
		return err == nil && info.LastError != ""
	})
}

// until waits until something holds.
func (w *world) until(holds func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), w.timeout)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			w.t.Fatal("gave up waiting")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// contents are all keys with all they hold.
func (w *world) contents() map[string]string {
	w.t.Helper()
	keys, err := w.redis.Keys(w.t.Context(), "*").Result()
	if err != nil {
		w.t.Fatal(err)
	}
	held := map[string]string{}
	for _, key := range keys {
		held[key] = w.redis.Dump(w.t.Context(), key).Val()
	}
	return held
}

// An examination leaves Redis, the waiting updates and Telegram's settings as they are.
func TestHarmless(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if w == nil {
		return
	}
	w.do("xadd", "{approvals}:requests", "1-1", "f", "v")
	w.do("hset", "{approvals}:bot:settings", "webhook", "https://mine.invalid/hook")
	w.do("set", "{approvals}:bot:offset", "5")
	w.calls("getUpdates", `{"allowed_updates":["message","poll"]}`)
	waiting := w.sim.PendingUpdates()
	before := w.contents()
	seen := len(w.sim.Calls())

	w.examine()

	if diff := cmp.Diff(before, w.contents()); diff != "" {
		t.Errorf("Redis is changed (-before +after):\n%s", diff)
	}
	harmless := []string{"getMe", "getWebhookInfo", "getUpdates", "sendChatAction", "getChat", "getChatMember"}
	for _, call := range w.sim.Calls()[seen:] {
		if !slices.Contains(harmless, call.Method) {
			t.Errorf("it calls %v", call)
		}
	}
	if info, err := w.client.WebhookInfo(t.Context()); err != nil || !slices.Equal(info.AllowedUpdates, []string{"message", "poll"}) {
		t.Errorf("the kinds asked for are now %v (%v)", info.AllowedUpdates, err)
	}
	if now := w.sim.PendingUpdates(); now != waiting || waiting == 0 {
		t.Errorf("%d updates wait, %d did", now, waiting)
	}
}

// A bot that serves the queue is not disturbed at its poll.
func TestLeavesTheBotAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if w == nil {
		return
	}
	w.lives("{approvals}:requests")
	if found := w.examine(); len(bad(found)) > 0 {
		t.Errorf("found\n%s", show(found))
	}
	for _, call := range w.sim.Calls() {
		if call.Method == "getUpdates" {
			t.Errorf("it polls: %v", call)
		}
	}
}

// Where nobody polls and nothing waits, that is known after a while.
func TestNobodyElsePolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if w == nil {
		return
	}
	updates, err := w.client.Peek(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range updates {
		if _, err := w.client.Updates(t.Context(), u.ID+1, 0, 1); err != nil { // confirms it
			t.Fatal(err)
		}
	}
	if n := w.sim.PendingUpdates(); n != 0 {
		t.Fatalf("%d updates still wait", n)
	}
	if found := w.examine(); len(bad(found)) > 0 {
		t.Errorf("found\n%s", show(found))
	}
}
