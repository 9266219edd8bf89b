package page_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
	"countersign/simulator/page"
)

func TestSnapshotIsWhatAPersonSees(t *testing.T) {
	s := newStage(t)
	s.runtimes.note(page.StepPublished)
	cases := []struct {
		target string
		viewer string
		chats  []int64
	}{
		{"/api/snapshot?as=1001", "Ann", []int64{annID, teamID}},
		{"/api/snapshot?as=1002", "Ben", []int64{benID}},
		{"/api/snapshot", "Ann", []int64{annID, teamID}},
	}
	for _, c := range cases {
		w := s.do(http.MethodGet, c.target, "")
		snap := read[page.Snapshot](t, w.Body.Bytes())
		var chats []int64
		for _, v := range snap.Chats {
			chats = append(chats, v.Chat.ID)
		}
		if snap.Viewer.FirstName != c.viewer || !cmp.Equal(chats, c.chats) {
			t.Errorf("%s: %s sees %v, want %s and %v", c.target, snap.Viewer.FirstName, chats, c.viewer, c.chats)
		}
		if len(snap.Samples) != 1 || len(snap.Entries) != 1 || len(snap.People) != 2 || snap.Bot.Username == "" {
			t.Errorf("%s lacks something: %s", c.target, w.Body)
		}
	}
	for _, target := range []string{"/api/snapshot?as=1003", "/api/snapshot?as=ann", "/api/events?as=7", "/api/file/1001/1?as=1003"} {
		if w := s.do(http.MethodGet, target, ""); w.Code != http.StatusBadRequest {
			t.Errorf("GET %s = %d, want 400", target, w.Code)
		}
	}
}

func TestSend(t *testing.T) {
	cases := []struct {
		name, body string
		want       int
		text       string // of the error
	}{
		{"in a direct chat", `{"as":1001,"chat":1001,"text":" approve "}`, http.StatusOK, ""},
		{"as a reply", `{"as":1001,"chat":1001,"reply_to":1,"text":"approve"}`, http.StatusOK, ""},
		{"nothing", `{"as":1001,"chat":1001,"text":"  \n "}`, http.StatusBadRequest, "empty"},
		{"too much", `{"as":1001,"chat":1001,"text":"` + strings.Repeat("😀", 2049) + `"}`, http.StatusBadRequest, "4096"},
		{"as nobody", `{"as":1003,"chat":1003,"text":"approve"}`, http.StatusBadRequest, "people"},
		{"in another's chat", `{"as":1002,"chat":1001,"text":"approve"}`, http.StatusForbidden, "not in that chat"},
		{"in a group not joined", `{"as":1002,"chat":-1001000000001,"text":"approve"}`, http.StatusForbidden, "not in that chat"},
		{"to a message that is not there", `{"as":1001,"chat":1001,"reply_to":99,"text":"approve"}`, http.StatusConflict, "no message 99"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			w := s.do(http.MethodPost, "/api/send", c.body)
			if w.Code != c.want || !strings.Contains(w.Body.String(), c.text) {
				t.Fatalf("%d %s, want %d with %q", w.Code, w.Body, c.want, c.text)
			}
			if c.want != http.StatusOK {
				return
			}
			if m := read[simulator.Message](t, w.Body.Bytes()); m.Text != "approve" || m.From.ID != annID {
				t.Errorf("sent %+v", m)
			}
		})
	}
}

func TestTap(t *testing.T) {
	s := newStage(t)
	s.bot("sendMessage", map[string]any{
		"chat_id": annID, "text": "Trash 3 emails?",
		"reply_markup": map[string]any{"inline_keyboard": [][]any{{map[string]any{"text": "Reject", "callback_data": "r1"}}}},
	})
	cases := []struct {
		name, body string
		want       int
		text       string
	}{
		{"a button", `{"as":1001,"chat":1001,"message":2,"data":"r1"}`, http.StatusOK, `"callback":"`},
		{"one that is no longer there", `{"as":1001,"chat":1001,"message":2,"data":"a1"}`, http.StatusConflict, "DATA_INVALID"},
		{"in another's chat", `{"as":1002,"chat":1001,"message":2,"data":"r1"}`, http.StatusForbidden, "not in that chat"},
		{"as nobody", `{"as":5,"chat":1001,"message":2,"data":"r1"}`, http.StatusBadRequest, "people"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := s.sim.PendingUpdates()
			w := s.do(http.MethodPost, "/api/tap", c.body)
			if w.Code != c.want || !strings.Contains(w.Body.String(), c.text) {
				t.Errorf("%d %s, want %d with %q", w.Code, w.Body, c.want, c.text)
			}
			if tapped := s.sim.PendingUpdates() > before; tapped != (c.want == http.StatusOK) {
				t.Errorf("reached the bot: %t", tapped)
			}
		})
	}
}

func TestSample(t *testing.T) {
	s := newStage(t)
	if w := s.do(http.MethodPost, "/api/sample", `{"sample":"trash"}`); w.Code != http.StatusAccepted {
		t.Errorf("pressed: %d %s", w.Code, w.Body)
	}
	if w := s.do(http.MethodPost, "/api/sample", `{"sample":"other"}`); w.Code != http.StatusNotFound {
		t.Errorf("an unknown sample: %d", w.Code)
	}
	s.runtimes.fails = errors.New("no bot is serving this queue")
	if w := s.do(http.MethodPost, "/api/sample", `{"sample":"trash"}`); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "no bot is serving") {
		t.Errorf("one that fails: %d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff([]string{"trash", "trash"}, s.runtimes.pressed); diff != "" {
		t.Errorf("pressed (-want +got)\n%s", diff)
	}
}

func TestFile(t *testing.T) {
	s := newStage(t)
	s.upload("list.txt", "1. <b>one</b>\n")
	s.upload("page.html", "<script>alert(1)</script>")
	cases := []struct {
		target, kind, disposition, body string
		want                            int
	}{
		{"/api/file/1001/2?as=1001", "text/plain; charset=utf-8", "inline; filename=list.txt", "1. <b>one</b>\n", http.StatusOK},
		{"/api/file/1001/2?as=1001&download=1", "text/plain; charset=utf-8", "attachment; filename=list.txt", "1. <b>one</b>\n", http.StatusOK},
		{"/api/file/1001/3?as=1001", "application/octet-stream", "attachment; filename=page.html", "<script>alert(1)</script>", http.StatusOK},
		{"/api/file/1001/2?as=1002", "", "", "", http.StatusNotFound},
		{"/api/file/1001/1?as=1001", "", "", "", http.StatusNotFound},
		{"/api/file/1001/9?as=1001", "", "", "", http.StatusNotFound},
		{"/api/file/x/9?as=1001", "", "", "", http.StatusNotFound},
	}
	for _, c := range cases {
		w := s.do(http.MethodGet, c.target, "")
		if w.Code != c.want {
			t.Errorf("GET %s = %d, want %d", c.target, w.Code, c.want)
			continue
		}
		if c.want != http.StatusOK {
			continue
		}
		h := w.Header()
		if h.Get("Content-Type") != c.kind || h.Get("Content-Disposition") != c.disposition || w.Body.String() != c.body {
			t.Errorf("GET %s = %q %q %q", c.target, h.Get("Content-Type"), h.Get("Content-Disposition"), w.Body)
		}
		if !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s may run what it holds: %v", c.target, h)
		}
	}
}
