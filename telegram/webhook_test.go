package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"countersign/telegram"
)

const headerName = "X-Telegram-Bot-Api-Secret-Token"

func TestWebhook(t *testing.T) {
	const body = `{"update_id":5,"message":{}}`
	large := `{"update_id":6,"message":{"text":"` + strings.Repeat("x", 1<<20) + `"}}`
	for _, tt := range []struct {
		name    string
		method  string
		secrets []string
		body    string
		kept    int // bytes of it, 0: all
		sink    error
		status  int
		taken   []int64
	}{
		{name: "kept", method: "POST", secrets: []string{"s3cret"}, body: body, status: 200, taken: []int64{5}},
		{name: "not kept", method: "POST", secrets: []string{"s3cret"}, body: body, sink: errors.New("no room"), status: 503, taken: []int64{5}},
		{name: "unreadable is set aside by the sink", method: "POST", secrets: []string{"s3cret"}, body: "{", status: 200, taken: []int64{0}},
		{name: "no secret", method: "POST", body: body, status: 401},
		{name: "empty secret", method: "POST", secrets: []string{""}, body: body, status: 401},
		{name: "wrong secret", method: "POST", secrets: []string{"s3crey"}, body: body, status: 401},
		{name: "two secrets", method: "POST", secrets: []string{"s3cret", "s3cret"}, body: body, status: 401},
		{name: "read by a link preview", method: "GET", secrets: []string{"s3cret"}, status: 405},
		{name: "too large is cut, for the sink to set aside", method: "POST", secrets: []string{"s3cret"}, body: large, kept: 520 << 10, status: 200, taken: []int64{0}},
		{name: "too large and not kept", method: "POST", secrets: []string{"s3cret"}, body: large, kept: 520 << 10, sink: errors.New("no room"), status: 503, taken: []int64{0}},
		{name: "too large and without the secret", method: "POST", body: large, status: 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var taken []int64
			var log bytes.Buffer
			hook, err := telegram.NewWebhook(telegram.WebhookConfig{
				Secret: "s3cret", Log: zerolog.New(&log), Now: func() time.Time { return time.Time{} },
				Sink: sinkFunc(func(_ context.Context, updates []telegram.RawUpdate) error {
					for _, u := range updates {
						taken = append(taken, u.ID)
						want := tt.body
						if tt.kept != 0 {
							want = want[:tt.kept]
						}
						if string(u.Raw) != want {
							t.Errorf("raw has %d bytes and is not as it came", len(u.Raw))
						}
					}
					return tt.sink
				}),
			})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(tt.method, "/tg", strings.NewReader(tt.body))
			for _, s := range tt.secrets {
				r.Header.Add(headerName, s)
			}
			w := httptest.NewRecorder()
			hook.ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status = %d, want %d", w.Code, tt.status)
			}
			if diff := cmp.Diff(tt.taken, taken); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
			if strings.Contains(log.String(), "s3cret") {
				t.Errorf("the secret shows in %s", &log)
			}
			if quiet := tt.status == 200 || tt.status == http.StatusMethodNotAllowed; quiet != (log.Len() == 0) {
				t.Errorf("log = %q", &log)
			}
		})
	}
}

func TestWebhookNeedsASecret(t *testing.T) {
	for _, secret := range []string{"", "with space", strings.Repeat("x", 257)} {
		if _, err := telegram.NewWebhook(telegram.WebhookConfig{Secret: secret}); err == nil {
			t.Errorf("the secret %q was accepted", secret)
		}
	}
}
