package simulator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/simulator"
)

func TestSnapshotShowsWhatAPersonSees(t *testing.T) {
	w := newWorld(t)
	w.AddSupergroup(-1001000000009, "Not Ann's", w.ben)
	thread := w.forum.AddTopic("Deploys")
	w.send(annID, "for Ann", keyboard("a"))
	gone := w.send(annID, "gone")
	w.Delete(gone)
	w.send(opsID, "one")
	w.send(opsID, "two")

	snap := w.Snapshot(annID, 1)
	var got []string
	for _, c := range snap.Chats {
		line := c.Chat.Title + c.Chat.FirstName + ":"
		for _, m := range c.Messages {
			line += " " + m.Text
		}
		for _, topic := range c.Topics {
			line += fmt.Sprintf(" [%d %s]", topic.ID, topic.Name)
		}
		got = append(got, line)
	}
	want := []string{"Ann: for Ann", "Ops: two", fmt.Sprintf("Forum:  [%d Deploys]", thread)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if snap.Viewer.ID != annID || snap.Bot.ID != w.Bot().ID {
		t.Errorf("viewer %d, bot %d", snap.Viewer.ID, snap.Bot.ID)
	}
	if changes, _ := w.Changes(snap.Seq); len(changes) != 0 {
		t.Errorf("changes after the snapshot: %v", changes)
	}
	if _, err := json.Marshal(snap); err != nil {
		t.Error(err)
	}
}

func TestFollow(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		snap := w.Snapshot(annID, 0)
		var got []string
		done := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(done)
			seq := snap.Seq
			for c := range w.Follow(ctx, snap.Seq) {
				seq++
				if c.Seq != seq {
					t.Errorf("change %d comes as %d", seq, c.Seq)
				}
				got = append(got, strings.TrimSpace(c.Kind+" "+c.Text))
			}
		}()
		card := w.send(annID, "x", keyboard("a"))
		synctest.Wait()
		id := w.ann.Tap(card, "a")
		w.call("answerCallbackQuery", params{"callback_query_id": id, "text": "Done"})
		w.call("editMessageText", params{"chat_id": annID, "message_id": card.MessageID, "text": "y"})
		w.call("sendChatAction", params{"chat_id": annID, "action": "typing"})
		w.Delete(card)
		w.ann.Block()
		synctest.Wait()
		cancel()
		<-done
		want := []string{
			simulator.MessageSent, simulator.CallbackTapped, simulator.CallbackAnswered + " Done", simulator.MessageEdited,
			simulator.ChatAction + " typing", simulator.MessageDeleted, simulator.ChatChanged,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestWaitingEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.WaitMessage(ctx, annID, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitMessage: %v", err)
		}
		if _, err := w.WaitAnswer(ctx, "1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitAnswer: %v", err)
		}
		if _, err := w.WaitEdit(ctx, simulator.Message{}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitEdit: %v", err)
		}
		go func() {
			<-time.After(time.Second)
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := w.Wait(t.Context(), func() bool { return false }); err == nil {
			t.Error("Wait outlived the server")
		}
	})
}

func TestPeopleCannotDoTheImpossible(t *testing.T) {
	w := newWorld(t)
	card := w.send(annID, "x", merge(keyboard("Approve", "Reject")))
	link := w.send(annID, "x", oneButton(params{"text": "Open", "url": "https://a.bc"}))
	text := func(s string) *string { return &s }
	press := func(p simulator.Press) error {
		if p.Chat == 0 {
			p.Chat, p.Message = card.Chat.ID, card.MessageID
		}
		_, err := w.ann.Press(p)
		return err
	}
	post := func(d simulator.Draft) error {
		_, err := w.ann.Post(d)
		return err
	}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"no such button", press(simulator.Press{Text: "Yes"}), `has no button "Yes"; it has ["Approve","Reject"]`},
		{"no such place", press(simulator.Press{Row: 1}), "no button in row 1, column 0"},
		{"a link", press(simulator.Press{Chat: annID, Message: link.MessageID, Text: "Open"}), "sends nothing"},
		{"data of no button", press(simulator.Press{Data: text("x")}), "DATA_INVALID"},
		{"no such message", press(simulator.Press{Chat: annID, Message: 999}), "no message 999"},
		{"no such chat", press(simulator.Press{Chat: 5, Message: 1}), "no chat 5"},
		{"somebody else's chat", post(simulator.Draft{Chat: benID, Text: "x"}), "no chat 1002"},
		{"no such topic", post(simulator.Draft{Chat: forumID, Thread: 99, Text: "x"}), "no topic 99"},
		{"reply to nothing", post(simulator.Draft{Chat: annID, ReplyTo: 99, Text: "x"}), "no message 99"},
	}
	for _, tt := range tests {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, tt.err, tt.want)
		}
	}
	defer func() {
		if v := recover(); v == nil {
			t.Error("Tap of a button that is not there did not panic")
		}
	}()
	w.ann.Tap(card, "Yes")
}

