package main

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// echoed is a cutter before a server that sends back what it gets.
func echoed(t *testing.T) (*cutter, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn); _ = conn.Close() }()
		}
	}()
	c, err := newCutter(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c, dialed(t, c)
}

func dialed(t *testing.T, c *cutter) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", c.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func says(t *testing.T, conn net.Conn, word string) error {
	t.Helper()
	if _, err := io.WriteString(conn, word); err != nil {
		return err
	}
	back := make([]byte, len(word))
	if _, err := io.ReadFull(conn, back); err != nil {
		return err
	}
	if string(back) != word {
		t.Errorf("got %q back, want %q", back, word)
	}
	return nil
}

func TestCutterPasses(t *testing.T) {
	_, conn := echoed(t)
	for _, word := range []string{"one", "two", "three"} {
		if err := says(t, conn, word); err != nil {
			t.Fatal(err)
		}
	}
}

// A cut ends what is open and what is new, until it is over.
func TestCutterCuts(t *testing.T) {
	c, conn := echoed(t)
	if err := says(t, conn, "one"); err != nil {
		t.Fatal(err)
	}
	c.set(cut)
	if err := says(t, conn, "two"); err == nil {
		t.Error("an open connection went on")
	}
	if conn, err := net.Dial("tcp", c.address()); err == nil { // the reset may be as fast as that
		defer conn.Close()
		if says(t, conn, "three") == nil {
			t.Error("a new connection was served")
		}
	}
	c.set(passing)
	if err := says(t, dialed(t, c), "four"); err != nil {
		t.Error(err)
	}
}

// A snip cuts within a word.
func TestCutterSnips(t *testing.T) {
	c, conn := echoed(t)
	c.snipAfter(len("question") + 3)
	if _, err := io.WriteString(conn, "question"); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the connection ended with %v, want a reset", err)
	}
	if string(got) != "que" && len(got) > 0 { // a reset may take what was not read yet with it
		t.Errorf("got %q", got)
	}
	if err := says(t, dialed(t, c), "again"); err != nil {
		t.Error(err)
	}
}

// What is held up arrives once it is let go.
func TestCutterStalls(t *testing.T) {
	c, conn := echoed(t)
	c.set(stalling)
	var reply sync.WaitGroup
	var err error
	reply.Go(func() { err = says(t, conn, "late") })
	c.set(passing)
	reply.Wait()
	if err != nil {
		t.Error(err)
	}
}
