package storetest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"countersign"
)

// Rights are what deploy/redis.acl grants a role in a namespace, as rules of ACL
// SETUSER. They are empty where it knows no such role.
func Rights(role, namespace string) []string {
	for line := range strings.Lines(countersign.RedisACL()) {
		if rules, ok := strings.CutPrefix(line, "user "+role+" "); ok {
			return strings.Fields(strings.ReplaceAll(rules, "{approvals}", "{"+namespace+"}"))
		}
	}
	return nil
}

// userPassword is that of the users that tests make.
const userPassword = "secret"

// User makes a user of a real server with a role's rights in the server's namespace,
// and with more where rules are given. It lives as long as the test, and is returned
// as the address with which to be it.
func (s *Server) User(t testing.TB, role string, more ...string) string {
	t.Helper()
	rights := Rights(role, s.namespace)
	if len(rights) == 0 {
		t.Fatalf("deploy/redis.acl has no user %s", role)
	}
	name := role + "-" + s.namespace
	args := []any{"acl", "setuser", name}
	for _, rule := range append(append(rights, more...), ">"+userPassword) {
		args = append(args, rule)
	}
	s.each(func(c *redis.Client) {
		if err := c.Do(t.Context(), args...).Err(); err != nil {
			t.Fatalf("user %s: %v", role, err)
		}
	})
	address := s.addr
	if s.nodes != nil {
		address = s.nodes[0].addr
	}
	return (&url.URL{Scheme: "redis", User: url.UserPassword(name, userPassword), Host: address, Path: "/0"}).String()
}

// Login makes a user as [Server.User] does, and connects as it until the test ends.
func (s *Server) Login(t testing.TB, role string, more ...string) redis.UniversalClient {
	t.Helper()
	o, err := redis.ParseURL(s.User(t, role, more...))
	if err != nil {
		t.Fatal(err)
	}
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	var c redis.UniversalClient
	if s.nodes == nil {
		c = redis.NewClient(o)
	} else {
		c = redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: []string{o.Addr}, Username: o.Username, Password: o.Password, MaintNotificationsConfig: o.MaintNotificationsConfig,
		})
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
