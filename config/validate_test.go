package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/config"
)

func TestDefaultLacksTokenAndOwner(t *testing.T) {
	c := config.Default()
	if diff := cmp.Diff([]string{"telegram.token", "people"}, faults(t, &c)); diff != "" {
		t.Errorf("keys with problems (-want +got):\n%s", diff)
	}
}

// faults lists the keys that Validate complains of.
func faults(t *testing.T, c *config.Config) []string {
	t.Helper()
	err := c.Validate()
	if err == nil {
		return nil
	}
	mistakes, ok := errors.AsType[*config.Error](err)
	if !ok {
		t.Fatalf("the error is %T", err)
	}
	var keys []string
	for _, p := range mistakes.Problems {
		if p.Where != "" {
			t.Errorf("%s is said to stand at %s, and there is no file", p.Key, p.Where)
		}
		keys = append(keys, p.Key)
	}
	return keys
}

// TestValidate changes one thing of a good configuration. An empty key means that the
// change is good too.
func TestValidate(t *testing.T) {
	type change = func(c *config.Config)
	url := func(text string) change { return func(c *config.Config) { c.Redis.URL = config.NewRedisURL(text) } }
	clustered := func(text string) change {
		return func(c *config.Config) { c.Redis.Cluster = true; url(text)(c) }
	}
	api := func(text string) change { return func(c *config.Config) { c.Telegram.APIURL = text } }
	public := func(text string) change {
		return func(c *config.Config) { c.Telegram.Mode, c.Telegram.Webhook.PublicURL = config.ModeWebhook, text }
	}
	token := func(text string) change { return func(c *config.Config) { c.Telegram.Token = config.NewSecret(text) } }
	name := func(text string) change { return func(c *config.Config) { c.People[0].Name = text } }
	id := func(n int64) change { return func(c *config.Config) { c.People[0].ID = n } }
	approve := func(words ...string) change { return func(c *config.Config) { c.Replies.Approve = words } }
	listen := func(address string) change { return func(c *config.Config) { c.HTTP.Listen = address } }
	namespace := func(text string) change { return func(c *config.Config) { c.Redis.Namespace = text } }
	key := func(text string) change {
		return func(c *config.Config) { c.Audit.SigningKey = config.NewSecret(text) }
	}
	email := func(text string) change {
		return func(c *config.Config) {
			c.Policies = []config.Policy{{OperatorEmail: text, Notify: config.NotifySilent}}
		}
	}
	stream := func(text string) change {
		return func(c *config.Config) {
			c.Redis.Streams = []config.Stream{{Key: text, Runtimes: []string{"*"}, IDs: "*"}}
		}
	}
	sharded := func(text string) change {
		return func(c *config.Config) { c.Redis.Cluster = true; stream(text)(c) }
	}

	tests := []struct {
		name   string
		change change
		key    string
	}{
		{"nothing", func(*config.Config) {}, ""},

		{"redis with TLS", url("rediss://ann:pw@host:6379/15"), ""},
		{"redis without database", url("redis://host"), ""},
		{"redis by socket", url("unix:///run/redis.sock"), ""},
		{"redis without host", url("redis:///0"), "redis.url"},
		{"redis without socket", url("unix://"), "redis.url"},
		{"redis with a word as database", url("redis://host/main"), "redis.url"},
		{"redis without URL", url(""), "redis.url"},
		{"a cluster", clustered("redis://host:7000/0"), ""},
		{"a cluster with a database", clustered("redis://host/1"), "redis.url"},
		{"a cluster by socket", clustered("unix:///run/redis.sock"), "redis.url"},

		{"namespace of 64", namespace(strings.Repeat("n", 64)), ""},
		{"namespace of 65", namespace(strings.Repeat("n", 65)), "redis.namespace"},
		{"namespace with a line", namespace("a\n"), "redis.namespace"},
		{"no namespace", namespace(""), "redis.namespace"},

		{"a stream of another name", stream("iris:requests"), ""},
		{"our stream of answers", stream("{approvals}:answers"), "redis.streams[0].key"},
		{"our head of the audit", stream("{approvals}:audit:head"), "redis.streams[0].key"},
		{"our memory", stream("{approvals}:bot:x"), "redis.streams[0].key"},
		{"a name that begins like ours", stream("{approvals}:dead-letters"), ""},
		{"another namespace", stream("{other}:answers"), ""},
		{"a tag in a cluster", sharded("iris:{approvals}:requests"), ""},
		{"no tag in a cluster", sharded("approvals:requests"), "redis.streams[0].key"},
		{"an open tag in a cluster", sharded("{approvals"), "redis.streams[0].key"},
		{"a second tag in a cluster", sharded("{a}{approvals}"), "redis.streams[0].key"},

		{"a local Bot API", api("http://127.0.0.1:8081/base"), ""},
		{"a Bot API without scheme", api("api.telegram.org"), "telegram.api_url"},
		{"a Bot API by ftp", api("ftp://host"), "telegram.api_url"},
		{"a Bot API with a query", api("https://host?x=1"), "telegram.api_url"},
		{"a Bot API with a user", api("https://ann@host"), "telegram.api_url"},
		{"no Bot API", api(""), "telegram.api_url"},

		{"a webhook", public("https://host/hook"), ""},
		{"a webhook on 8443", public("https://host:8443"), ""},
		{"a webhook on 9443", public("https://host:9443"), "telegram.webhook.public_url"},
		{"a webhook in the clear", public("http://host"), "telegram.webhook.public_url"},
		{"a webhook without scheme", public("host/hook"), "telegram.webhook.public_url"},
		{"a webhook with a query", public("https://host/?a=b"), "telegram.webhook.public_url"},
		{"a webhook at nowhere", public(""), "telegram.webhook.public_url"},
		{"a certificate to Redis without key", func(c *config.Config) {
			c.Redis.URL, c.Redis.TLSCertFile = config.NewRedisURL("rediss://h"), "c"
		}, "redis.tls_key_file"},
		{"a key to Redis without certificate", func(c *config.Config) {
			c.Redis.URL, c.Redis.TLSKeyFile = config.NewRedisURL("rediss://h"), "k"
		}, "redis.tls_cert_file"},
		{"whom to believe without TLS", func(c *config.Config) { c.Redis.TLSCAFile = "ca" }, "redis.tls_ca_file"},
		{"a key without certificate", func(c *config.Config) { c.Telegram.Webhook.TLSKeyFile = "k" }, "telegram.webhook.tls_cert_file"},
		{"a certificate without key", func(c *config.Config) { c.Telegram.Webhook.TLSCertFile = "c" }, "telegram.webhook.tls_key_file"},

		{"a token with a line end", token("42:AA\n"), "telegram.token"},
		{"a token without id", token(":AA"), "telegram.token"},
		{"no token, but a file", func(c *config.Config) { c.Telegram.Token, c.Telegram.TokenFile = config.Secret{}, "token" }, ""},
		{"no limit", func(c *config.Config) { c.Telegram.Limits = config.Limits{} }, ""},
		{"a limit that is no number", func(c *config.Config) { c.Telegram.Limits.PerSecond = math.NaN() }, "telegram.limits.per_second"},

		{"a name of 64", name(strings.Repeat("é", 64)), ""},
		{"a name of 65", name(strings.Repeat("é", 65)), "people[0].name"},
		{"a name with a line end", name("Ann\nOwner"), "people[0].name"},
		{"the greatest id", id(1<<52 - 1), ""},
		{"an id beyond it", id(1 << 52), "people[0].id"},

		{"a word with a mark", approve("हाँ"), ""},
		{"a word of 32", approve(strings.Repeat("a", 32)), ""},
		{"a word of 33", approve(strings.Repeat("a", 33)), "replies.approve[0]"},
		{"a mark alone", approve("\u0301"), "replies.approve[0]"},
		{"yes in another case", approve("yEs"), "replies.approve[0]"},
		{"no word", approve(), "replies.approve"},
		{"the same word twice", approve("go", "Go"), "replies.approve[1]"},

		{"listening everywhere", listen(":9464"), ""},
		{"listening on any port", listen("[::1]:0"), ""},
		{"listening on port 65536", listen("127.0.0.1:65536"), "http.listen"},
		{"listening on a service", listen("127.0.0.1:http"), "http.listen"},
		{"listening nowhere", listen(""), "http.listen"},

		{"dwell off", func(c *config.Config) { c.Confirm.Dwell = 0 }, ""},
		{"dwell below 0", func(c *config.Config) { c.Confirm.Dwell = -1 }, "confirm.dwell"},
		{"the shortest retention", func(c *config.Config) { c.Retention = c.Expiry.Max + 48*time.Hour }, ""},
		{"a shorter one", func(c *config.Config) { c.Retention = c.Expiry.Max + 48*time.Hour - 1 }, "retention"},

		{"an Ed25519 key", key(privateKey(t, 1)), ""},
		{"a key of another kind", key(otherKey(t)), "audit.signing_key"},
		{"a key and something else", key(privateKey(t, 1) + "more"), "audit.signing_key"},

		{"an address", email("me@example.org"), ""},
		{"an address with two @", email("me@ex@mple.org"), "policies[0].operator_email"},
		{"an address without user", email("@example.org"), "policies[0].operator_email"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := desk()
			tt.change(&c)
			c.Routes = nil // they name people by id
			var want []string
			if tt.key != "" {
				want = []string{tt.key}
			}
			if diff := cmp.Diff(want, faults(t, &c)); diff != "" {
				t.Errorf("keys with problems (-want +got):\n%s", diff)
			}
		})
	}
}

// otherKey returns a PKCS#8 key that signs in another way, made from the number 1.
func otherKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), big.NewInt(1).FillBytes(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
