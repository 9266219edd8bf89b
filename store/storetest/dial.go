package storetest

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Dial connects to an embedded server through memory, as a synctest bubble needs it.
// Like a real connection it takes in what is written before the other side reads it:
// several commands are written before the first reply is read.
func Dial(m *miniredis.Miniredis) (net.Conn, error) {
	c, err := m.Dial()
	if err != nil {
		return nil, err
	}
	o := &outgoing{Conn: c, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.pump()
	return o, nil
}

// outgoing is a connection whose writes never wait.
type outgoing struct {
	net.Conn
	wake chan struct{}
	once sync.Once
	done chan struct{} // closed when it is closed

	mu    sync.Mutex // guards what follows
	queue []byte
}

// Write implements [net.Conn].
func (o *outgoing) Write(p []byte) (int, error) {
	select {
	case <-o.done:
		return 0, io.ErrClosedPipe
	default:
	}
	o.mu.Lock()
	o.queue = append(o.queue, p...)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

// pump writes what is queued, until the connection is closed.
func (o *outgoing) pump() {
	for {
		select {
		case <-o.wake:
		case <-o.done:
			return
		}
		o.mu.Lock()
		p := o.queue
		o.queue = nil
		o.mu.Unlock()
		if _, err := o.Conn.Write(p); err != nil {
			return // reading fails as well
		}
	}
}

// Close implements [net.Conn].
func (o *outgoing) Close() error {
	o.once.Do(func() { close(o.done) })
	return o.Conn.Close()
}

// SetDeadline implements [net.Conn]: only reading can be late.
func (o *outgoing) SetDeadline(t time.Time) error { return o.SetReadDeadline(t) }

// SetWriteDeadline implements [net.Conn].
func (*outgoing) SetWriteDeadline(time.Time) error { return nil }
