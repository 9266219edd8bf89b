package delivery_test

import (
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/simulator"
	"countersign/store"
)

func TestDeletedMessage(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1")
		settle()
		w.sim.Delete(w.post(ann))
		w.decide("a1", byAnn())
		settle()
		if m := w.post(ann); !has("Rejected by Ann")(m) {
			w.Errorf("the new card says\n%s", m.Text)
		}
		quiet(w, "a1")
	})
}

// TestDeletedMessageBeforeADeadline wants the outcome once, and no loop, where
// the message goes again and again.
func TestDeletedMessageBeforeADeadline(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1")
		settle()
		w.sim.Delete(w.post(ann))
		w.openStep("a1", ann)
		settle()
		w.sim.Delete(w.post(ann))
		pass(lifetime)
		w.decide("a1", byDeadline())
		settle()
		posts := w.posts(ann, 2)
		if !has("Lapsed")(posts[0]) || posts[1].ReplyToMessage == nil || posts[1].ReplyToMessage.MessageID != posts[0].MessageID {
			w.Errorf("want the card and a notice in reply to it, got\n%s\n%s", posts[0].Text, posts[1].Text)
		}
		quiet(w, "a1")
	})
}

func TestMessageThatCannotBeEdited(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1")
		settle()
		old := w.post(ann)
		w.sim.Fault(simulator.Fault{
			Method: "editMessageText", Code: 400, Description: "Bad Request: message can't be edited",
			When: func(c simulator.Call) bool { return c.Int("message_id") == old.MessageID },
		})
		w.decide("a1", byOperator(approval.DecisionApproved))
		settle()
		if m := w.posts(ann, 2)[1]; !has("Approved")(m) {
			w.Errorf("the new card says\n%s", m.Text)
		}
		quiet(w, "a1")
		// A tap on the old one makes it known again; it still cannot be edited.
		_, err := w.store.Look(w.Context(), "a1", w.read("a1").Cards[0].ID, store.View{Message: int(old.MessageID), Chat: old.Chat.ID})
		w.ok(err)
		settle()
		w.posts(ann, 2)
		quiet(w, "a1")
	})
}

// TestRetiredMessageDeleted wants no new card for one that was shown again
// below.
func TestRetiredMessageDeleted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1")
		settle()
		old := w.post(ann)
		w.showAgain("a1", ann, false)
		settle()
		w.posts(ann, 2)
		w.sim.Delete(old)
		w.decide("a1", byAnn())
		settle()
		if m := w.post(ann); !has("Rejected by Ann")(m) {
			w.Errorf("the card says\n%s", m.Text)
		}
		calls := len(w.sim.Calls("editMessageText"))
		pass(10 * time.Minute)
		if n := len(w.sim.Calls("editMessageText")); n != calls {
			w.Errorf("%d more edits of a message that is gone", n-calls)
		}
	})
}

func (w *world) showAgain(id string, chat int64, reader bool) {
	w.Helper()
	cid, err := w.store.NewCard(w.Context(), id, store.Place{Chat: chat, Reader: reader}, nil, true)
	w.ok(err)
	if cid == "" {
		w.Fatal("no card was made")
	}
}

func TestShownAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{})
		w.open("a1", in(approval.Chat{ID: forum, Thread: int(w.rooms[forum].AddTopic("Approvals"))}))
		settle()
		w.remind("a1")
		settle()
		w.showAgain("a1", forum, false) // in General, away from the route's topic
		settle()
		posts := w.posts(forum, 3) // the old one, its reminder, the new one: no further card, no further reminder
		if !has("Shown again below")(posts[0]) || posts[0].Keyboard() != nil {
			w.Errorf("the older card says\n%s", posts[0].Text)
		}
		if !hasButton(posts[2], "Reject") || posts[2].MessageThreadID != 0 {
			w.Errorf("the newer card does not ask in General:\n%s", posts[2].Text)
		}
		w.decide("a1", byAnn())
		settle()
		for _, i := range []int{0, 2} {
			if m := w.posts(forum, 3)[i]; !has("Rejected by Ann")(m) {
				w.Errorf("card %d says\n%s", i, m.Text)
			}
		}
		quiet(w, "a1")
	})
}

