package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// The letters of the marks by which the API knows what a call is about: those of cards
// stand in the title, those of taps are the ids of the taps.
const (
	markCard   = 'k'
	markAction = 'q'
	markYes    = 'y'
)

// A deed is a call that arrived: what it was, and about which approval.
type deed struct {
	what string
	n    int
	at   time.Time

	// Of a message with buttons: which it is, and the data of the first and of the one
	// that says yes.
	message    int64
	first, yes string
}

// What deeds are of.
const (
	deedSend   = "sendMessage"
	deedEdit   = "editMessageText"
	deedAnswer = "answerCallbackQuery"
	deedPoll   = "getUpdates"
)

// An api is the Bot API of one bot. It is safe for concurrent use.
type api struct {
	listener net.Listener
	delay    time.Duration // before the answer to anything but a poll
	watch    func(deed)    // told of every call, by the goroutine of its connection

	message atomic.Int64 // the last message's number

	mu      sync.Mutex // guards what follows
	pending [][]byte   // updates that were not confirmed
	first   int64      // the id of the first of them
	news    chan struct{}
}

// newAPI serves until ctx ends. Messages and updates are numbered from a number on.
func newAPI(ctx context.Context, from int64, delay time.Duration, watch func(deed)) (*api, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &api{listener: l, delay: delay, watch: watch, first: from, news: make(chan struct{})}
	a.message.Store(from)
	go serve(ctx, l, a.handle)
	return a, nil
}

func (a *api) url() string { return "http://" + a.listener.Addr().String() }

// handle answers one call.
func (a *api) handle(ctx context.Context, c call) []byte {
	d := deed{what: c.method, n: -1, at: c.at}
	switch c.method {
	case deedPoll:
		a.watch(d)
		return a.updates(ctx, c.body)
	case deedSend, deedEdit:
		d.n = marked(c.body, markCard)
		d.first, d.yes = buttons(c.body)
		id, ok := field(c.body, "message_id")
		if !ok || c.method == deedSend {
			id = a.message.Add(1)
		}
		d.message = id
	case deedAnswer:
		if d.n = marked(c.body, markYes); d.n < 0 {
			d.n = -2 - marked(c.body, markAction) // an answer to the first tap
		}
	}
	a.watch(d)
	if a.delay > 0 {
		after(ctx, a.delay)
	}
	switch c.method {
	case deedSend, deedEdit:
		return message(d.message)
	case "getMe":
		return []byte(`{"ok":true,"result":{"id":1,"is_bot":true,"first_name":"Bench","username":"bench_bot","can_read_all_group_messages":true}}`)
	case "getWebhookInfo":
		return []byte(`{"ok":true,"result":{"url":"","has_custom_certificate":false,"pending_update_count":0}}`)
	}
	return []byte(`{"ok":true,"result":true}`)
}

// message is the answer to a send or an edit.
func message(id int64) []byte {
	out := append(make([]byte, 0, 160), `{"ok":true,"result":{"message_id":`...)
	out = strconv.AppendInt(out, id, 10)
	return append(out, `,"date":1790000000,"chat":{"id":1001,"type":"private","first_name":"Ann"},"text":"a card"}}`...)
}

// tap lets the owner tap a button under a message; it can be fetched at once.
func (a *api) tap(id, data string, message int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = append(a.pending, fmt.Appendf(nil,
		`{"update_id":%d,"callback_query":{"id":%q,"from":{"id":%d,"is_bot":false,"first_name":"Ann"},`+
			`"message":{"message_id":%d,"date":1790000000,"chat":{"id":%d,"type":"private","first_name":"Ann"},"text":"a card"},`+
			`"chat_instance":"1","data":%q}}`, a.first+int64(len(a.pending)), id, owner, message, owner, data))
	close(a.news)
	a.news = make(chan struct{})
}

// updates answers a long poll.
func (a *api) updates(ctx context.Context, body []byte) []byte {
	offset, _ := field(body, "offset")
	timeout, _ := field(body, "timeout")
	limit, ok := field(body, "limit")
	if !ok {
		limit = 100
	}
	late := time.NewTimer(time.Duration(timeout) * time.Second)
	defer late.Stop()
	for {
		batch, news := a.take(offset, int(limit))
		if len(batch) > 0 {
			out := []byte(`{"ok":true,"result":[`)
			for i, u := range batch {
				if i > 0 {
					out = append(out, ',')
				}
				out = append(out, u...)
			}
			return append(out, "]}"...)
		}
		select {
		case <-news:
			continue
		case <-late.C:
		case <-ctx.Done():
		}
		return []byte(`{"ok":true,"result":[]}`)
	}
}

// take drops what an offset confirms, and returns what is there, or what tells of more.
func (a *api) take(offset int64, limit int) ([][]byte, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.pending) > 0 && a.first < offset {
		a.pending, a.first = a.pending[1:], a.first+1
	}
	return a.pending[:min(limit, len(a.pending)):min(limit, len(a.pending))], a.news
}

// after waits for d, or until ctx ends.
func after(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
