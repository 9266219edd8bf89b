package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"countersign/approval"
	"countersign/config"
	"countersign/queue"
	"countersign/store/storetest"
)

// TestRoles has every role of deploy/redis.acl do its work beside the others, on one
// server and on a cluster of three: the bot all of its own, two runtimes each by their
// stream, a reader and an auditor; and a runtime reach nothing of the other's.
func TestRoles(t *testing.T) {
	for name, lend := range map[string]func(testing.TB) *storetest.Server{"redis": storetest.Real, "cluster": storetest.Cluster} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s := lend(t); s != nil {
				newCast(t, s).act()
			}
		})
	}
}

// A cast is a play with a user of Redis for each role.
type cast struct {
	*play
	server       *storetest.Server
	iris, mailer redis.UniversalClient
}

func newCast(t *testing.T, s *storetest.Server) *cast {
	t.Helper()
	st := &stage{t: t, redis: redis.NewClient(&redis.Options{
		Addr:                     s.Client().Options().Addr,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
	tag := s.Keys().Prefix()
	st.build(s.URL(), s.Namespace(), func(c *config.Config) {
		c.Redis.Cluster = s.Name() == "cluster"
		for _, runtime := range []string{"iris", "mailer"} {
			c.Redis.Streams = append(c.Redis.Streams, config.Stream{Key: tag + runtime, Runtimes: []string{runtime + "*"}, IDs: runtime + ".*"})
		}
	})
	return &cast{play: playOn(t, st), server: s, iris: s.Login(t, "iris"), mailer: s.Login(t, "mailer")}
}

func (c *cast) as(user redis.UniversalClient, stream string) {
	c.client = queue.NewClient(user, c.server.Namespace(), queue.WithStream(c.server.Keys().Prefix()+stream))
}

func (c *cast) act() {
	t, keys := c.t, c.server.Keys()
	c.as(c.iris, "iris")
	c.wholePath("iris.a1", "iris")

	c.as(c.mailer, "mailer")
	pending := c.asked("mailer.b1", "mailer")
	c.taps(c.ann, c.card(annID, "mailer.b1"), "Reject", "Rejected")
	c.answered(pending, approval.DecisionRejected)
	c.asked("mailer.b2", "mailer")
	c.card(annID, "mailer.b2")
	c.ok(c.client.Withdraw(c.ctx, "mailer.b2", "no longer needed"))

	// What the bot does by itself.
	pending = c.asked("mailer.b3", "mailer", func(data map[string]any) { data["expires_in"] = 5 })
	c.answered(pending, approval.DecisionLapsed)
	if err := c.client.Claim(c.ctx, "iris.a1", "sha256:x", "thief"); err == nil || !denied(err) {
		t.Errorf("a claim of another runtime's call: %v, want to be denied", err)
	}
	if _, err := c.client.Row(c.ctx, "iris.a1"); err == nil || !denied(err) {
		t.Errorf("another runtime's row: %v, want to be denied", err)
	}
	// Asked in another's name, by one's own stream.
	raw := `{"approval_id":"iris.z","runtime":"iris","tool":"x","arguments":{},"card":{"title":"x"}}`
	pending, err := c.client.Request(c.ctx, queue.Request{Data: []byte(raw), NoCheck: true})
	c.ok(err)
	c.as(c.iris, "iris")
	c.answered(pending, approval.DecisionRefused)

	reader := c.server.Login(t, "reader")
	answers, err := reader.XRange(c.ctx, keys.Answers(), "-", "+").Result()
	if err != nil || len(answers) != 6 { // and the undo
		t.Errorf("the reader sees %d answers (%v), want 6", len(answers), err)
	}
	if row, err := reader.HGetAll(c.ctx, keys.Row("iris.a1")).Result(); err != nil || row["state"] != "undone" {
		t.Errorf("the reader sees a row %v (%v)", row["state"], err)
	}
	auditor := c.server.Login(t, "auditor")
	if err := auditor.XRange(c.ctx, keys.Prefix()+"audit", "-", "+").Err(); err != nil {
		t.Error(err)
	}
	c.neverDenied("bot-" + c.server.Namespace())
}

// denied reports whether Redis refused a right, also within a script.
func denied(err error) bool {
	return strings.Contains(err.Error(), "NOPERM") || strings.Contains(err.Error(), "user executing the script can't")
}

// neverDenied wants Redis to have refused nothing to a user but a look at its
// configuration, which the bot does without.
func (c *cast) neverDenied(user string) {
	c.t.Helper()
	log, err := c.redis.ACLLog(c.ctx, 128).Result()
	c.ok(err)
	for _, e := range log {
		if e.Username == user && e.Object != "config|get" {
			c.t.Errorf("%s was denied %s (%s)", user, e.Object, fmt.Sprint(e.Reason, " ", e.Context))
		}
	}
}
