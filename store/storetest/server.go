// Package storetest lends tests the servers that the store must behave alike
// on, and good requests to put there. Only tests import it.
//
// # Servers
//
// [Servers] always lends the embedded server, whose clock stands still until
// [Server.Advance], and a real one where redis-server is on the PATH. With
// COUNTERSIGN_REQUIRE_REDIS=1 in the environment a missing redis-server fails
// the test. One real server serves a whole test process; every call gets a
// namespace of its own, so that tests may run in parallel.
//
// # Rights
//
// What [NewStore] makes, and whoever connects to [Server.URL], has no more rights on a
// real server than deploy/redis.acl gives the bot; [Server.Login] lends its other roles.
//
// # Time
//
// The embedded server has the time that the test gives it. A real one has its
// own, so there Advance moves back what the namespace has stored: deadlines,
// steps, leases, times to live. Either way everything stored is older than it
// was. What Advance cannot move are the ids of stream entries and times inside
// JSON and signatures.
package storetest

import (
	"context"
	"crypto/rand"
	_ "embed"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"countersign/store"
)

// Noon is when the embedded server's clock starts.
func Noon() time.Time { return time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC) }

// A Server is one Redis, lent to one test with an empty namespace. It is safe
// for concurrent use.
type Server struct {
	name      string
	addr      string
	namespace string
	client    *redis.Client
	bot       redis.UniversalClient // as client where there are no users
	botURL    string
	nodes     []*process           // of a cluster; that with the namespace is last
	embedded  *miniredis.Miniredis // nil on a real server

	mu    sync.Mutex // guards what follows
	now   time.Time  // the embedded server's
	moved time.Duration
}

// Servers lends the embedded server, and a real one if there is one.
func Servers(t testing.TB) []*Server {
	t.Helper()
	servers := []*Server{Embedded(t)}
	if s := Real(t); s != nil {
		servers = append(servers, s)
	}
	return servers
}

// Each runs a test once on each server, as parallel subtests named after them.
func Each(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	for _, s := range Servers(t) {
		t.Run(s.Name(), func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// Embedded lends an embedded server of the test's own, at [Noon].
func Embedded(t testing.TB) *Server {
	t.Helper()
	m := miniredis.RunT(t)
	m.SetTime(Noon())
	return newServer(t, &Server{name: "embedded", addr: m.Addr(), embedded: m, now: Noon()})
}

// Real lends the process's real server, nil where there is none and none is
// required.
func Real(t testing.TB) *Server {
	t.Helper()
	p, err := realServer()
	if err != nil {
		t.Fatalf("redis-server: %v", err)
	}
	if p == nil {
		return nil
	}
	s := newServer(t, &Server{name: "redis", addr: p.addr})
	t.Cleanup(func() { s.clear(context.WithoutCancel(t.Context())) })
	s.asBot(t)
	return s
}

func newServer(t testing.TB, s *Server) *Server {
	if s.nodes != nil {
		s.addr = s.nodes[0].addr
	}
	s.namespace = "test-" + rand.Text()
	s.client = redis.NewClient(&redis.Options{
		Addr:                     s.addr,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = s.client.Close() })
	s.bot, s.botURL = s.client, s.AdminURL()
	return s
}

// Name is embedded or redis.
func (s *Server) Name() string { return s.name }

// IsEmbedded reports whether the test holds the server's clock.
func (s *Server) IsEmbedded() bool { return s.embedded != nil }

// asBot connects with the bot's rights.
func (s *Server) asBot(t testing.TB) {
	t.Helper()
	s.botURL = s.User(t, "bot")
	s.bot = s.Login(t, "bot")
}

// URL is where a bot of its own would connect to, with the bot's rights.
func (s *Server) URL() string { return s.botURL }

// AdminURL is where to connect to with every right.
func (s *Server) AdminURL() string { return "redis://" + s.addr + "/0" }

// Client is a connection with every right, closed at the test's end.
func (s *Server) Client() *redis.Client { return s.client }

// Bot is a connection with no more than the bot's rights, where the server knows
// rights.
func (s *Server) Bot() redis.UniversalClient { return s.bot }

// Namespace is empty at first, and nobody else's.
func (s *Server) Namespace() string { return s.namespace }

// Keys names the namespace's keys.
func (s *Server) Keys() store.Keys { return store.NewKeys(s.namespace) }

// Now is the server's clock.
func (s *Server) Now(t testing.TB) time.Time {
	t.Helper()
	now, err := s.client.Time(t.Context()).Result()
	if err != nil {
		t.Fatalf("TIME: %v", err)
	}
	return now.UTC()
}

//go:embed advance.lua
var advanceScript string

// Advance makes everything stored in the namespace older by d. On the embedded
// server the clock moves forward; on a real one the stored times move back, by
// [Server.Moved] in all.
func (s *Server) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.embedded != nil {
		s.now = s.now.Add(d)
		s.embedded.SetTime(s.now)
		s.embedded.FastForward(d)
		return
	}
	s.moved += d
	if err := s.client.Eval(t.Context(), advanceScript, nil, s.Keys().Prefix(), d.Milliseconds()).Err(); err != nil {
		t.Fatalf("advance: %v", err)
	}
}

// Moved is by how much stored times are less than what was written: nothing on
// the embedded server, the sum of all advances on a real one.
func (s *Server) Moved() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}

// clear drops the namespace, as far as it can: what is left only takes memory.
func (s *Server) clear(ctx context.Context) {
	for it := s.client.Scan(ctx, 0, s.Keys().Prefix()+"*", 1000).Iterator(); it.Next(ctx); {
		s.client.Unlink(ctx, it.Val())
	}
	s.each(func(c *redis.Client) {
		users, _ := c.Do(ctx, "acl", "users").StringSlice()
		for _, user := range users {
			if strings.HasSuffix(user, s.namespace) {
				c.Do(ctx, "acl", "deluser", user)
			}
		}
	})
}

// each does something on every node, or on the one server.
func (s *Server) each(do func(c *redis.Client)) {
	if s.nodes == nil {
		do(s.client)
	}
	for _, n := range s.nodes {
		c := n.connect()
		do(c)
		_ = c.Close()
	}
}

// Fail makes every command of the embedded server fail with a message, until it
// is called with none.
func (s *Server) Fail(message string) { s.embedded.SetError(message) }
