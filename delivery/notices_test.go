package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/delivery"
	"countersign/simulator"
	"countersign/store"
)

func TestLapseNotice(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		p := w.start("a", start{})
		w.open("a1", in(chat(ann), chat(team)))
		settle()
		pass(lifetime)
		w.decide("a1", byDeadline())
		settle()
		for _, c := range []int64{ann, team} {
			posts := w.posts(c, 2)
			reply := posts[1].ReplyToMessage
			if !has("nothing was changed, sent or deleted")(posts[1]) || reply == nil || reply.MessageID != posts[0].MessageID {
				w.Errorf("chat %d: no notice in reply to the card, but\n%s", c, posts[1].Text)
			}
			if !has("Lapsed")(posts[0]) {
				w.Errorf("chat %d: the card says\n%s", c, posts[0].Text)
			}
		}
		p.stop()
		w.start("b", start{})
		quiet(w, "a1")
		w.posts(ann, 2)
	})
}

func TestLapsedAtOnceNeedsNoNotice(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1", func(o *store.Opening) {
			o.State, o.ExpiresAt, o.By = approval.Lapsed, o.Now, byDeadline().By
		})
		settle()
		if m := w.post(ann); !m.Silent || !has("Lapsed")(m) || hasButton(m, "Reject") {
			w.Errorf("want a finished card without sound, got\n%s", m.Text)
		}
		quiet(w, "a1")
	})
}

// TestNoticeForManyIsOne has a shared notice speak for what lapsed with it,
// which then gets none of its own.
func TestNoticeForManyIsOne(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		const total = 25
		var ids []string
		for i := range total {
			id := fmt.Sprintf("a%02d", i)
			ids = append(ids, id)
			w.open(id)
		}
		settle()
		pass(lifetime)
		nid := w.lapseTogether(ids...)
		settle()
		w.posts(ann, total) // the cards, and no notice until it is due
		w.ok(w.store.SettleNotice(w.Context(), nid, 0, nil))
		pass(time.Second)
		m := w.posts(ann, total+1)[total]
		if m.ReplyToMessage != nil || !has("25")(m) || !has("5 more")(m) {
			w.Errorf("the shared notice says\n%s", m.Text)
		}
		quiet(w, ids...)
	})
}

func (w *world) lapseTogether(ids ...string) (nid string) {
	w.Helper()
	nid, err := w.store.NewNotice(w.Context(), store.Notice{Kind: store.SharedLapse, Chat: ann}, lifetime)
	w.ok(err)
	for _, id := range ids {
		a := byDeadline()
		a.Quiet, a.Notices = []int64{ann}, []string{nid}
		w.decide(id, a)
	}
	return nid
}

// TestNoticeOfNothing wants a notice with which nothing lapsed to be dropped.
func TestNoticeOfNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.lapseTogether()
		pass(lifetime)
		w.posts(ann, 0)
		quiet(w)
	})
}

func TestFailuresOfNotices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault simulator.Fault
		want  int
	}{
		{"5xx", simulator.Fault{Count: 3}, 1},
		{"a limit", simulator.Fault{Count: 1, Code: 429, Parameters: &simulator.Parameters{RetryAfter: 9}}, 1},
		{"a reset before the effect", simulator.Fault{Count: 1, Kind: simulator.Reset}, 1},
		{"a reset after the effect", simulator.Fault{Count: 1, Kind: simulator.Reset, Applied: true}, 2},
		{"formatting", simulator.Fault{Count: 1, Code: 400, Description: "Bad Request: can't parse entities: x"}, 1},
		{"a blocked chat", simulator.Fault{Code: 403, Description: "Forbidden: bot was blocked by the user"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				c.fault.Method = "sendMessage"
				w.sim.Fault(c.fault)
				nid := w.unapproved("a1")
				w.start("a", start{})
				pass(2 * time.Minute)
				w.posts(ann, c.want)
				if _, sent, err := w.store.ReadNotice(w.Context(), nid); err != nil || sent != (c.want > 0) {
					w.Errorf("sent: %v, %v", sent, err)
				}
				quiet(w)
			})
		})
	}
}

