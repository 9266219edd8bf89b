package handlers_test

import (
	"context"
	"strings"
	"sync"

	"countersign/telegram"
)

// A voice hears what is said.
type voice struct {
	mu      sync.Mutex // guards what follows
	taps    []string   // answers to taps
	to      []string   // the taps they were answers to
	said    []telegram.Outgoing
	asked   []telegram.Outgoing
	files   []telegram.Document
	message int                                            // the last question's
	next    func() int                                     // gives message ids
	ask     func(telegram.Outgoing) (telegram.Sent, error) // in place of taking every question
	file    func(telegram.Document) (telegram.Sent, error)
}

func (v *voice) Answer(_ context.Context, callback, text string, _ bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.taps, v.to = append(v.taps, text), append(v.to, callback)
}

func (v *voice) Say(_ context.Context, m telegram.Outgoing) (telegram.Sent, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said = append(v.said, m)
	return telegram.Sent{MessageID: 1}, nil
}

func (v *voice) Ask(_ context.Context, m telegram.Outgoing) (telegram.Sent, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = append(v.asked, m)
	if v.ask != nil {
		return v.ask(m)
	}
	v.message = v.next()
	return telegram.Sent{MessageID: v.message}, nil
}

func (v *voice) File(_ context.Context, d telegram.Document) (telegram.Sent, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.files = append(v.files, d)
	if v.file != nil {
		return v.file(d)
	}
	return telegram.Sent{MessageID: 1}, nil
}

func (v *voice) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.taps, v.to, v.said, v.asked, v.files = nil, nil, nil, nil, nil
}

func (v *voice) answered() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.taps...)
}

func (v *voice) words() []telegram.Outgoing {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]telegram.Outgoing(nil), v.said...)
}

func (v *voice) questions() []telegram.Outgoing {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]telegram.Outgoing(nil), v.asked...)
}

func (v *voice) documents() []telegram.Document {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]telegram.Document(nil), v.files...)
}

// question is the message id of the last question asked.
func (v *voice) question() int { v.mu.Lock(); defer v.mu.Unlock(); return v.message }

// A counter counts events.
type counter struct {
	mu sync.Mutex // guards n
	n  map[string]int
}

func (c *counter) count(event string, labels ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[strings.Join(append([]string{event}, labels...), " ")]++
}

func (c *counter) of(event string) int { c.mu.Lock(); defer c.mu.Unlock(); return c.n[event] }
