package storetest

import "testing"

// Own lends a real server of the test's own, started with more arguments of
// redis-server, so that a test may change its settings. It is nil where there is none
// and none is required.
func Own(t testing.TB, args ...string) *Server {
	t.Helper()
	p, err := startOne(args...)
	if err != nil {
		t.Fatalf("redis-server: %v", err)
	}
	if p == nil {
		return nil
	}
	t.Cleanup(func() { _ = p.life.Close() })
	return newServer(t, &Server{name: "redis", addr: p.addr})
}