// TestNoticesRest wants a notice that is not taken to be tried less and less,
// and to be given up after a day.
func TestNoticesRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, says string }{
		{"no rights", "Bad Request: not enough rights to send text messages to the chat"},
		{"a closed chat", "Bad Request: TOPIC_CLOSED"},
		{"a reply to nothing", "Bad Request: message to be replied not found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				w.sim.Fault(simulator.Fault{Method: "sendMessage", Code: 400, Description: c.says})
				w.unapproved("a1")
				w.start("a", start{})
				pass(10 * time.Minute)
				calls := w.sim.Calls("sendMessage")
				if n := len(calls); n < 10 || n > 15 {
					w.Errorf("%d tries in ten minutes", n)
				}
				for i := 2; i < len(calls); i++ {
					now, before := calls[i].At.Sub(calls[i-1].At), calls[i-1].At.Sub(calls[i-2].At)
					if now < before-time.Second || now < 2*time.Second || now > 62*time.Second {
						w.Errorf("pause %d is %v after one of %v", i, now, before)
					}
				}
			})
		})
	}
}

func TestNoticeIsGivenUpAfterADay(t *testing.T) {
	t.Parallel()
	counts := &tally{n: map[string]int{}}
	r := delivery.NewReconciler(delivery.Config{Log: zerolog.Nop(), Count: counts.add})
	var rested time.Duration
	for range 10_000 {
		d := r.RestNotice("n1", 2*time.Second)
		if d < 0 {
			break
		}
		rested += d
	}
	if rested < 24*time.Hour || rested > 24*time.Hour+time.Minute || counts.of("notices_given_up") != 1 {
		t.Errorf("given up %d times, after %v", counts.of("notices_given_up"), rested)
	}
	if d := r.RestNotice("n1", 2*time.Second); d != 2*time.Second {
		t.Errorf("a notice that is kept anew rests for %v", d)
	}
}

// TestNoticeWhoseTopicIsGone wants a notice to go to the main chat, and once.
func TestNoticeWhoseTopicIsGone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1", in())
		limit := w.sim.Fault(simulator.Fault{Method: "sendMessage", When: func(c simulator.Call) bool { return c.Int("message_thread_id") == 0 }, Count: 2})
		gone := w.sim.Fault(simulator.Fault{
			Method: "sendMessage", Code: 400, Description: "Bad Request: message thread not found",
			When: func(c simulator.Call) bool { return c.Int("message_thread_id") != 0 },
		})
		_, err := w.store.NewNotice(w.Context(), store.Notice{
			Kind: store.Unapproved, Chat: forum, Thread: int(w.rooms[forum].AddTopic("Approvals")),
			IDs: []string{"a1"}, Total: 1, Outcome: approval.Executed,
		}, 0)
		w.ok(err)
		pass(time.Minute)
		if m := w.post(forum); m.MessageThreadID != 0 {
			w.Errorf("it went to topic %d", m.MessageThreadID)
		}
		if gone.Hits() != 1 || limit.Hits() != 2 {
			w.Errorf("tried %d times in the topic, want once; %d times beside it, want 2", gone.Hits(), limit.Hits())
		}
		quiet(w)
	})
}

func TestReminderComesOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		p := w.start("a", start{})
		w.open("a1", in(chat(ann), chat(dora)))
		settle()
		pass(lifetime - time.Minute)
		w.remind("a1")
		w.remind("a1")
		settle()
		posts := w.posts(ann, 2)
		if reply := posts[1].ReplyToMessage; reply == nil || reply.MessageID != posts[0].MessageID {
			w.Errorf("the reminder is no reply to the card:\n%s", posts[1].Text)
		}
		w.post(dora) // a reader need not be reminded
		p.stop()
		w.start("b", start{})
		w.openStep("a1", ann)
		settle()
		w.posts(ann, 2)
		quiet(w, "a1")
	})
}

func TestNoReminderAfterAnAnswer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		// The chat is full when the reminder falls due, and it is answered while
		// the reminder waits for its turn.
		w.start("a", start{limits: delivery.Limits{ChatPerSecond: 0.1}})
		w.open("a1")
		settle()
		w.openStep("a1", ann)
		settle()
		w.cancelStep("a1", ann)
		settle()
		w.remind("a1")
		pass(time.Second)
		w.post(ann)
		w.decide("a1", byAnn())
		pass(time.Minute)
		if m := w.post(ann); !has("Rejected by Ann")(m) {
			w.Errorf("the card says\n%s", m.Text)
		}
		quiet(w, "a1")
	})
}