// TestReadersCopy wants a copy that a reader asked for to change nothing for
// owners, also where it comes before their card.
func TestReadersCopy(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.open("a1", in(chat(team), chat(dora)))
		w.showAgain("a1", team, true)
		w.start("a", start{})
		settle()
		deciding := 0
		for _, m := range w.posts(team, 2) {
			if hasButton(m, "Reject") {
				deciding++
			}
		}
		if deciding != 1 {
			w.Errorf("%d cards of the group ask, want 1", deciding)
		}
		if hasButton(w.post(dora), "Reject") {
			w.Error("a reader's own card asks")
		}
		quiet(w, "a1")
	})
}

func TestBlockedChat(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sim.Person(ann).Block()
		w.start("a", start{})
		w.open("both", in(chat(ann), chat(ben)))
		settle()
		w.state("both", approval.Open)
		w.post(ben)
		w.open("alone", in(chat(ann)))
		settle()
		w.refusedUnreachable("alone", "blocked")
		w.sim.Person(ben).Block()
		w.openStep("both", ann) // the next edit finds the last chat gone
		settle()
		w.refusedUnreachable("both", "blocked")
		quiet(w)
	})
}

func (w *world) refusedUnreachable(id, why string) {
	w.Helper()
	w.state(id, approval.Refused)
	if r := w.read(id).Row.Answer; r == nil || !strings.HasPrefix(r.Reason, "unreachable: ") || !strings.Contains(r.Reason, why) {
		w.Errorf("%s is refused with %+v", id, r)
	}
}

func TestChatsThatAreOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chat int64
		out  func(w *world)
		why  string
	}{
		"kicked":       {team, func(w *world) { w.rooms[team].KickBot() }, "kicked"},
		"deleted":      {team, func(w *world) { w.rooms[team].Delete() }, "deleted"},
		"deactivated":  {ann, func(w *world) { w.sim.Person(ann).Deactivate() }, "deactivated"},
		"not found":    {4040, func(*world) {}, "chat not found"},
		"only readers": {ann, func(w *world) { w.sim.Person(ann).Block() }, "blocked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				c.out(w)
				w.start("a", start{})
				places := []approval.Chat{chat(c.chat)}
				if name == "only readers" {
					places = append(places, chat(dora)) // who sees it, and may not answer
				}
				w.open("a1", in(places...))
				settle()
				w.refusedUnreachable("a1", c.why)
				quiet(w)
			})
		})
	}
}

func TestTopics(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]func(w *world, room *simulator.Room, thread int64){
		"deleted": func(_ *world, room *simulator.Room, thread int64) { room.DeleteTopic(thread) },
		"closed":  func(_ *world, room *simulator.Room, thread int64) { room.SetTopicClosed(thread, true) },
		"off":     func(_ *world, room *simulator.Room, _ int64) { room.SetForum(false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				room := w.rooms[forum]
				thread := room.AddTopic("Approvals")
				c(w, room, thread)
				w.start("a", start{})
				w.open("a1", in(approval.Chat{ID: forum, Thread: int(thread)}))
				settle()
				if m := w.post(forum); m.MessageThreadID != 0 {
					w.Errorf("the card is in topic %d, not in the main chat", m.MessageThreadID)
				} else if said := strings.Contains(m.Text, "its topic is gone or closed"); said != (name != "off") {
					w.Errorf("it says so: %v\n%s", said, m.Text) // without topics there is but one place
				}
				pass(lifetime)
				w.decide("a1", byDeadline())
				settle()
				w.posts(forum, 2)
				quiet(w, "a1")
			})
		})
	}
}

