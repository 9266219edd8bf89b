package handlers

import (
	"sync"
	"time"
)

// How long things are remembered. Telegram keeps a tap for 150 seconds.
const (
	tapMemory    = 10 * time.Minute
	updateMemory = time.Hour
)

// A memory is what this process remembers of late. To lose it in a restart
// costs a word said twice, never an effect.
type memory struct {
	now func() time.Time

	mu       sync.Mutex          // guards what follows
	answered recent[string]      // taps that got their answer: Telegram takes one
	done     recent[int64]       // updates whose effect is in Redis, but not that they were handled
	strange  map[int64]time.Time // when each stranger got an answer last
	swept    time.Time           // when strange was last tidied up
}

func newMemory(now func() time.Time) *memory {
	return &memory{
		now: now, strange: map[int64]time.Time{},
		answered: recent[string]{span: tapMemory}, done: recent[int64]{span: updateMemory},
	}
}

// answer reports whether a tap is still to be answered, and takes it as answered
// from now on.
func (m *memory) answer(callback string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answered.add(callback, m.now())
}

// wasDone reports whether the effect of an update is in Redis, although it could
// not be recorded as handled.
func (m *memory) wasDone(id int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done.has(id)
}

func (m *memory) setDone(id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.add(id, m.now())
}

// strangerQuiet is how long a stranger gets no second answer.
const strangerQuiet = time.Minute

// answerStranger reports whether a stranger is to get an answer, and takes them
// as answered from now on.
func (m *memory) answerStranger(id int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if last, ok := m.strange[id]; ok && now.Sub(last) < strangerQuiet {
		return false
	}
	if now.Sub(m.swept) >= strangerQuiet {
		m.swept = now
		for id, at := range m.strange {
			if now.Sub(at) >= strangerQuiet {
				delete(m.strange, id)
			}
		}
	}
	m.strange[id] = now
	return true
}

// recent is a set that forgets: a key stays for at least span, and goes with the
// first key that is added after twice that.
type recent[K comparable] struct {
	span       time.Duration
	turned     time.Time
	young, old map[K]struct{}
}

// add adds a key, and reports whether it was not there.
func (r *recent[K]) add(k K, now time.Time) bool {
	if r.has(k) {
		return false
	}
	if r.young == nil || now.Sub(r.turned) >= r.span {
		r.old, r.young = r.young, map[K]struct{}{}
		if now.Sub(r.turned) >= 2*r.span {
			r.old = nil
		}
		r.turned = now
	}
	r.young[k] = struct{}{}
	return true
}

func (r *recent[K]) has(k K) bool {
	_, young := r.young[k]
	_, old := r.old[k]
	return young || old
}
