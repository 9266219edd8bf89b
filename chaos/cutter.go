package main

import (
	"net"
	"sync"
	"time"
)

// A cutter stands between one bot and Redis, and can cut, hold up or slow down
// what passes. A cut hits a connection wherever it is: in the middle of a command
// or of a reply.
type cutter struct {
	listener net.Listener

	mu     sync.Mutex // guards what follows
	to     string     // where new connections go
	mode   mode
	change chan struct{} // closed when the mode changes
	snip   int           // bytes until the connection that carries the last of them is cut; 0: none
	open   map[net.Conn]struct{}
}

// A mode is what a cutter does.
type mode int

const (
	passing  mode = iota
	cut           // connections are reset, new ones too
	stalling      // nothing moves, and nobody is told
	slow          // every piece waits
)

// slowness is how long a piece waits while it is slow.
const slowness = 150 * time.Millisecond

func newCutter(to string) (*cutter, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &cutter{listener: l, to: to, change: make(chan struct{}), open: map[net.Conn]struct{}{}}
	go c.accept()
	return c, nil
}

func (c *cutter) address() string { return c.listener.Addr().String() }

// set changes the mode. A cut resets what is open.
func (c *cutter) set(m mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = m
	close(c.change)
	c.change = make(chan struct{})
	if m == cut {
		for conn := range c.open {
			reset(conn)
		}
	}
}

// lead has new connections go to another server. Those that are open stay where
// they are.
func (c *cutter) lead(to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
}

// snipAfter cuts the connection that carries the last of n bytes, either way.
func (c *cutter) snipAfter(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.snip = n
}

func (c *cutter) close() {
	_ = c.listener.Close()
	c.set(cut)
}

func (c *cutter) accept() {
	for {
		in, err := c.listener.Accept()
		if err != nil {
			return
		}
		go c.serve(in)
	}
}

func (c *cutter) serve(in net.Conn) {
	if !c.enter(in) {
		return
	}
	defer c.leave(in)
	c.mu.Lock()
	to := c.to
	c.mu.Unlock()
	out, err := net.Dial("tcp", to)
	if err != nil {
		reset(in)
		return
	}
	if !c.enter(out) {
		reset(in)
		return
	}
	defer c.leave(out)
	var both sync.WaitGroup
	both.Go(func() { c.pump(out, in) })
	both.Go(func() { c.pump(in, out) })
	both.Wait()
}

// enter takes note of a connection, or resets it where everything is cut.
func (c *cutter) enter(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mode == cut {
		reset(conn)
		return false
	}
	c.open[conn] = struct{}{}
	return true
}

func (c *cutter) leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
	_ = conn.Close()
}

// pump passes bytes on until either side is gone.
func (c *cutter) pump(to, from net.Conn) {
	defer func() { reset(to); reset(from) }()
	piece := make([]byte, 16<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			pass, whole := c.pass(n)
			if _, werr := to.Write(piece[:pass]); werr != nil || !whole {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits as the mode wants, and says how many of n bytes may go on; whole is
// false where the connection is to be cut after them.
func (c *cutter) pass(n int) (pass int, whole bool) {
	for waited := false; ; {
		c.mu.Lock()
		m, change := c.mode, c.change
		if m == passing || m == slow && waited {
			defer c.mu.Unlock()
			if c.snip == 0 || c.snip > n {
				c.snip = max(c.snip-n, 0)
				return n, true
			}
			pass, c.snip = c.snip, 0
			return pass, false
		}
		c.mu.Unlock()
		switch m {
		case cut:
			return 0, false
		case slow:
			timer := time.NewTimer(slowness)
			select {
			case <-timer.C:
				waited = true
			case <-change:
			}
			timer.Stop()
		default:
			<-change
		}
	}
}

// reset ends a connection as a crashed machine does.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
