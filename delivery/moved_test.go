package delivery_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/delivery"
	"countersign/simulator"
	"countersign/store"
)

// upgraded is the supergroup that the team's group becomes.
const upgraded = int64(-1009999999999)

// TestGroupBecomesASupergroup has a group move before, between and after the
// cards of its approvals: all of them stand in the new chat in the end.
func TestGroupBecomesASupergroup(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		p := w.start("a", start{})
		w.open("before", in(chat(team)))
		w.open("both", in(chat(team), chat(ann)))
		settle()
		w.posts(team, 2)
		w.rooms[team].Upgrade(upgraded)
		w.open("after", in(chat(team)))
		settle()
		w.titled(upgraded, 3) // the new one was told, and the others follow
		w.posts(ann, 1)
		if n := w.log.count(`"new_chat":"-1009999999999"`); n != 1 {
			w.Errorf("the operator was told %d times", n)
		}
		w.openStep("before", ann)
		settle()
		w.decide("both", byAnn())
		settle()
		w.inLine("before", "both", "after")
		p.stop()

		// The configuration names the old id for long.
		w.start("b", start{})
		w.open("restarted", in(chat(team)))
		settle()
		w.titled(upgraded, 4)
		if n := w.sim.Calls("sendMessage"); n[len(n)-1].Code != 200 {
			w.Errorf("what is known was asked again: %s", n[len(n)-1])
		}
		quiet(w, "before", "both", "after", "restarted")
		w.refused = len(w.sim.Refusals()) // those to the old chat
	})
}

// titled wants so many messages of cards in a chat.
func (w *world) titled(chat int64, want int) {
	w.Helper()
	n := 0
	for _, m := range w.sim.BotMessages(chat) {
		if strings.Contains(m.Text, "Trash 3 emails") {
			n++
		}
	}
	if n != want {
		w.Errorf("%d cards in chat %d, want %d", n, chat, want)
	}
}

// TestGroupMovesWhileACardIsOut finds the move with an edit, and again with the
// notice of a lapse.
func TestGroupMovesWhileACardIsOut(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1", in(chat(team)))
		w.open("a2", in(chat(team)))
		settle()
		w.rooms[team].Upgrade(upgraded)
		w.decide("a1", byAnn())
		pass(time.Second)
		w.titled(upgraded, 2)
		if !slices.ContainsFunc(w.sim.BotMessages(upgraded), has("Rejected by Ann")) {
			w.Error("no card in the new chat says who rejected")
		}
		pass(lifetime)
		w.decide("a2", byDeadline())
		pass(time.Second)
		w.posts(upgraded, 3) // two cards and a notice
		quiet(w, "a1", "a2")
		w.refused = len(w.sim.Refusals())
	})
}

// TestNoticeOfAGroupThatMoved has a shared notice go where the group is now.
func TestNoticeOfAGroupThatMoved(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.rooms[team].Upgrade(upgraded)
		w.open("a1")
		settle()
		pass(lifetime)
		w.decide("a1", byDeadline())
		_, err := w.store.NewNotice(w.Context(), store.Notice{Kind: store.SharedLapse, Chat: team, IDs: []string{"a1"}, Total: 1}, 0)
		w.ok(err)
		pass(10 * time.Second)
		w.post(upgraded)
		quiet(w)
		w.refused = len(w.sim.Refusals())
	})
}

// TestGroupThatMovesInCircles holds that nonsense does no harm: calls are few,
// and the other chat is served.
func TestGroupThatMovesInCircles(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]int64{"back and forth": team, "to itself": upgraded, "to a person": ann} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				w.sim.AddSupergroup(upgraded, "New")
				move := func(from, to int64) {
					w.sim.Fault(simulator.Fault{
						Chat: from, Code: 400, Description: "Bad Request: group chat was upgraded to a supergroup chat",
						Parameters: &simulator.Parameters{MigrateToChatID: to}, Count: 1 << 20,
					})
				}
				move(team, upgraded)
				move(upgraded, back)
				w.start("a", start{})
				w.open("a1", in(chat(team), chat(ben)))
				settle()
				w.post(ben)
				pass(4 * time.Minute)
				if n := len(w.sim.Calls("sendMessage")); n > 40 {
					w.Errorf("%d calls", n)
				}
				w.decide("a1", byOperator(approval.DecisionApproved))
				pass(time.Second)
				if m := w.post(ben); !has("Approved by root")(m) {
					w.Errorf("the other chat: %s", m.Text)
				}
			})
		})
	}
}

// TestSpeakerFollowsAGroup holds that words reach a group that moved, once.
func TestSpeakerFollowsAGroup(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.rooms[team].Upgrade(upgraded)
		s := w.speaker(delivery.Limits{})
		sent, err := s.Ask(w.Context(), word(team))
		w.ok(err)
		if sent.MessageID != 0 {
			w.Errorf("the question is number %d of a chat its sender does not know", sent.MessageID)
		}
		w.post(upgraded)
		w.refused = len(w.sim.Refusals())
	})
}

// TestSpeakerGoesElsewhere holds that words reach the main chat where their topic
// is closed, and go without what they reply to where that is gone.
func TestSpeakerGoesElsewhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		s := w.speaker(delivery.Limits{})
		thread := w.rooms[forum].AddTopic("Halts")
		w.rooms[forum].SetTopicClosed(thread, true)
		m := word(forum)
		m.Thread = int(thread)
		sent, err := s.Say(w.Context(), m)
		w.ok(err)
		if got := w.post(forum); got.MessageThreadID != 0 || int(got.MessageID) != sent.MessageID {
			w.Errorf("said in topic %d as %d, want the main chat and %d", got.MessageThreadID, got.MessageID, sent.MessageID)
		}
		w.sim.Fault(simulator.Fault{Method: "sendMessage", Chat: ann, Code: 400, Description: "Bad Request: message to be replied not found", Count: 1})
		m = word(ann)
		m.ReplyTo = 7
		_, err = s.Say(w.Context(), m)
		w.ok(err)
		if got := w.post(ann); got.ReplyToMessage != nil {
			w.Error("it still replies")
		}
		w.refused = len(w.sim.Refusals())
	})
}
