package simulator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

// inBubble runs a test on the clock of a synctest bubble.
func inBubble(t *testing.T, f func(*testing.T, *world)) {
	synctest.Test(t, func(t *testing.T) {
		f(t, newWorld(t, func(o *simulator.Options) { o.Now = time.Now }))
	})
}

// ids are the update ids of an answer of getUpdates.
func ids(t *testing.T, a answer) []int64 {
	t.Helper()
	if !a.OK {
		t.Fatalf("getUpdates: %d %s", a.ErrorCode, a.Description)
	}
	var list []update
	if err := json.Unmarshal(a.Result, &list); err != nil {
		t.Fatal(err)
	}
	out := []int64{}
	for _, u := range list {
		out = append(out, u.ID)
	}
	return out
}

func TestOffset(t *testing.T) {
	tests := []struct {
		name   string
		params params
		want   []int64 // of updates 1 to 5
	}{
		{"none", params{}, []int64{1, 2, 3, 4, 5}},
		{"limit", params{"limit": 2}, []int64{1, 2}},
		{"limit below 1", params{"limit": 0}, []int64{1}},
		{"limit above 100", params{"limit": 1000}, []int64{1, 2, 3, 4, 5}},
		{"offset confirms", params{"offset": 3}, []int64{3, 4, 5}},
		{"offset behind the last", params{"offset": 6}, []int64{}},
		{"offset far ahead is ignored", params{"offset": 1000}, []int64{1, 2, 3, 4, 5}},
		{"negative counts from the end", params{"offset": -2}, []int64{4, 5}},
		{"negative beyond the beginning", params{"offset": -9}, []int64{1, 2, 3, 4, 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t) // /start is update 1
			for range 4 {
				w.ann.Send(annID, "x")
			}
			if diff := cmp.Diff(tt.want, ids(t, w.call("getUpdates", tt.params))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			want := len(tt.want)
			if tt.params["limit"] != nil {
				want = 5
			}
			if got := w.PendingUpdates(); got != want {
				t.Errorf("%d updates are left, want %d", got, want)
			}
		})
	}
}

func TestOffsetZeroConfirmsNothing(t *testing.T) {
	w := newWorld(t)
	for range 2 {
		w.clock.Advance(time.Minute)
		if got := ids(t, w.call("getUpdates", params{"offset": 0})); len(got) != 1 {
			t.Errorf("got %v, want update 1 again", got)
		}
	}
}

func TestSameOffsetSoonAgainGetsOneUpdate(t *testing.T) {
	w := newWorld(t)
	w.ann.Send(annID, "x")
	w.call("getUpdates", params{})
	w.clock.Advance(499 * time.Millisecond)
	if got := ids(t, w.call("getUpdates", params{})); len(got) != 1 {
		t.Errorf("got %v, want one update", got)
	}
	w.clock.Advance(500 * time.Millisecond)
	if got := ids(t, w.call("getUpdates", params{})); len(got) != 2 {
		t.Errorf("got %v, want both updates", got)
	}
}

func TestLongPoll(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.updatesNow()
		began := time.Now()
		if got := ids(t, w.call("getUpdates", params{"offset": 2, "timeout": 90})); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		if took := time.Since(began); took != 50*time.Second {
			t.Errorf("an empty poll with timeout 90 took %s, want 50s", took)
		}

		<-time.After(10 * time.Second)
		began = time.Now()
		go func() {
			<-time.After(7 * time.Second)
			w.ann.Send(annID, "x")
		}()
		if got := ids(t, w.call("getUpdates", params{"offset": 2, "timeout": 30})); len(got) != 1 {
			t.Errorf("got %v", got)
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("the poll took %s, want 7s", took)
		}
	})
}

// updatesNow confirms /start without moving a held clock.
func (w *world) updatesNow() { w.call("getUpdates", params{"offset": 2}) }

func TestSameOffsetSoonAgainWaitsLonger(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.updatesNow()
		began := time.Now()
		w.call("getUpdates", params{"offset": 2, "timeout": 0})
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %s, want 3s", took)
		}
	})
}

func TestSecondPollEndsTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.updatesNow()
		first := make(chan answer, 2)
		poll := func() {
			a, err := w.try(t.Context(), "getUpdates", params{"offset": 2, "timeout": 50})
			if err != nil {
				t.Error(err)
			}
			first <- a
		}
		go poll()
		synctest.Wait()
		if !w.Polling() {
			t.Fatal("the first poll is not held")
		}
		began := time.Now()
		go poll()
		a := <-first
		if a.ErrorCode != 409 || a.Description != "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running" {
			t.Errorf("got %d %s", a.ErrorCode, a.Description)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the first conflict came after %s", took)
		}
		// The next conflict is held back, so that the two do not chase each other.
		go poll()
		a = <-first
		if took := time.Since(began); a.ErrorCode != 409 || took != 3*time.Second {
			t.Errorf("the second conflict: %d after %s, want 409 after 3s", a.ErrorCode, took)
		}
		w.ann.Send(annID, "x")
		if a := <-first; !a.OK {
			t.Errorf("the last poll got %s", a.Description)
		}
		if got := w.Refusals(); len(got) != 0 {
			t.Errorf("conflicts are no refusals: %v", got)
		}
	})
}

