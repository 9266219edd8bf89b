package config

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// graceAfterExpiry is how much longer than the longest deadline a row is kept, so that
// what happened can still be reported, undone and read.
const graceAfterExpiry = 48 * time.Hour

// longestWindow bounds the confirm step: a Yes should follow the look at the call.
const longestWindow = 10 * time.Minute

// Validate checks every value, and what they say of each other. Mistakes come as an
// [*Error] whose problems name keys but no places. It reads no file: of a secret that is
// given as a file only the path is looked at.
func (c *Config) Validate() error {
	if problems := c.problems(); len(problems) > 0 {
		return &Error{Problems: problems}
	}
	return nil
}

func (c *Config) problems() []Problem {
	f := &findings{}
	checkTelegram(f, &c.Telegram)
	checkRedis(f, &c.Redis)
	checkPeople(f, c.People)
	checkRoutes(f, c)
	checkConfirm(f, c.Confirm)
	checkReplies(f, c.Replies)
	checkExpiry(f, c)
	if _, err := ParseSchedule(c.Sweep.Schedule); err != nil {
		f.add("sweep.schedule", "%v", err)
	}
	checkPolicies(f, c.Policies)
	if _, err := c.Location(); err != nil {
		f.add("timezone", "%v", err)
	}
	checkListen(f, "http.listen", c.HTTP.Listen)
	if c.Telegram.Mode == ModeWebhook && c.HTTP.Listen == c.Telegram.Webhook.Listen && !strings.HasSuffix(c.HTTP.Listen, ":0") {
		f.add("http.listen", "%s is also telegram.webhook.listen; each needs an address of its own", quote(c.HTTP.Listen))
	}
	checkSigningKey(f, c.Audit.SigningKey)
	f.oneOf("log.level", c.Log.Level, "trace", "debug", "info", "warn", "error")
	f.oneOf("log.format", c.Log.Format, FormatJSON, FormatConsole)
	return f.problems
}

// findings collects problems.
type findings struct {
	problems []Problem
}

func (f *findings) add(key, format string, args ...any) {
	f.problems = append(f.problems, Problem{Key: key, Text: fmt.Sprintf(format, args...)})
}

func (f *findings) oneOf(key, value string, allowed ...string) {
	switch {
	case value == "":
		f.add(key, "it is missing; want one of %s", strings.Join(allowed, ", "))
	case !slices.Contains(allowed, value):
		f.add(key, "%s is not one of %s", quote(value), strings.Join(allowed, ", "))
	}
}

func checkConfirm(f *findings, c Confirm) {
	if c.Window <= 0 || c.Window > longestWindow {
		f.add("confirm.window", "%s is out of range; want more than 0s, and at most %s", c.Window, longestWindow)
	}
	if c.Dwell < 0 || c.Dwell >= c.Window {
		f.add("confirm.dwell", "%s is out of range; want at least 0s, and less than confirm.window, which is %s", c.Dwell, c.Window)
	}
	f.oneOf("confirm.halts", c.Halts, HaltsOneTap, HaltsTwoStep)
	f.oneOf("confirm.unseen", c.Unseen, UnseenWarn, UnseenRefuse)
}

func checkExpiry(f *findings, c *Config) {
	within := func(key string, d time.Duration) {
		switch {
		case d <= 0:
			f.add(key, "%s is out of range; want more than 0s", d)
		case d > c.Expiry.Max:
			f.add(key, "%s is longer than expiry.max, which is %s", d, c.Expiry.Max)
		}
	}
	within("expiry.tool_call", c.Expiry.ToolCall)
	within("expiry.halt", c.Expiry.Halt)
	within("expiry.max", c.Expiry.Max)
	within("expiry.remind", c.Expiry.Remind)
	if c.Retention < graceAfterExpiry || c.Retention-graceAfterExpiry < c.Expiry.Max { // a sum could overflow
		f.add("retention", "%s is too short; want at least expiry.max, which is %s, and %s", c.Retention, c.Expiry.Max, graceAfterExpiry)
	}
}

func checkListen(f *findings, key, address string) {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		f.add(key, "%s is not an address to listen on; want host:port, e.g. 127.0.0.1:9464", quote(address))
	}
}

// checkSigningKey looks whether the keys can be read; nothing of them is kept or told.
func checkSigningKey(f *findings, key Secret) {
	const want = "want Ed25519 private keys as PKCS#8 PEM, as countersign keygen or openssl genpkey -algorithm ed25519 writes them; " +
		"after the first, public ones will do"
	rest := []byte(key.Reveal())
	for i := 1; len(strings.TrimSpace(string(rest))) > 0; i++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			f.add("audit.signing_key", "key %d is not PEM; %s", i, want)
			return
		}
		if i > 1 && block.Type == "PUBLIC KEY" {
			parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
			if _, ok := parsed.(ed25519.PublicKey); err == nil && ok {
				continue
			}
		}
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if _, ok := parsed.(ed25519.PrivateKey); err != nil || !ok || block.Type != "PRIVATE KEY" {
			f.add("audit.signing_key", "key %d is not one that can sign; %s", i, want)
			return
		}
	}
}