// TestTopicClosedUnderItsCard wants the notice in the main chat, and the card to
// stay and say nothing of it.
func TestTopicClosedUnderItsCard(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		thread := w.rooms[forum].AddTopic("Approvals")
		w.start("a", start{})
		w.open("a1", in(approval.Chat{ID: forum, Thread: int(thread)}))
		settle()
		w.rooms[forum].SetTopicClosed(thread, true)
		pass(lifetime)
		w.decide("a1", byDeadline())
		settle()
		posts := w.posts(forum, 2)
		if posts[0].MessageThreadID != thread || strings.Contains(posts[0].Text, "gone or closed") || !has("Lapsed")(posts[0]) {
			w.Errorf("in topic %d:\n%s", posts[0].MessageThreadID, posts[0].Text)
		}
		if posts[1].MessageThreadID != 0 {
			w.Errorf("the notice is in topic %d", posts[1].MessageThreadID)
		}
		quiet(w, "a1")
	})
}

// TestEditInAClosedTopic wants a card that cannot be edited where it stands to be
// sent again in the main chat.
func TestEditInAClosedTopic(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		thread := w.rooms[forum].AddTopic("Approvals")
		w.start("a", start{})
		w.open("a1", in(approval.Chat{ID: forum, Thread: int(thread)}))
		settle()
		w.rooms[forum].SetTopicClosed(thread, true)
		w.sim.Fault(simulator.Fault{Method: "editMessageText", Chat: forum, Code: 400, Description: "Bad Request: TOPIC_CLOSED"})
		w.decide("a1", byAnn())
		settle()
		last := w.posts(forum, 2)[1]
		if last.MessageThreadID != 0 || !has("Rejected by Ann")(last) || !has("gone or closed")(last) {
			w.Errorf("in topic %d:\n%s", last.MessageThreadID, last.Text)
		}
	})
}

// TestTopicDeletedUnderItsCard wants a new card in the main chat, since the
// message went with its topic.
func TestTopicDeletedUnderItsCard(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		thread := w.rooms[forum].AddTopic("Approvals")
		w.start("a", start{})
		w.open("a1", in(approval.Chat{ID: forum, Thread: int(thread)}))
		settle()
		w.rooms[forum].DeleteTopic(thread)
		w.decide("a1", byAnn())
		settle()
		if m := w.post(forum); m.MessageThreadID != 0 || !has("Rejected by Ann")(m) {
			w.Errorf("in topic %d:\n%s", m.MessageThreadID, m.Text)
		}
		quiet(w, "a1")
	})
}

// TestMainChatClosed wants a chat closed to the bot to be asked once a minute,
// and to be served once it is open.
func TestMainChatClosed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		fault := w.sim.Fault(simulator.Fault{Method: "sendMessage", Chat: forum, Code: 400, Description: "Bad Request: TOPIC_CLOSED"})
		thread := w.rooms[forum].AddTopic("Approvals")
		w.start("a", start{})
		w.open("a1", in(approval.Chat{ID: forum, Thread: int(thread)}, chat(ben)))
		pass(10 * time.Minute)
		w.post(ben)
		if n := fault.Hits(); n > 13 {
			w.Errorf("asked %d times in ten minutes", n)
		}
		w.state("a1", approval.Open)
		fault.Remove()
		pass(time.Minute + time.Second)
		w.post(forum)
		quiet(w, "a1")
	})
}

// TestCopyIsKeptInLine adopts a second message of a card, as a tap on it does.
func TestCopyIsKeptInLine(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sim.Fault(simulator.Fault{Method: "sendMessage", Kind: simulator.Reset, Applied: true, Count: 1})
		w.start("a", start{})
		w.open("a1")
		pass(5 * time.Second)
		posts := w.posts(ann, 2)
		_, err := w.store.Look(w.Context(), "a1", w.read("a1").Cards[0].ID, store.View{Message: int(posts[0].MessageID), Chat: posts[0].Chat.ID})
		w.ok(err)
		settle()
		w.openStep("a1", ann)
		settle()
		w.inLine("a1")
		w.decide("a1", byAnn())
		settle()
		for _, m := range w.posts(ann, 2) {
			if !has("Rejected by Ann")(m) {
				w.Errorf("message %d says\n%s", m.MessageID, m.Text)
			}
		}
		quiet(w, "a1")
	})
}