// Odd taps: forged data, messages that are gone, no message at all.
func TestOddTaps(t *testing.T) {
	w := newWorld(t)
	card := w.send(annID, "x", keyboard("a"))
	w.updates()
	press := func(p simulator.Press) {
		t.Helper()
		p.Chat, p.Message = card.Chat.ID, card.MessageID
		if _, err := w.ann.Press(p); err != nil {
			t.Fatal(err)
		}
	}
	w.ann.TapData(card, "forged")
	press(simulator.Press{Text: "a", Inaccessible: true})
	press(simulator.Press{Text: "a", Without: true})
	w.Delete(card)
	w.ann.TapData(card, "late")

	var got []string
	for _, u := range w.updates() {
		var m simulator.Message
		q := u.CallbackQuery
		if q.Message != nil {
			if err := json.Unmarshal(q.Message, &m); err != nil {
				t.Fatal(err)
			}
		}
		got = append(got, fmt.Sprintf("%s: message %d of %t, inline %t", q.Data, m.MessageID, m.Date != 0, q.InlineMessageID != ""))
	}
	want := []string{
		fmt.Sprintf("forged: message %d of true, inline false", card.MessageID),
		fmt.Sprintf("a: message %d of false, inline false", card.MessageID),
		"a: message 0 of false, inline true",
		fmt.Sprintf("late: message %d of false, inline false", card.MessageID),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLog(t *testing.T) {
	w := newWorld(t, func(o *simulator.Options) { o.LogLimit = 10 })
	w.send(annID, "hello")
	got := w.Calls("SENDMESSAGE")
	if len(got) != 1 || got[0].Text("text") != "hello" || got[0].Int("chat_id") != annID || !got[0].Applied || !got[0].At.Equal(epoch) {
		t.Errorf("got %v", got)
	}
	for range 30 {
		w.call("getMe", nil)
	}
	got = w.Calls()
	if n := len(got); n < 5 || n > 10 {
		t.Errorf("the log holds %d calls, want 5 to 10", n)
	}
	if last := got[len(got)-1].Seq; last != 31 {
		t.Errorf("the last call is number %d, want 31", last)
	}
}

// Whatever is sent, ids of messages and updates rise by one, and what a bot confirms
// never comes again.
func TestQueueIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := &clock{now: epoch}
		s := simulator.New(simulator.Options{Now: c.Now})
		defer s.Close()
		w := &world{Server: s, t: t, clock: c, api: nil, odd: true}
		ann := s.AddUser(annID, "Ann")
		var sent, seen, confirmed int64
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "send") {
				m := ann.Send(annID, "x")
				sent++
				if m.MessageID != sent {
					rt.Errorf("message %d has id %d", sent, m.MessageID)
				}
				continue
			}
			c.Advance(time.Second)
			confirmed = rapid.Int64Range(confirmed, seen).Draw(rt, "confirmed")
			if sent == confirmed {
				continue // the poll would wait
			}
			limit := rapid.Int64Range(1, 5).Draw(rt, "limit")
			got := ids(t, w.call("getUpdates", params{"offset": confirmed + 1, "limit": limit}))
			want := []int64{}
			for id := confirmed + 1; id <= min(sent, confirmed+limit); id++ {
				want = append(want, id)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Errorf("(-want +got)\n%s", diff)
			}
			seen = max(seen, confirmed+int64(len(got)))
		}
	})
}
