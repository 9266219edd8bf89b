package handlers

import (
	"context"
	"sync"
)

// lanes let one at a time handle updates of a chat, in the order in which they
// came. They are safe for concurrent use.
type lanes struct {
	mu sync.Mutex // guards in
	in map[int64]*gate
}

// A gate is one chat's. Who holds its one token is in; those who wait for it get
// it in order.
type gate struct {
	token chan struct{}
	users int // who are in or wait
}

func newLanes() *lanes { return &lanes{in: map[int64]*gate{}} }

// enter waits until nobody else is in.
func (l *lanes) enter(ctx context.Context, chat int64) error {
	l.mu.Lock()
	g, ok := l.in[chat]
	if !ok {
		g = &gate{token: make(chan struct{}, 1)}
		g.token <- struct{}{}
		l.in[chat] = g
	}
	g.users++
	l.mu.Unlock()
	select {
	case <-g.token:
		return nil
	case <-ctx.Done():
		l.drop(chat, g)
		return context.Cause(ctx)
	}
}

// leave lets the next one in.
func (l *lanes) leave(chat int64) {
	l.mu.Lock()
	g := l.in[chat]
	l.mu.Unlock()
	g.token <- struct{}{}
	l.drop(chat, g)
}

func (l *lanes) drop(chat int64, g *gate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.users--; g.users == 0 {
		delete(l.in, chat)
	}
}
