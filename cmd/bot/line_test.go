package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
)

// A line leads deliveries to whoever listens, through memory: a network of which
// every address is the same.
type line struct {
	mu        sync.Mutex // guards what follows
	listening []*lineEnd
	cut       bool
}

var errNobody = errors.New("connection refused")

// client makes calls on the line.
func (l *line) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
}

// setCut cuts the line, or mends it.
func (l *line) setCut(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
}

// listen listens on the line; whoever came last is reached.
func (l *line) listen(context.Context, string, string) (net.Listener, error) {
	e := &lineEnd{line: l, calls: make(chan net.Conn), closed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listening = append(l.listening, e)
	return e, nil
}

func (l *line) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	l.mu.Lock()
	cut, n := l.cut, len(l.listening)
	var e *lineEnd
	if n > 0 {
		e = l.listening[n-1]
	}
	l.mu.Unlock()
	if cut || e == nil {
		return nil, errNobody
	}
	ours, theirs := net.Pipe()
	select {
	case e.calls <- theirs:
		return ours, nil
	case <-e.closed:
		return nil, errNobody
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A lineEnd is where somebody listens.
type lineEnd struct {
	line   *line
	calls  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// Accept implements [net.Listener].
func (e *lineEnd) Accept() (net.Conn, error) {
	select {
	case c := <-e.calls:
		return c, nil
	case <-e.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (e *lineEnd) Close() error {
	e.once.Do(func() {
		e.line.mu.Lock()
		defer e.line.mu.Unlock()
		e.line.listening = slices.DeleteFunc(e.line.listening, func(o *lineEnd) bool { return o == e })
		close(e.closed)
	})
	return nil
}

// Addr implements [net.Listener].
func (e *lineEnd) Addr() net.Addr { return &net.TCPAddr{} }
