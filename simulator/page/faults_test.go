package page_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator/page"
)

// troubles are faults as a test writes them.
type troubles struct {
	mu     sync.Mutex // guards everything below
	board  page.Board
	turned chan struct{}
	done   []string
	fails  error
}

func (f *troubles) Board() (page.Board, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.board, f.turned
}

func (f *troubles) Begin(_ context.Context, fault string) error { return f.do("begin " + fault) }

func (f *troubles) End(_ context.Context, fault string) error { return f.do("end " + fault) }

func (f *troubles) do(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, what)
	f.board.Log = append(f.board.Log, page.Happening{Text: what})
	close(f.turned)
	f.turned = make(chan struct{})
	return f.fails
}

// withTroubles puts a page with one fault to press on the stage.
func withTroubles(s *stage) *troubles {
	f := &troubles{turned: make(chan struct{}), board: page.Board{Faults: []page.Fault{{Name: "kill", Title: "Kill the bot"}}}}
	s.handler = page.New(s.sim, s.runtimes, f)
	return f
}

func TestFault(t *testing.T) {
	s := newStage(t)
	f := withTroubles(s)
	cases := []struct {
		body string
		want int
		text string
	}{
		{`{"fault":"kill"}`, http.StatusAccepted, "{}"},
		{`{"fault":"kill","end":true}`, http.StatusAccepted, "{}"},
		{`{"fault":"flood"}`, http.StatusNotFound, "no such fault"},
		{`{"fault":"kill","begin":true}`, http.StatusBadRequest, "not understood"},
	}
	for _, c := range cases {
		if w := s.do(http.MethodPost, "/api/fault", c.body); w.Code != c.want || !strings.Contains(w.Body.String(), c.text) {
			t.Errorf("%s: %d %s", c.body, w.Code, w.Body)
		}
	}
	if w := s.do(http.MethodPost, "/api/fault", `{"fault":"kill"}`, "Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"); w.Code != http.StatusForbidden {
		t.Errorf("from another site: %d", w.Code)
	}
	f.fails = errors.New("it is dead already")
	if w := s.do(http.MethodPost, "/api/fault", `{"fault":"kill"}`); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "dead already") {
		t.Errorf("one that fails: %d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff([]string{"begin kill", "end kill", "begin kill"}, f.done); diff != "" {
		t.Errorf("done (-want +got)\n%s", diff)
	}
}

// The board comes at the beginning, and again when it has changed.
func TestStreamShowsTheBoard(t *testing.T) {
	s := newStage(t)
	f := withTroubles(s)
	next, _ := s.follow("/api/events?as=1001", "")
	if e := next(); e.Kind != "snapshot" || len(read[page.Snapshot](t, e.Data).Board.Faults) != 1 {
		t.Fatalf("first %s %s", e.Kind, e.Data)
	}
	for _, want := range []int{0, 1, 2} {
		e := next()
		if e.Kind != "board" || len(read[page.Board](t, e.Data).Log) != want {
			t.Fatalf("got %s %s, want a board with %d happenings", e.Kind, e.Data, want)
		}
		_ = f.do("something")
	}
}
