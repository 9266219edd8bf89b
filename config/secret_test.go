package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rs/zerolog"

	"countersign/config"
)

const hidden = "hunter2"

// printed holds what each way to print a value makes of it.
func printed(t *testing.T, value any) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%t", "%p", "%10s", "%!"} {
		out[verb] = fmt.Sprintf(verb, value)
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	out["json"] = string(text)
	if text, err = yaml.Marshal(value); err != nil {
		t.Fatal(err)
	}
	out["yaml"] = string(text)
	var log bytes.Buffer
	logger := zerolog.New(&log)
	logger.Info().Interface("value", value).Any("any", value).Fields(map[string]any{"field": value}).Send()
	out["zerolog"] = log.String()
	log.Reset()
	slog.New(slog.NewTextHandler(&log, nil)).Info("", "value", value)
	out["slog"] = log.String()
	return out
}

// wrapped keeps its values where fmt calls no methods.
type wrapped struct {
	secret config.Secret
	url    config.RedisURL
}

func TestSecretsDoNotPrint(t *testing.T) {
	c := config.Default()
	c.Telegram.Token = config.NewSecret(hidden)
	c.Telegram.Webhook.Secret = config.NewSecret(hidden)
	c.Redis.URL = config.NewRedisURL("redis://ann:" + hidden + "@host:6379/0?password=" + hidden)
	c.Audit.SigningKey = config.NewSecret(hidden)
	for name, value := range map[string]any{
		"a secret":               c.Telegram.Token,
		"a pointer to a secret":  &c.Telegram.Token,
		"secrets in a map":       map[string]config.Secret{"token": c.Telegram.Token},
		"a Redis URL":            c.Redis.URL,
		"a pointer to a URL":     &c.Redis.URL,
		"a whole configuration":  c,
		"a pointer to one":       &c,
		"in unexported fields":   wrapped{c.Telegram.Token, c.Redis.URL},
		"in a slice of anything": []any{c.Telegram.Token, c.Redis.URL},
	} {
		t.Run(name, func(t *testing.T) {
			for how, text := range printed(t, value) {
				for _, form := range []string{hidden, fmt.Sprintf("%x", hidden), fmt.Sprintf("%X", hidden)} {
					if strings.Contains(text, form) {
						t.Errorf("%s prints the secret: %s", how, text)
					}
				}
			}
		})
	}
}

func TestSecretPrintsItsMask(t *testing.T) {
	for how, text := range printed(t, config.NewSecret(hidden)) {
		if !strings.Contains(text, "***") && how != "%p" && how != "%!" {
			t.Errorf("%s prints %q, without the mask", how, text)
		}
	}
	if got := fmt.Sprint(config.Secret{}); got != "" {
		t.Errorf("the empty secret prints %q", got)
	}
	if got := config.NewSecret(hidden).Reveal(); got != hidden {
		t.Errorf("Reveal gives %q", got)
	}
}

func TestRedisURLString(t *testing.T) {
	tests := []struct{ url, want string }{
		{"", ""},
		{"redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"},
		{"rediss://:hunter2@host:6379", "rediss://:***@host:6379"},
		{"redis://ann:hunter2@host/1", "redis://ann:***@host/1"},
		{"redis://ann@host", "redis://ann@host"},
		{"redis://host/0?protocol=3&password=hunter2", "redis://host/0"},
		{"unix://ann:hunter2@/run/redis.sock?db=1", "unix://ann:***@/run/redis.sock"},
		{"redis://:hun%ter2@host", "***"},
		{"hunter2", "***"},
		{"hunter2@host:6379", "***"},
		{"redis:hunter2", "***"},
	}
	for _, tt := range tests {
		if got := config.NewRedisURL(tt.url).String(); got != tt.want {
			t.Errorf("String of %q is %q, want %q", tt.url, got, tt.want)
		}
	}
}
