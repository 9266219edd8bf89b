package main

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// How often one cause is told of: at most once a second, and the longer it goes
// on without a rest, the more seldom.
const (
	sparseFirst = time.Second
	sparseMost  = 30 * time.Second
	sparseKept  = 1000 // causes remembered
)

// sparse keeps one cause, known by level and message, from filling the log: an
// outage of Redis meets every approval that is in hand. What was not said is
// counted on the line that is said next. It is safe for concurrent use.
type sparse struct {
	now func() time.Time

	mu     sync.Mutex // guards causes
	causes map[cause]*telling
}

type cause struct {
	level   zerolog.Level
	message string
}

// A telling is how one cause was told of.
type telling struct {
	said   time.Time
	wait   time.Duration // from there to the next
	unsaid int
}

// newSparse returns a hook for a logger.
func newSparse(now func() time.Time) *sparse {
	return &sparse{now: now, causes: map[cause]*telling{}}
}

// Run implements [zerolog.Hook].
func (s *sparse) Run(e *zerolog.Event, level zerolog.Level, message string) {
	ok, unsaid := s.say(cause{level, message})
	switch {
	case !ok:
		e.Discard()
	case unsaid > 0:
		e.Int("unsaid", unsaid)
	}
}

// say reports whether a cause may be told now, and how often it was not since it
// was told last.
func (s *sparse) say(c cause) (ok bool, unsaid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	t := s.causes[c]
	if t == nil {
		s.forget(now)
		s.causes[c] = &telling{said: now, wait: sparseFirst}
		return true, 0
	}
	// A clock that was put back must not silence anything.
	if since := now.Sub(t.said); since >= 0 && since < t.wait {
		t.unsaid++
		return false, 0
	}
	unsaid = t.unsaid
	next := telling{said: now, wait: sparseFirst}
	if unsaid > 0 {
		next.wait = min(2*t.wait, sparseMost)
	}
	*t = next
	return true, unsaid
}

// forget makes room: messages are few and fixed, but nobody else keeps them so.
func (s *sparse) forget(now time.Time) {
	if len(s.causes) < sparseKept {
		return
	}
	for c, t := range s.causes {
		if since := now.Sub(t.said); since < 0 || since >= sparseMost {
			delete(s.causes, c)
		}
	}
	if len(s.causes) >= sparseKept {
		clear(s.causes)
	}
}
