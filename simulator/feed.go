package simulator

import (
	"context"
	"iter"
	"slices"
	"time"
)

// Kinds of changes.
const (
	MessageSent      = "message.sent"
	MessageEdited    = "message.edited"
	MessageDeleted   = "message.deleted"
	CallbackTapped   = "callback.tapped"
	CallbackAnswered = "callback.answered"
	ChatAction       = "chat.action"  // the bot is typing, uploading and the like
	ChatChanged      = "chat.changed" // members, topics, pins, blocks; commands, of no chat in particular
)

// feedLimit is how many changes are kept for those who come late.
const feedLimit = 10_000

// A Change says that something is new. It names the place; [Server.Snapshot] or
// [Server.Message] show what it looks like.
type Change struct {
	Seq      uint64    `json:"seq"` // from 1
	At       time.Time `json:"at"`
	Kind     string    `json:"kind"`
	Chat     int64     `json:"chat,omitempty"`
	Thread   int64     `json:"thread,omitempty"`
	Message  int64     `json:"message,omitempty"`
	User     int64     `json:"user,omitempty"`     // who did it; 0: nobody in particular
	Callback string    `json:"callback,omitempty"` // id of the callback query
	Data     string    `json:"data,omitempty"`     // of the tapped button
	Text     string    `json:"text,omitempty"`     // of an answer or an action
	Alert    bool      `json:"alert,omitempty"`    // the answer is an alert
}

// feed numbers changes and wakes those who wait. The server's mutex guards it.
type feed struct {
	seq     uint64
	changes []Change
	news    chan struct{} // closed at the next change of anything
}

func newFeed() feed { return feed{news: make(chan struct{})} }

// wake wakes everybody who waits for anything. The caller holds mu.
func (s *Server) wake() {
	close(s.feed.news)
	s.feed.news = make(chan struct{})
}

// note records a change. The caller holds mu.
func (s *Server) note(c Change) {
	s.feed.seq++
	c.Seq, c.At = s.feed.seq, s.options.Now()
	s.feed.changes = appendLimited(s.feed.changes, c, feedLimit)
	s.wake()
}

// Changes returns the changes after a sequence number, oldest first, and a channel that
// is closed when there may be more. If older ones are already forgotten, the first
// returned has a higher number than expected.
func (s *Server) Changes(after uint64) ([]Change, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.feed.changes
	i, _ := slices.BinarySearchFunc(list, after+1, func(c Change, seq uint64) int {
		if c.Seq < seq {
			return -1
		}
		if c.Seq > seq {
			return 1
		}
		return 0
	})
	return slices.Clone(list[i:]), s.feed.news
}

// Follow yields every change after a sequence number until the context ends or the
// server is closed.
func (s *Server) Follow(ctx context.Context, after uint64) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for {
			list, news := s.Changes(after)
			for _, c := range list {
				after = c.Seq
				if !yield(c) {
					return
				}
			}
			if len(list) > 0 {
				continue
			}
			select {
			case <-news:
			case <-ctx.Done():
				return
			case <-s.ctx.Done():
				return
			}
		}
	}
}

// Wait returns when the condition holds, which is looked at after each change and each
// call, without any lock; or with the context's error.
func (s *Server) Wait(ctx context.Context, condition func() bool) error {
	for {
		s.mu.Lock()
		news := s.feed.news
		s.mu.Unlock()
		if condition() {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
}
