package page_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
	"countersign/simulator/page"
)

func TestStream(t *testing.T) {
	s := newStage(t)
	next, _ := s.follow("/api/events?as=1001", "")
	first := next()
	if first.Kind != "snapshot" || read[page.Snapshot](t, first.Data).Position != first.ID {
		t.Fatalf("first %+v", first)
	}

	s.bot("sendMessage", map[string]any{
		"chat_id": annID, "text": "Trash 3 emails?",
		"reply_markup": map[string]any{"inline_keyboard": [][]any{{map[string]any{"text": "Reject", "callback_data": "r1"}}}},
	})
	sent := next()
	card := read[simulator.Message](t, sent.Data)
	if sent.Kind != "message" || card.Text != "Trash 3 emails?" || len(card.Keyboard()) != 1 {
		t.Fatalf("sent: %s %s", sent.Kind, sent.Data)
	}

	s.ben.Send(benID, "not for Ann") // skipped
	id := s.ann.Tap(card, "Reject")
	if e := next(); e.Kind != "tapped" || string(e.Data) != `{"chat":1001,"message":`+strconv.FormatInt(card.MessageID, 10)+`,"user":1001,"callback":"`+id+`","data":"r1"}` {
		t.Errorf("tapped: %+v %s", e, e.Data)
	}
	s.bot("answerCallbackQuery", map[string]any{"callback_query_id": id, "text": "Rejected.", "show_alert": true})
	if e := next(); e.Kind != "answered" || string(e.Data) != `{"chat":1001,"user":1001,"callback":"`+id+`","text":"Rejected.","alert":true}` {
		t.Errorf("answered: %+v %s", e, e.Data)
	}
	s.bot("editMessageText", map[string]any{"chat_id": annID, "message_id": card.MessageID, "text": "Rejected by Ann"})
	if e := next(); e.Kind != "message" || read[simulator.Message](t, e.Data).EditDate == 0 {
		t.Errorf("edited: %+v %s", e, e.Data)
	}
	s.bot("sendChatAction", map[string]any{"chat_id": annID, "action": "typing"})
	if e := next(); e.Kind != "action" || read[simulator.Change](t, e.Data).Text != "typing" {
		t.Errorf("action: %+v %s", e, e.Data)
	}
	s.runtimes.note(page.StepAnswered)
	if e := next(); e.Kind != "entry" || read[page.Entry](t, e.Data).Step != page.StepAnswered {
		t.Errorf("entry: %+v %s", e, e.Data)
	}
	s.sim.Delete(card)
	if e := next(); e.Kind != "deleted" || read[simulator.Change](t, e.Data).Message != card.MessageID {
		t.Errorf("deleted: %+v %s", e, e.Data)
	}
	s.sim.AddSupergroup(-1002, "New", s.ann) // the chats have changed, so that everything is shown again
	if e := next(); e.Kind != "snapshot" || len(read[page.Snapshot](t, e.Data).Chats) != 3 {
		t.Errorf("joined: %+v %s", e, e.Data)
	}
	s.sim.Person(evaID).Send(-1002, "hello")
	if e := next(); e.Kind != "message" || read[simulator.Message](t, e.Data).Text != "hello" {
		t.Errorf("in the new group: %+v %s", e, e.Data)
	}
}

// An answer to a tap in a group is for the one who tapped.
func TestStreamKeepsAnswersApart(t *testing.T) {
	s := newStage(t)
	s.sim.Room(teamID).SetStatus(benID, simulator.Member)
	next, _ := s.follow("/api/events?as=1002", "")
	next()
	s.bot("sendMessage", map[string]any{
		"chat_id": teamID, "text": "Pay?",
		"reply_markup": map[string]any{"inline_keyboard": [][]any{{map[string]any{"text": "Pay", "callback_data": "a1"}}}},
	})
	id := s.ann.Tap(read[simulator.Message](t, next().Data), "Pay")
	s.bot("answerCallbackQuery", map[string]any{"callback_query_id": id, "text": "Only for Ann"})
	s.ann.Send(teamID, "done")
	var kinds []string
	for range 2 {
		kinds = append(kinds, next().Kind)
	}
	if diff := cmp.Diff([]string{"tapped", "message"}, kinds); diff != "" {
		t.Errorf("Ben got (-want +got)\n%s", diff)
	}
}

func TestStreamGoesOn(t *testing.T) {
	s := newStage(t)
	next, leave := s.follow("/api/events?as=1001", "")
	last := next()
	leave()
	s.ann.Send(annID, "missed")
	s.runtimes.note(page.StepWaiting)

	next, leave = s.follow("/api/events?as=1001", last.ID)
	if e := next(); e.Kind != "message" || read[simulator.Message](t, e.Data).Text != "missed" {
		t.Errorf("after the break: %+v %s", e, e.Data)
	}
	e := next()
	if e.Kind != "entry" {
		t.Errorf("then: %+v %s", e, e.Data)
	}
	leave()

	// A group is known also to a stream that begins without a snapshot.
	next, _ = s.follow("/api/events?as=1001", e.ID)
	s.ann.Send(teamID, "in the group")
	if e := next(); e.Kind != "message" || read[simulator.Message](t, e.Data).Text != "in the group" {
		t.Errorf("in the group: %+v %s", e, e.Data)
	}
}

func TestStreamBeginsAnew(t *testing.T) {
	s := newStage(t)
	w := s.do(http.MethodGet, "/api/snapshot", "")
	position := read[page.Snapshot](t, w.Body.Bytes()).Position
	epoch, _, _ := strings.Cut(position, ".")
	cases := []struct{ name, id string }{
		{"no id", ""},
		{"of another server", "abc.1.0"},
		{"nonsense", "-1"},
		{"no number", epoch + ".x.0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			next, _ := s.follow("/api/events", c.id)
			if e := next(); e.Kind != "snapshot" {
				t.Errorf("first %s", e.Kind)
			}
		})
	}
	t.Run("too much was missed", func(t *testing.T) {
		for range 10_001 {
			s.ben.Send(benID, "x")
		}
		next, _ := s.follow("/api/events?as=1001", position)
		if e := next(); e.Kind != "snapshot" {
			t.Errorf("first %s", e.Kind)
		}
	})
}

func TestIdleStreamShowsThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		ctx, cancel := context.WithTimeout(t.Context(), 31*time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/api/events", nil)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r) // until the context ends
		if n := strings.Count(w.Body.String(), "\n: still here\n"); n != 2 {
			t.Errorf("%d signs of life in 31 s, want 2", n)
		}
		if !w.Flushed {
			t.Error("nothing was flushed")
		}
	})
}

// Whatever id a client brings, it gets a stream; it is told everything unless the id is
// one of this server's.
func FuzzLastEventID(f *testing.F) {
	s := newStage(f)
	position := read[page.Snapshot](f, s.do(http.MethodGet, "/api/snapshot", "").Body.Bytes()).Position
	for _, seed := range []string{"", "0", position, position + ".1", strings.Replace(position, ".", ".9", 1), "a.b.c", "\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // so that the stream ends when there is nothing more to send
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/api/events", nil)
		r.Header.Set("Last-Event-ID", id)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		epoch, _, _ := strings.Cut(position, ".")
		everything := strings.Contains(w.Body.String(), "event: snapshot\n")
		if w.Code != http.StatusOK || !everything && !strings.HasPrefix(id, epoch+".") {
			t.Errorf("id %q: %d, everything: %t", id, w.Code, everything)
		}
	})
}
