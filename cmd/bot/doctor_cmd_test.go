package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"countersign/config"
	"countersign/doctor"
)

// Whatever holds a secret is looked at, wherever the bot takes the secret from.
func TestSecretFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, key := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "key.pem")
	for _, file := range []string{path, key} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	of := func(text string, cfg config.Config) []doctor.File {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := &shell{world: world{environ: []string{"COUNTERSIGN_TELEGRAM_TOKEN=7000000:test-token"}}}
		s.config = path
		return s.secretFiles(&cfg)
	}
	for text, secret := range map[string]bool{
		"":                                 false,
		"telegram: {token_file: t}":        false,
		"redis: {url: redis://bot@h:6379}": false,
		"telegram: {token: \"7000000:test-token\"}": true, // the environment gives another
		"redis: {url: redis://bot:pass@h:6379}":     true,
		"telegram: {webhook: {secret: abc}}":        true,
		"audit: {signing_key: abc}":                 true,
	} {
		want := []doctor.File(nil)
		if secret {
			want = []doctor.File{{Path: path, World: true}}
		}
		if got := of(text, config.Default()); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	cfg := config.Default()
	cfg.Redis.TLSKeyFile, cfg.Telegram.Webhook.TLSKeyFile = key, key
	want := []doctor.File{{Key: "telegram.webhook.tls_key_file", Path: key, World: true}, {Key: "redis.tls_key_file", Path: key, World: true}}
	if got := of("", cfg); !slices.Equal(got, want) {
		t.Errorf("the keys of certificates: %v, want %v", got, want)
	}
}
