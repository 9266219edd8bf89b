package simulator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

func TestLimits(t *testing.T) {
	type step struct {
		after  time.Duration
		chat   int64
		method string // default: sendMessage
		retry  int    // expected retry_after; 0: ok
	}
	twenty := []step{}
	for range 20 {
		twenty = append(twenty, step{after: 2 * time.Second, chat: opsID})
	}
	tests := []struct {
		name   string
		limits simulator.Limits
		steps  []step
	}{
		{"one a second after a burst", simulator.Limits{ChatPerSecond: 1, ChatBurst: 3}, []step{
			{0, annID, "", 0},
			{0, annID, "", 0},
			{0, annID, "", 0},
			{0, annID, "", 1},
			{0, opsID, "", 0}, // another chat
			{time.Second, annID, "", 0},
			{0, annID, "", 1},
		}},
		{"edits count, answers and actions do not", simulator.Limits{ChatPerSecond: 1, ChatBurst: 2}, []step{
			{0, annID, "", 0},
			{0, annID, "editMessageText", 0},
			{0, annID, "editMessageText", 1},
			{0, annID, "sendChatAction", 0},
		}},
		{"slow chats", simulator.Limits{ChatPerSecond: 0.1}, []step{
			{0, annID, "", 0},
			{time.Second, annID, "", 9},
			{9 * time.Second, annID, "", 0},
		}},
		{
			"twenty a minute in a group", *simulator.TelegramLimits(),
			append(twenty, step{2 * time.Second, opsID, "", 20}, step{0, annID, "", 0}, step{20 * time.Second, opsID, "", 0}),
		},
		{"in all", simulator.Limits{PerSecond: 2}, []step{
			{0, annID, "", 0},
			{0, opsID, "", 0},
			{0, forumID, "", 1},
			{time.Second, forumID, "", 0},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, func(o *simulator.Options) { o.Limits = &tt.limits })
			for i, step := range tt.steps {
				w.clock.Advance(step.after)
				method, p := "sendMessage", params{"chat_id": step.chat, "text": time.Duration(i).String()}
				switch step.method {
				case "editMessageText":
					method, p["message_id"] = step.method, w.BotMessages(step.chat)[0].MessageID
				case "sendChatAction":
					method, p = step.method, params{"chat_id": step.chat, "action": "typing"}
				}
				got := 0
				if a := w.call(method, p); !a.OK {
					if a.ErrorCode != 429 || a.Parameters == nil {
						t.Fatalf("step %d: %d %s", i, a.ErrorCode, a.Description)
					}
					got = a.Parameters.RetryAfter
				}
				if diff := cmp.Diff(step.retry, got); diff != "" {
					t.Errorf("step %d: retry_after (-want +got)\n%s", i, diff)
				}
			}
			if got := w.Refusals(); len(got) != 0 {
				t.Errorf("limited calls are no refusals: %v", got)
			}
		})
	}
}

// Whoever overdid it waits in every chat, with limits or without, and is told for how
// long.
func TestShut(t *testing.T) {
	for name, limits := range map[string]*simulator.Limits{"with limits": simulator.TelegramLimits(), "without": nil} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *simulator.Options) { o.Limits = limits })
			w.call("sendMessage", say("before"))
			w.Shut(w.clock.Now().Add(10 * time.Second))
			for _, left := range []int{10, 7, 4, 1, 0} {
				for _, chat := range []int64{annID, opsID} {
					a := w.call("sendMessage", params{"chat_id": chat, "text": "x"})
					var told int
					if a.Parameters != nil {
						told = a.Parameters.RetryAfter
					}
					if told != left || a.OK != (left == 0) {
						t.Errorf("chat %d with %d s left: %+v", chat, left, a)
					}
				}
				if a := w.call("getMe", nil); !a.OK {
					t.Errorf("getMe: %+v", a)
				}
				w.clock.Advance(3 * time.Second)
			}
		})
	}
}
