package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// A spokenLine is one line of a log.
type spokenLine struct {
	Message string
	Unsaid  int
	at      time.Time
}

// sparseLog is a limited log, the clock it goes by, and what was said.
func sparseLog(t *testing.T) (zerolog.Logger, *heldClock, func() []spokenLine) {
	t.Helper()
	clock := &heldClock{at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	var out bytes.Buffer
	var lines []spokenLine
	log := zerolog.New(&out).Hook(newSparse(clock.Now))
	return log, clock, func() []spokenLine {
		for {
			text, err := out.ReadBytes('\n')
			if err != nil {
				return lines
			}
			line := spokenLine{at: clock.Now()}
			if err := json.Unmarshal(text, &line); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
	}
}

// A cause that goes on for an hour is told at most once a second, more and more
// seldom, and nothing of it is left out of the count.
func TestSparseOverAnOutage(t *testing.T) {
	log, clock, said := sparseLog(t)
	const times = 36_000
	for range times {
		log.Error().Msg("Redis is away")
		said()
		clock.move(100 * time.Millisecond)
	}
	clock.move(time.Minute)
	log.Error().Msg("Redis is away")
	lines := said()
	total := len(lines)
	for i, line := range lines {
		total += line.Unsaid
		if i > 0 && line.at.Sub(lines[i-1].at) < time.Second {
			t.Fatalf("two lines within %v", line.at.Sub(lines[i-1].at))
		}
	}
	if total != times+1 {
		t.Errorf("%d were said or counted, want %d", total, times+1)
	}
	if n := len(lines); n < 100 || n > 150 {
		t.Errorf("%d lines in an hour, want about 120", n)
	}
}

// What does not go on is told each time, and one cause hides no other.
func TestSparseTellsApart(t *testing.T) {
	log, clock, said := sparseLog(t)
	for range 5 {
		log.Error().Msg("one")
		log.Error().Msg("another")
		log.Warn().Msg("one")
		clock.move(time.Second)
	}
	if n := len(said()); n != 15 {
		t.Errorf("%d lines, want 15", n)
	}
}

// A host's clock that is put back silences nothing.
func TestSparseClockPutBack(t *testing.T) {
	log, clock, said := sparseLog(t)
	log.Error().Msg("one")
	clock.move(-time.Hour)
	log.Error().Msg("one")
	if n := len(said()); n != 2 {
		t.Errorf("%d lines, want 2", n)
	}
}

// Causes beyond number cost no memory beyond bounds.
func TestSparseIsBounded(t *testing.T) {
	clock := &heldClock{}
	s := newSparse(clock.Now)
	for i := range 10 * sparseKept {
		if ok, _ := s.say(cause{zerolog.InfoLevel, fmt.Sprint("cause ", i)}); !ok {
			t.Fatalf("cause %d is not told", i)
		}
		if len(s.causes) > sparseKept {
			t.Fatalf("%d causes are kept", len(s.causes))
		}
	}
}