func TestPollEndsWithItsClient(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.updatesNow()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := w.try(ctx, "getUpdates", params{"offset": 2, "timeout": 50})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; err == nil {
			t.Error("the poll succeeded")
		}
		synctest.Wait()
		if w.Polling() {
			t.Error("the poll is still held")
		}
	})
}

func TestLifetimes(t *testing.T) {
	w := newWorld(t)
	card := w.send(annID, "x", keyboard("a"))
	w.ann.Tap(card, "a")
	for _, step := range []struct {
		age  time.Duration
		want int
	}{
		{149 * time.Second, 2},
		{150 * time.Second, 1}, // without the tap
		{24*time.Hour - time.Second, 1},
		{24 * time.Hour, 0}, // without the message
	} {
		w.clock.Advance(epoch.Add(step.age).Sub(w.clock.Now()))
		if got := w.PendingUpdates(); got != step.want {
			t.Errorf("%d updates after %s, want %d", got, step.age, step.want)
		}
	}
}

func TestAllowedUpdates(t *testing.T) {
	w := newWorld(t)
	w.updates()
	w.ann.Send(annID, "made before the setting")
	w.call("getUpdates", params{"allowed_updates": []string{"callback_query"}})
	w.ann.Send(annID, "not wanted")
	w.updates() // does not say allowed_updates: the setting stays
	w.ann.Send(annID, "not wanted either")
	w.call("getUpdates", params{"allowed_updates": []string{}})
	w.ann.Send(annID, "wanted again")
	if diff := cmp.Diff([]string{"wanted again"}, texts(w.updates())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDefaultUpdatesLeaveMembersOut(t *testing.T) {
	w := newWorld(t)
	w.ops.Promote(w.Bot().ID, simulator.AllRights())
	w.updates()
	w.ops.SetStatus(benID, simulator.Left)
	if got := w.PendingUpdates(); got != 0 {
		t.Errorf("%d updates, want none: chat_member has to be asked for", got)
	}
}

func TestPrivacyMode(t *testing.T) {
	type draft = simulator.Draft
	tests := []struct {
		name    string
		prepare func(*world)
		draft   draft
		want    bool
	}{
		{"talk", nil, draft{Text: "hello"}, false},
		{"mention in talk", nil, draft{Text: "hello @countersign_bot"}, false},
		{"command", nil, draft{Text: "/pending"}, true},
		{"command to the bot", nil, draft{Text: "/pending@Countersign_Bot"}, true},
		{"command to another bot", nil, draft{Text: "/pending@other_bot"}, false},
		{"reply to the bot", nil, draft{Text: "wrong ones", ReplyTo: 1}, true},
		{"sent via the bot", nil, draft{Text: "x", ViaBot: &simulator.User{ID: 4242, IsBot: true, FirstName: "Countersign"}}, true},
		{"command when another bot spoke last", func(w *world) {
			other := w.AddAccount(simulator.User{ID: 5, IsBot: true, FirstName: "Other"})
			other.Send(opsID, "hi")
		}, draft{Text: "/pending"}, false},
		{"talk with an administrator bot", func(w *world) {
			w.ops.Promote(w.Bot().ID, simulator.AllRights())
		}, draft{Text: "hello"}, true},
		{"command after the bot was kicked", func(w *world) { w.ops.KickBot() }, draft{Text: "/pending"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.send(opsID, "card")
			if tt.prepare != nil {
				tt.prepare(w)
			}
			w.updates()
			tt.draft.Chat = opsID
			if _, err := w.ann.Post(tt.draft); err != nil {
				t.Fatal(err)
			}
			if got := w.PendingUpdates() == 1; got != tt.want {
				t.Errorf("the bot sees it: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPrivacyModeOff(t *testing.T) {
	w := newWorld(t, func(o *simulator.Options) { o.ReadsGroups = true })
	w.updates()
	w.ann.Send(opsID, "hello")
	if w.PendingUpdates() != 1 {
		t.Error("the bot does not see the message")
	}
	type me struct {
		ReadsAll bool `json:"can_read_all_group_messages"`
	}
	if !must[me](w, "getMe", nil).ReadsAll {
		t.Error("getMe does not say so")
	}
}

func TestInjectUpdate(t *testing.T) {
	w := newWorld(t)
	w.odd = true
	w.updates()
	w.call("getUpdates", params{"allowed_updates": []string{"callback_query"}})
	id, err := w.InjectUpdate([]byte(`{"message":{"paid_media":{"type":"something new"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	a := w.call("getUpdates", params{})
	want := fmt.Sprintf(`[{"message":{"paid_media":{"type":"something new"}},"update_id":%d}]`, id)
	if string(a.Result) != want {
		t.Errorf("got %s, want %s", a.Result, want)
	}
	if _, err := w.InjectUpdate([]byte(`[1]`)); err == nil {
		t.Error("an array was taken for an update")
	}
}

func TestUpdateIDs(t *testing.T) {
	w := newWorld(t, func(o *simulator.Options) { o.FirstUpdateID = 700 })
	w.ann.Send(annID, "x")
	w.SetNextUpdateID(5)
	w.ann.Send(annID, "y")
	if diff := cmp.Diff([]int64{700, 701, 5}, ids(t, w.call("getUpdates", params{}))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
