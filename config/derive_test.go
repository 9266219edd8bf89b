package config_test

import (
	"testing"
	"time"

	"countersign/config"
)

func TestWebhookSecret(t *testing.T) {
	telegram := config.Telegram{
		Token:   config.NewSecret("42:AA"),
		Webhook: config.Webhook{PublicURL: "https://bot.example.org/telegram"},
	}
	// printf 'countersign webhook https://bot.example.org/telegram' |
	//   openssl dgst -sha256 -hmac 42:AA -binary | basenc --base64url | tr -d =
	const want = "YscXnZNRGzg9HA9j92MRQXEEUETeQmT4VRpPcSmGW_U"
	if got := telegram.WebhookSecret().Reveal(); got != want {
		t.Errorf("derived %q, want %q", got, want)
	}
	telegram.Webhook.Secret = config.NewSecret("sesame")
	if got := telegram.WebhookSecret().Reveal(); got != "sesame" {
		t.Errorf("configured, but %q", got)
	}
}

func TestParseSchedule(t *testing.T) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for spec, want := range map[string]time.Duration{
		"@every 5s":      5 * time.Second,
		"@hourly":        time.Hour,
		"*/5 * * * *":    5 * time.Minute,
		"*/10 * * * * *": 10 * time.Second,
	} {
		schedule, err := config.ParseSchedule(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if got := schedule.Next(from).Sub(from); got != want {
			t.Errorf("%s comes due after %s, want %s", spec, got, want)
		}
	}
	for _, spec := range []string{"", "often", "@every", "@every 5", "TZ=UTC", "TZ=UTC * * * * *", "CRON_TZ=UTC @hourly", "* * *", "61 * * * *", "0 0 30 2 *"} {
		if _, err := config.ParseSchedule(spec); err == nil {
			t.Errorf("%q was taken as a schedule", spec)
		}
	}
}

func TestLocation(t *testing.T) {
	for _, zone := range []string{"", "Local", "Mars", "../etc/passwd"} {
		c := config.Config{Timezone: zone}
		if _, err := c.Location(); err == nil {
			t.Errorf("%q was taken as a time zone", zone)
		}
	}
	c := config.Config{Timezone: "UTC"}
	if zone, err := c.Location(); err != nil || zone != time.UTC {
		t.Errorf("UTC is %v, %v", zone, err)
	}
}
