package delivery_test

import (
	"fmt"
	"testing"
	"time"

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
		w.ok(w.store.SettleNotice(w.Context(), nid, 0))
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
				w.open("a1", func(o *store.Opening) { o.Chats = nil }) // with no card of its own
				nid, err := w.store.NewNotice(w.Context(), store.Notice{
					Kind: store.Unapproved, Chat: ann, IDs: []string{"a1"}, Total: 1, Outcome: approval.Executed,
				}, 0)
				w.ok(err)
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
