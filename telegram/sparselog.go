package telegram

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// quiet is how long something that was logged is then only counted.
const quiet = 30 * time.Second

// sparseLog logs each cause once in a while, so that an outage of an hour, or one that comes and goes, does not fill a
// disk. It is safe for concurrent use.
type sparseLog struct {
	log zerolog.Logger
	now func() time.Time

	mu   sync.Mutex // guards said
	said map[string]said
}

type said struct {
	at     time.Time
	unsaid int // times since then
}

func newSparseLog(log zerolog.Logger, now func() time.Time) *sparseLog {
	return &sparseLog{log: log, now: now, said: make(map[string]said)}
}

// say logs message with err, which may be nil, or only counts it where the same cause was logged within the last 30 s.
// Causes are few and fixed, never taken from input.
func (s *sparseLog) say(level zerolog.Level, cause string, err error, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	last, known := s.said[cause]
	if known && now.Sub(last.at) < quiet {
		last.unsaid++
		s.said[cause] = last
		return
	}
	event := s.log.WithLevel(level).Str("cause", cause).AnErr("error", err)
	if last.unsaid > 0 {
		event = event.Int("unsaid", last.unsaid)
	}
	event.Msg(message)
	s.said[cause] = said{at: now}
}
