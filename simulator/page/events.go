package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"countersign/simulator"
)

// beat is how often an idle stream shows that it lives.
const beat = 15 * time.Second

// A stream is one open connection. Its request's goroutine owns it.
type stream struct {
	*page
	viewer int64
	w      http.ResponseWriter
	at     position
	groups map[int64]bool  // that the viewer is in
	told   <-chan struct{} // by which the board that the client has can be told from a newer one
}

// where is the place that an event is about.
type where struct {
	Chat     int64  `json:"chat"`
	Thread   int64  `json:"thread,omitempty"`
	Message  int64  `json:"message,omitempty"`
	User     int64  `json:"user,omitempty"`
	Callback string `json:"callback,omitempty"`
	Data     string `json:"data,omitempty"`
	Text     string `json:"text,omitempty"`
	Alert    bool   `json:"alert,omitempty"`
}

func (p *page) serveEvents(w http.ResponseWriter, r *http.Request) {
	viewer, ok := p.viewer(w, r)
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{page: p, viewer: viewer, w: w, at: parsePosition(r.Header.Get("Last-Event-ID"))}
	_ = s.run(r.Context()) // ends when the browser leaves, which is nobody's fault
}

// run sends what is new until the client leaves or the server ends.
func (s *stream) run(ctx context.Context) error {
	if s.at.epoch != s.epoch {
		if err := s.everything(); err != nil {
			return err
		}
	} else {
		s.look()
	}
	for {
		changes, news := s.server.Changes(s.at.changes)
		entries, more := s.runtimes.Log(s.at.entries)
		if err := s.sendAll(changes, entries); err != nil {
			return err
		}
		turned, err := s.board()
		if err != nil {
			return err
		}
		if err := http.NewResponseController(s.w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		if len(changes)+len(entries) > 0 {
			continue
		}
		idle := time.NewTimer(beat)
		select {
		case <-ctx.Done():
			idle.Stop()
			return ctx.Err()
		case <-news:
		case <-more:
		case <-turned:
		case <-idle.C:
			if _, err := fmt.Fprint(s.w, ": still here\n\n"); err != nil {
				return err
			}
		}
		idle.Stop()
	}
}

// sendAll sends what is new, or everything if some of that is already forgotten.
func (s *stream) sendAll(changes []simulator.Change, entries []Entry) error {
	forgot := len(changes) > 0 && changes[0].Seq > s.at.changes+1 ||
		len(entries) > 0 && entries[0].Seq > s.at.entries+1
	if forgot {
		return s.everything()
	}
	for _, c := range changes {
		if c.Seq <= s.at.changes {
			continue // a snapshot on the way has covered it
		}
		s.at.changes = c.Seq
		if err := s.change(c); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if e.Seq <= s.at.entries {
			continue
		}
		s.at.entries = e.Seq
		if err := s.send("entry", e); err != nil {
			return err
		}
	}
	return nil
}

// change sends one change, if the viewer sees it.
func (s *stream) change(c simulator.Change) error {
	if c.Kind == simulator.ChatChanged {
		return s.everything() // rare, and it may have opened or closed a chat
	}
	if c.Chat != s.viewer && !s.groups[c.Chat] {
		return nil
	}
	place := where{Chat: c.Chat, Thread: c.Thread, Message: c.Message, User: c.User, Callback: c.Callback, Data: c.Data, Text: c.Text, Alert: c.Alert}
	switch c.Kind {
	case simulator.MessageSent, simulator.MessageEdited:
		m, ok := s.server.Message(c.Chat, c.Message)
		if !ok {
			return nil // deleted since, which another change says
		}
		return s.send("message", m)
	case simulator.MessageDeleted:
		return s.send("deleted", place)
	case simulator.CallbackTapped:
		return s.send("tapped", place)
	case simulator.CallbackAnswered:
		if c.User != s.viewer {
			return nil
		}
		return s.send("answered", place)
	case simulator.ChatAction:
		return s.send("action", place)
	}
	return nil
}

// everything sends a snapshot.
func (s *stream) everything() error {
	snap, at := s.snapshot(s.viewer)
	s.at = at
	s.remember(snap.Chats)
	return s.send("snapshot", snap)
}

// look finds out which groups the viewer is in.
func (s *stream) look() { s.remember(s.server.Snapshot(s.viewer, 1).Chats) }

func (s *stream) remember(chats []simulator.ChatView) {
	s.groups = map[int64]bool{}
	for _, c := range chats {
		s.groups[c.Chat.ID] = true
	}
}

// send writes one event. JSON has no line breaks outside of strings, nor in them, so
// that its data is one line.
func (s *stream) send(kind string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("event %s: %w", kind, err)
	}
	_, err = fmt.Fprintf(s.w, "event: %s\nid: %s\ndata: %s\n\n", kind, s.at, data)
	return err
}
