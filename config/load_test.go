package config_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/config"
)

const minimal = `telegram: {token: "42:AA"}
people: [{id: 1001, name: Ann, role: owner}]
`

func parse(t *testing.T, text string, environ ...string) config.Config {
	t.Helper()
	c, err := config.Parse("config.yaml", []byte(text), environ)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadNeedsTheFileItIsGiven(t *testing.T) {
	_, err := config.Load("nowhere.yaml", nil, readFrom(nil))
	if _, ok := errors.AsType[*fs.PathError](err); !ok {
		t.Errorf("the error is %v, without its cause", err)
	}
}

func TestMistakesCanBeRead(t *testing.T) {
	_, err := config.Parse("config.yaml", []byte(minimal+"log: {level: loud}\n"), nil)
	mistakes, ok := errors.AsType[*config.Error](err)
	if !ok {
		t.Fatalf("the error is %T", err)
	}
	want := []config.Problem{{
		Where: "config.yaml:3:14", Key: "log.level",
		Text: `"loud" is not one of trace, debug, info, warn, error`,
	}}
	if diff := cmp.Diff(want, mistakes.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestSecretsComeFromFilesTrimmed(t *testing.T) {
	files := map[string]string{
		"config.yaml": `telegram: {token_file: token, webhook: {secret_file: secret}}
redis: {url_file: url}
audit: {signing_key_file: keys}
people: [{id: 1001, name: Ann, role: owner}]
`,
		"token":  "\t42:AA \r\n",
		"secret": "sesame\n",
		"url":    "rediss://:hunter2@host:6379/1\n",
		"keys":   privateKey(t, 1) + "\n" + privateKey(t, 2),
	}
	c, err := config.Load("config.yaml", nil, readFrom(files))
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]string{
		"token":       {c.Telegram.Token.Reveal(), "42:AA"},
		"secret":      {c.Telegram.Webhook.Secret.Reveal(), "sesame"},
		"url":         {c.Redis.URL.Reveal(), "rediss://:hunter2@host:6379/1"},
		"signing key": {c.Audit.SigningKey.Reveal(), strings.TrimSpace(files["keys"])},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %q, want %q", name, pair[0], pair[1])
		}
	}
}

// privateKey returns a PEM made from a fixed seed.
func privateKey(t *testing.T, seed byte) string {
	t.Helper()
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func TestParseLeavesSecretFilesAlone(t *testing.T) {
	c := parse(t, `telegram: {token_file: nowhere}
people: [{id: 1001, name: Ann, role: owner}]
`)
	if c.Telegram.TokenFile != "nowhere" || !c.Telegram.Token.Empty() {
		t.Errorf("token_file is %q, token is empty: %v", c.Telegram.TokenFile, c.Telegram.Token.Empty())
	}
}

func TestEnvironmentWins(t *testing.T) {
	c := parse(t, minimal+"confirm: {window: 30s}\nredact: on\n",
		"COUNTERSIGN_CONFIRM_WINDOW=90s",
		"COUNTERSIGN_TELEGRAM_LIMITS_CHAT_PER_SECOND=0.5",
		"COUNTERSIGN_REDIS_CLUSTER=true",
		"COUNTERSIGN_REDACT=off",
		"COUNTERSIGN_PEOPLE_0_NAME=Anna",
		"COUNTERSIGN_PEOPLE_1_ID=1002", "COUNTERSIGN_PEOPLE_1_NAME=Ben", "COUNTERSIGN_PEOPLE_1_ROLE=reader",
		"COUNTERSIGN_EXPIRY_TOOL_CALL=2h",
	)
	want := parse(t, `telegram: {token: "42:AA", limits: {chat_per_second: 0.5}}
people: [{id: 1001, name: Anna, role: owner}, {id: 1002, name: Ben, role: reader}]
confirm: {window: 1m30s}
redis: {cluster: true}
redact: off
expiry: {tool_call: 2h}
`)
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("from the environment (-want +got):\n%s", diff)
	}
}

func TestListsGrowPastNine(t *testing.T) {
	var environ []string
	for _, i := range []string{"10", "9", "2", "1", "8", "3", "7", "0", "6", "4", "5"} {
		environ = append(environ, "COUNTERSIGN_REPLIES_APPROVE_"+i+"=word"+strings.Repeat("x", len(environ)))
	}
	if got := len(parse(t, minimal, environ...).Replies.Approve); got != 11 {
		t.Errorf("the list has %d words, want 11", got)
	}
}

func TestListsAndSectionsLeftEmpty(t *testing.T) {
	c := parse(t, minimal+"policies:\nroutes:\nconfirm:\nredis:\n  streams:\n")
	want := config.Default()
	want.Telegram.Token = config.NewSecret("42:AA")
	want.People = []config.Person{{ID: 1001, Name: "Ann", Role: config.RoleOwner}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("with empty sections (-want +got):\n%s", diff)
	}
}

func TestRedactSpellings(t *testing.T) {
	for text, want := range map[string]config.Switch{`on`: true, `"on"`: true, `true`: true, `off`: false, `'off'`: false, `false`: false} {
		if got := parse(t, minimal+"redact: "+text+"\n").Redact; got != want {
			t.Errorf("redact: %s gives %v", text, got)
		}
	}
}

func TestElementsHaveDefaults(t *testing.T) {
	c := parse(t, minimal+"redis: {streams: [{key: x}]}\nroutes: [{}]\npolicies: [{}]\n")
	if diff := cmp.Diff([]config.Stream{{Key: "x", Runtimes: []string{"*"}, IDs: "*"}}, c.Redis.Streams); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
	if c.Routes[0].Quorum != 1 || c.Policies[0].Notify != config.NotifySilent {
		t.Errorf("quorum %d, notify %q", c.Routes[0].Quorum, c.Policies[0].Notify)
	}
}

// The webhook of a Bot API server of one's own may be plain HTTP on any port.
func TestOwnServerTakesPlainWebhooks(t *testing.T) {
	parse(t, `telegram:
  token: "42:AA"
  api_url: http://127.0.0.1:8081
  mode: webhook
  webhook: {public_url: "http://127.0.0.1:9000/hook"}
people: [{id: 1001, name: Ann, role: owner}]
`)
}

func TestBiggestFile(t *testing.T) {
	padding := strings.Repeat("#", 256<<10-len(minimal)-1) + "\n"
	parse(t, padding+minimal)
	if _, err := config.Parse("x", []byte("#"+padding+minimal), nil); err == nil {
		t.Error("a file above the limit was taken")
	}
	if _, err := config.Parse("x", []byte(minimal+"# \xff\n"), nil); err == nil {
		t.Error("a file that is not UTF-8 was taken")
	}
}

func TestRetentionDoesNotOverflow(t *testing.T) {
	c := parse(t, minimal)
	c.Expiry.Max = 1<<63 - 1
	if c.Validate() == nil {
		t.Error("a retention below expiry.max was taken")
	}
	c.Retention = -1 << 63
	c.Expiry.Max = time.Hour
	if c.Validate() == nil {
		t.Error("a retention below 0 was taken")
	}
}

// What is not here is said, and what is here is not kept.
func TestSecretsCanBeChecked(t *testing.T) {
	c := parse(t, `telegram: {token_file: token}
redis: {url_file: url}
people: [{id: 1001, name: Ann, role: owner}]
`)
	want := []config.SecretFile{{Key: "telegram.token_file", Path: "token"}, {Key: "redis.url_file", Path: "url"}}
	if diff := cmp.Diff(want, c.SecretFiles()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err := c.CheckSecrets(readFrom(map[string]string{"token": "42:AA", "url": "redis://h:1/0"})); err != nil {
		t.Error(err)
	}
	if !c.Telegram.Token.Empty() {
		t.Error("the token was kept")
	}
	err := c.CheckSecrets(readFrom(map[string]string{"url": " "}))
	mistakes, ok := errors.AsType[*config.Error](err)
	if !ok || len(mistakes.Problems) != 2 || mistakes.Problems[0].Key != "telegram.token_file" || mistakes.Problems[1].Key != "redis.url_file" {
		t.Errorf("the error is %v", err)
	}
}
