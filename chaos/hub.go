package main

import (
	"context"
	"regexp"
	"slices"
	"sync"
	"time"

	"countersign/chaos/verdict"
	"countersign/simulator"
)

// A hub is what people see on their screens: the newest version of every message
// of the bot, sorted by the approval it is about.
type hub struct {
	sim *simulator.Server

	mu     sync.Mutex // guards what follows
	desks  map[string]*desk
	toasts map[string]chan struct{} // closed when a tap was answered
	newest []verdict.Place          // of late, for those who tap at random
	seen   map[verdict.Place]verdict.Message
}

// A desk is the messages about one approval.
type desk struct {
	news     chan struct{} // closed at the next change
	ref      string        // the short reference, once a card has shown it
	messages map[verdict.Place]simulator.Message
}

func newHub(sim *simulator.Server) *hub {
	return &hub{sim: sim, desks: map[string]*desk{}, toasts: map[string]chan struct{}{}, seen: map[verdict.Place]verdict.Message{}}
}

// follow takes in what happens until ctx ends.
func (h *hub) follow(ctx context.Context) {
	for c := range h.sim.Follow(ctx, 0) {
		switch c.Kind {
		case simulator.MessageSent, simulator.MessageEdited:
			if m, ok := h.sim.Message(c.Chat, c.Message); ok && m.From != nil && m.From.IsBot {
				h.take(m)
			}
		case simulator.MessageDeleted:
			h.gone(verdict.Place{Chat: c.Chat, Message: c.Message})
		case simulator.CallbackAnswered:
			h.answered(c.Callback)
		}
	}
}

func (h *hub) desk(id string) *desk {
	d := h.desks[id]
	if d == nil {
		d = &desk{news: make(chan struct{}), messages: map[verdict.Place]simulator.Message{}}
		h.desks[id] = d
	}
	return d
}

func (d *desk) tell() {
	close(d.news)
	d.news = make(chan struct{})
}

func (h *hub) take(m simulator.Message) {
	data := buttons(m.ReplyMarkup)
	id, kind, _ := describe(m.Text, data)
	place := verdict.Place{Chat: m.Chat.ID, Message: m.MessageID}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen[place] = verdict.Message{Chat: place.Chat, ID: place.Message, Kind: kind, Approval: id, Text: m.Text, Buttons: data}
	if id == "" {
		return
	}
	if kind == verdict.ACard {
		h.newest = append(h.newest, place)
		if len(h.newest) > 200 {
			h.newest = slices.Clone(h.newest[100:])
		}
	}
	d := h.desk(id)
	d.messages[place] = m
	if kind == verdict.ACard && ref(m) != "" {
		d.ref = ref(m)
	}
	d.tell()
}

func (h *hub) gone(place verdict.Place) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.seen[place]
	if !ok {
		return
	}
	m.Deleted = true
	h.seen[place] = m
	if d := h.desks[m.Approval]; d != nil {
		delete(d.messages, place)
		d.tell()
	}
}

func (h *hub) answered(callback string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.toasts[callback]; c != nil {
		close(c)
		delete(h.toasts, callback)
	}
}

// toast waits for the answer to a tap, and reports whether it came.
func (h *hub) toast(ctx context.Context, callback string, within time.Duration) bool {
	h.mu.Lock()
	if _, ok := h.sim.Answer(callback); ok {
		h.mu.Unlock()
		return true
	}
	c := h.toasts[callback]
	if c == nil {
		c = make(chan struct{})
		h.toasts[callback] = c
	}
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	select {
	case <-c:
		return true
	case <-ctx.Done():
		return false
	}
}

// find waits until a message about an approval fits, oldest first.
func (h *hub) find(ctx context.Context, id string, within time.Duration, fits func(simulator.Message) bool) (simulator.Message, bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		h.mu.Lock()
		d := h.desk(id)
		news := d.news
		var found *simulator.Message
		for _, m := range d.messages {
			if (found == nil || m.MessageID > found.MessageID) && fits(m) {
				found = &m
			}
		}
		h.mu.Unlock()
		if found != nil {
			return *found, true
		}
		select {
		case <-news:
		case <-ctx.Done():
			return simulator.Message{}, false
		}
	}
}

// remembered is the reference that a card has shown, "" before.
func (h *hub) remembered(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.desk(id).ref
}

// messages are all messages of the bot that ever were.
func (h *hub) messages() []verdict.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []verdict.Message
	for _, m := range h.seen {
		all = append(all, m)
	}
	return all
}

// button is the data of a message's button with a letter, "" where there is none.
func button(m simulator.Message, letter byte) string {
	for _, data := range buttons(m.ReplyMarkup) {
		if data != "" && data[0] == letter {
			return data
		}
	}
	return ""
}

// over reports whether a message shows an outcome.
func over(m simulator.Message) bool {
	_, kind, badge := describe(m.Text, buttons(m.ReplyMarkup))
	return kind == verdict.ACard && outcome.MatchString(badge)
}

var outcome = regexp.MustCompile(`Approved by |Rejected by |Lapsed ·|Withdrawn ·|Refused ·`)

var refPattern = regexp.MustCompile(`#([A-Z0-9]{5})\b`)

// ref is the short reference on a card.
func ref(m simulator.Message) string {
	if found := refPattern.FindStringSubmatch(m.Text); found != nil {
		return found[1]
	}
	return ""
}
