package storetest

import (
	"os/exec"
	"testing"
)

// Own lends a real server of the test's own, started with more arguments of
// redis-server, so that a test may change its settings. It is nil where there is none
// and none is required.
func Own(t testing.TB, args ...string) *Server {
	t.Helper()
	if p, err := realServer(); err != nil {
		t.Fatalf("redis-server: %v", err)
	} else if p == nil {
		return nil
	}
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // somebody else may take the free port first
		var p *process
		if p, err = startRedis(path, args...); err == nil {
			t.Cleanup(func() { _ = p.life.Close() })
			return newServer(t, &Server{name: "redis", addr: p.addr})
		}
	}
	t.Fatalf("redis-server: %v", err)
	return nil
}
