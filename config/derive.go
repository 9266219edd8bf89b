package config

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// WebhookSecret returns the configured webhook secret, else one derived from the token
// and the public URL, which is the same on every replica: base64url without padding of
// HMAC-SHA256 over `countersign webhook ` and the URL, with the token as its key.
func (t *Telegram) WebhookSecret() Secret {
	if !t.Webhook.Secret.Empty() {
		return t.Webhook.Secret
	}
	mac := hmac.New(sha256.New, []byte(t.Token.Reveal()))
	mac.Write([]byte("countersign webhook " + t.Webhook.PublicURL))
	return NewSecret(base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
}

// Location returns the time zone. The machine's own zone is refused, because replicas
// would differ in it. The caller provides the zone data where the machine has none.
func (c *Config) Location() (*time.Location, error) {
	const want = "want a name such as UTC or Europe/Berlin"
	if c.Timezone == "" || c.Timezone == "Local" {
		return nil, fmt.Errorf("%s names no time zone; %s", quote(c.Timezone), want)
	}
	zone, err := time.LoadLocation(c.Timezone)
	if err != nil {
		return nil, fmt.Errorf("%s is not known as a time zone; %s", quote(c.Timezone), want)
	}
	return zone, nil
}

// ParseSchedule reads a cron schedule: five fields, six with the seconds first, or a
// descriptor such as `@every 5s` or `@hourly`. A time zone in it is refused, since
// timezone is a key of its own, and so is a schedule that never comes due.
func ParseSchedule(spec string) (schedule cron.Schedule, err error) {
	const want = "want e.g. @every 5s, or the fields of cron"
	// The parser panics on some texts, e.g. on a time zone that no space follows.
	defer func() {
		if recover() != nil {
			schedule, err = nil, fmt.Errorf("%s is not a schedule; %s", quote(spec), want)
		}
	}()
	if strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=") {
		return nil, errors.New("a schedule holds no time zone here; set the key timezone")
	}
	parser := cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	schedule, err = parser.Parse(spec)
	if err != nil {
		return nil, fmt.Errorf("%s is not a schedule (%w); %s", quote(spec), err, want)
	}
	// Any moment will do: what comes due at all does so within years of it.
	if schedule.Next(time.Unix(0, 0).UTC()).IsZero() {
		return nil, fmt.Errorf("%s never comes due; %s", quote(spec), want)
	}
	return schedule, nil
}
