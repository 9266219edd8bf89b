package main

import (
	"slices"
	"testing"

	"countersign/config"
)

// A reload says which of the changed keys wait for a new start, and names no value.
func TestUntaken(t *testing.T) {
	t.Parallel()
	a := config.Default()
	a.Telegram.Token = config.NewSecret("1:a")
	b := a
	b.People, b.Routes, b.Policies = []config.Person{{ID: 1}}, []config.RouteRule{{Quorum: 2}}, []config.Policy{{}}
	b.Telegram.Limits.PerSecond = 1
	if got := untaken(a, b); len(got) != 0 {
		t.Errorf("what a reload takes waits for a new start: %v", got)
	}
	b.Telegram.Token = config.NewSecret("1:b")
	b.Telegram.Webhook.Listen = "h:1"
	b.Redis.URL = config.NewRedisURL("redis://elsewhere")
	b.Redis.Streams = []config.Stream{{Key: "x"}}
	b.Expiry.Max++
	b.Timezone, b.Retention = "Europe/Berlin", 1
	want := []string{"telegram.token", "telegram.webhook", "redis.url", "redis.streams", "expiry.max", "timezone", "retention"}
	if got := untaken(a, b); !slices.Equal(got, want) {
		t.Errorf("untaken %v, want %v", got, want)
	}
	c := a
	c.Telegram.Token = config.NewSecret("1:a") // the same text, read again
	if got := untaken(a, c); len(got) != 0 {
		t.Errorf("read again without a change: %v", got)
	}
}
