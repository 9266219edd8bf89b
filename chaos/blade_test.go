package main

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"countersign/store"
)

// errReset is what whoever used a cut connection learns of it.
var errReset error = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}

// Where a command's connection is cut.
type place string

const (
	midCommand place = "within the command"                 // it has no effect
	noReply    place = "after the effect, before the reply" // nobody learns of it
	midReply   place = "within the reply"
)

// A blade cuts one connection to Redis, once: at the nth command of one kind.
type blade struct {
	scripts map[string]string // names by digest

	mu   sync.Mutex // guards what follows
	seen map[string]int
	kind string // "": none
	nth  int
	at   place
	fell bool
}

// dial is a way to a server on which the blade may fall.
func (b *blade) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &bladed{Conn: conn, blade: b}, nil
}

// falls reports whether a command is the one to be cut.
func (b *blade) falls(command []byte) bool {
	kind := b.kindOf(command)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen[kind]++
	if b.fell || kind != b.kind || b.seen[kind] != b.nth {
		return false
	}
	b.fell = true
	return true
}

// has reports whether the blade fell.
func (b *blade) has() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fell
}

// kindOf names what is written: the first command, or the script that it runs.
func (b *blade) kindOf(written []byte) string {
	parts := strings.Split(string(written[:min(len(written), 200)]), "\r\n")
	if len(parts) < 3 {
		return "more"
	}
	kind := strings.ToLower(parts[2])
	if strings.HasPrefix(kind, "eval") && len(parts) > 4 {
		if name := b.scripts[parts[4]]; name != "" {
			return name
		}
	}
	if n := bytes.Count(written, []byte("\r\n*")); n > 0 {
		kind += "+"
	}
	return kind
}

// A bladed connection is one on which the blade may fall.
type bladed struct {
	net.Conn
	blade *blade
	half  bool // the next reply is cut in half
	gone  bool
}

// Write implements net.Conn.
func (c *bladed) Write(p []byte) (int, error) {
	if c.gone {
		return 0, errReset
	}
	if !c.blade.falls(p) {
		return c.Conn.Write(p)
	}
	switch c.blade.at {
	case midCommand:
		_, _ = c.Conn.Write(p[:len(p)/2])
		c.cut()
		return 0, errReset
	case noReply:
		if _, err := c.Conn.Write(p); err != nil {
			return 0, err
		}
		_, _ = c.Conn.Read(make([]byte, 1)) // so it has had its effect
		c.cut()
		return len(p), nil
	}
	c.half = true
	return c.Conn.Write(p)
}

// Read implements net.Conn.
func (c *bladed) Read(p []byte) (int, error) {
	if c.gone {
		return 0, errReset
	}
	n, err := c.Conn.Read(p)
	if c.half && err == nil {
		c.cut()
		return n / 2, nil
	}
	return n, err
}

func (c *bladed) cut() {
	c.gone = true
	reset(c.Conn)
}

// scriptNames are the names of the store's and the client's scripts by digest.
func scriptNames(t *testing.T) map[string]string {
	t.Helper()
	names, err := store.ScriptNames()
	if err != nil {
		t.Fatal(err)
	}
	claim, err := os.ReadFile("../queue/claim.lua")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha1.Sum(claim)
	names[hex.EncodeToString(sum[:])] = "claim.lua"
	return names
}
