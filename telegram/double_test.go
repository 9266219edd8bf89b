package telegram_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"countersign/telegram"
)

const testToken = "123456789:AAH-secret_part_of_a_token_0123456789"

// transport is an in-memory server.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reply makes an answer of the in-memory server.
func reply(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// always answers every call in the same way.
func always(status int, body string) transport {
	return func(*http.Request) (*http.Response, error) { return reply(status, body), nil }
}

func newClient(t *testing.T, rt http.RoundTripper) *telegram.Client {
	t.Helper()
	c, err := telegram.New(telegram.Config{Token: testToken, HTTP: &http.Client{Transport: rt}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// recorder keeps the last call and answers it.
type recorder struct {
	status int
	answer string

	path   string
	length int64
	typ    string
	body   []byte
}

func (s *recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.path, s.length, s.typ, s.body = r.URL.String(), r.ContentLength, r.Header.Get("Content-Type"), body
	return reply(s.status, s.answer), nil
}

// params returns the JSON parameters of the last call.
func (s *recorder) params(t *testing.T) map[string]any {
	t.Helper()
	if s.typ != "application/json" {
		t.Fatalf("Content-Type = %q, want JSON", s.typ)
	}
	if s.length != int64(len(s.body)) {
		t.Errorf("Content-Length = %d, want %d: without it connections are not reused", s.length, len(s.body))
	}
	var p map[string]any
	if err := json.Unmarshal(s.body, &p); err != nil {
		t.Fatalf("parameters %s: %v", s.body, err)
	}
	return p
}
