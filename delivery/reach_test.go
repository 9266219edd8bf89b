package delivery_test

import (
	"context"
	"testing"
	"time"

	"countersign/approval"
	"countersign/delivery"
	"countersign/simulator"
	"countersign/store"
)

// TestOutAndBackAgain has the bot be out of a chat, as a membership update has
// it, and come back: what is open is refused where nobody else is asked, and
// comes back by itself where it is not.
func TestOutAndBackAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("alone", in(chat(ann)))
		w.open("both", in(chat(ann), chat(ben)))
		w.open("done", in(chat(ann), chat(ben)))
		settle()
		w.sim.Person(ann).Block()
		w.ok(w.store.DoubtChat(w.Context(), ann, "kicked"))
		settle()
		w.refusedUnreachable("alone", "blocked")
		w.state("both", approval.Open)
		if n := len(w.sim.Calls("sendChatAction")); n == 0 || n > 3 {
			w.Errorf("asked %d times, want once for every approval at most", n)
		}
		w.open("meanwhile", in(chat(ann), chat(ben)))
		w.decide("done", byOperator(approval.DecisionApproved))
		settle()
		w.posts(ann, 3)

		w.sim.Person(ann).Unblock()
		w.ok(w.store.ChatBack(w.Context(), ann))
		settle()
		w.posts(ann, 4)
		w.inLine("alone", "both", "meanwhile", "done")
		quiet(w)
	})
}

// TestDoubtOutlivesTheAnswer has what is in doubt be answered before anybody asks:
// Telegram is asked once, and the card says the outcome.
func TestDoubtOutlivesTheAnswer(t *testing.T) {
	t.Parallel()
	for _, out := range []bool{false, true} {
		inBubble(t, func(w *world) {
			p := w.start("a", start{})
			w.open("a1")
			settle()
			p.stop()
			if out {
				w.sim.Person(ann).Block()
			}
			w.ok(w.store.DoubtChat(w.Context(), ann, "kicked"))
			w.decide("a1", byOperator(approval.DecisionApproved))
			w.start("b", start{})
			settle()
			if n := len(w.sim.Calls("sendChatAction")); n != 1 {
				w.Errorf("asked %d times", n)
			}
			if out {
				w.sim.Person(ann).Unblock()
				w.ok(w.store.ChatBack(w.Context(), ann))
				settle()
			}
			w.inLine("a1")
			quiet(w)
		})
	}
}

// TestDoubtIsNoProof has a membership update be old news: the bot is asked after
// and nothing fails.
func TestDoubtIsNoProof(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault simulator.Fault
		room  bool
	}{
		"well":                {},
		"well after a while":  {fault: simulator.Fault{Method: "sendChatAction", Code: 500, Count: 3}},
		"told to wait":        {fault: simulator.Fault{Method: "sendChatAction", Code: 429, Parameters: &simulator.Parameters{RetryAfter: 7}, Count: 1}},
		"may not write there": {fault: simulator.Fault{Method: "sendChatAction", Code: 400, Description: "Bad Request: not enough rights to send text messages to the chat", Count: 1}},
		"moved":               {room: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				w.start("a", start{})
				w.open("a1", in(chat(team)))
				settle()
				if c.fault.Method != "" {
					w.sim.Fault(c.fault)
				}
				at := team
				if c.room {
					w.rooms[team].Upgrade(upgraded)
					at = upgraded
				}
				w.ok(w.store.DoubtChat(w.Context(), team, "left"))
				pass(time.Minute)
				w.state("a1", approval.Open)
				w.post(at)
				quiet(w, "a1")
				w.refused = len(w.sim.Refusals())
			})
		})
	}
}

// held is a lease that was held and given up, so that a process can lead next.
func (w *world) held() store.Lease {
	w.Helper()
	l, _, err := w.store.TakeLease(w.Context(), "before", time.Second)
	w.ok(err)
	w.ok(w.store.GiveLease(w.Context(), "before"))
	return l
}

// TestRefusalSurvivesAKill kills a process between a card that fails and the
// refusal that follows: the next one refuses.
func TestRefusalSurvivesAKill(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.open("a1")
		cid, err := w.store.NewCard(w.Context(), "a1", store.Place{Chat: ann}, nil, false)
		w.ok(err)
		w.ok(w.store.FailCard(w.Context(), cid, "Forbidden: bot was blocked by the user", w.held()))
		w.start("a", start{})
		settle()
		w.refusedUnreachable("a1", "blocked")
		quiet(w)
	})
}

// TestTooLateToRefuse holds that a refusal that comes after the deadline makes no
// loop: the sweep has it.
func TestTooLateToRefuse(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.open("a1")
		cid, err := w.store.NewCard(w.Context(), "a1", store.Place{Chat: ann}, nil, false)
		w.ok(err)
		w.ok(w.store.FailCard(w.Context(), cid, "blocked", w.held()))
		pass(lifetime + time.Second)
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		p := w.start("a", start{})
		settle()
		w.state("a1", approval.Open)
		w.decide("a1", byDeadline())
		settle()
		quiet(w)
		if ctx.Err() != nil {
			w.Error("it took a minute")
		}
		p.stop()
	})
}

// TestReplyTargetGone has what a notice replies to be gone in the words of an
// older server: it comes without the reply.
func TestReplyTargetGone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		p := w.start("a", start{limits: delivery.Limits{}})
		w.open("a1")
		settle()
		pass(lifetime)
		w.sim.Fault(simulator.Fault{Method: "sendMessage", Code: 400, Description: "Bad Request: REPLY_MESSAGE_ID_INVALID", Count: 1})
		w.decide("a1", byDeadline())
		pass(time.Second)
		posts := w.posts(ann, 2)
		if posts[1].ReplyToMessage != nil {
			w.Error("it still replies")
		}
		if n := p.counts.of("telegram_failures"); n != 0 {
			w.Errorf("%d failures", n)
		}
		quiet(w, "a1")
	})
}
