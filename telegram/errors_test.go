package telegram_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"countersign/telegram"
)

// told is what one answer of the Bot API means to us.
type told struct {
	Code       int    `json:"code"`
	Text       string `json:"text"`
	RetryAfter int64  `json:"retry_after"`
	MigrateTo  int64  `json:"migrate_to"`

	Kind      string `json:"kind"`
	Wait      string `json:"wait"`
	TimeTag   bool   `json:"time_tag"`
	Ambiguous bool   `json:"ambiguous"`
}

func (a told) body(t *testing.T) string {
	t.Helper()
	parameters := map[string]int64{}
	if a.RetryAfter != 0 {
		parameters["retry_after"] = a.RetryAfter
	}
	if a.MigrateTo != 0 {
		parameters["migrate_to_chat_id"] = a.MigrateTo
	}
	body, err := json.Marshal(map[string]any{
		"ok": false, "error_code": a.Code, "description": a.Text, "parameters": parameters,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// failure returns the *Error of err.
func failure(t *testing.T, err error) *telegram.Error {
	t.Helper()
	var e *telegram.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v (%T), want a *telegram.Error", err, err)
	}
	return e
}

func TestAnswersAreClassified(t *testing.T) {
	raw, err := os.ReadFile("testdata/errors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []told
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for _, tt := range all {
		t.Run(tt.Text, func(t *testing.T) {
			_, err := newClient(t, always(tt.Code, tt.body(t))).Send(t.Context(), telegram.Outgoing{Chat: 1, HTML: "x"})
			e := failure(t, err)
			if e.Kind.String() != tt.Kind || e.TimeTag != tt.TimeTag || e.Ambiguous != tt.Ambiguous || e.MigrateTo != tt.MigrateTo {
				t.Errorf("got %+v, want %+v", *e, tt)
			}
			if tt.Wait != "" && e.RetryAfter.String() != tt.Wait {
				t.Errorf("RetryAfter = %v, want %v", e.RetryAfter, tt.Wait)
			}
			if e.Code != tt.Code || e.Method != "sendMessage" || !strings.Contains(err.Error(), tt.Text) {
				t.Errorf("error %q (code %d, method %s) does not tell what happened", err, e.Code, e.Method)
			}
		})
	}
}

func TestForeignAnswers(t *testing.T) {
	const page = "<html><head><title>502 Bad Gateway</title></head></html>"
	for _, tt := range []struct {
		name      string
		status    int
		header    http.Header
		body      string
		want      telegram.Kind
		ambiguous bool
		wait      time.Duration
	}{
		{name: "page of a proxy", status: 502, body: page, want: telegram.Server, ambiguous: true},
		{name: "page that says 401", status: 401, body: page, want: telegram.Server},
		{name: "page that says 404", status: 404, body: page, want: telegram.Server},
		{name: "page that says 413", status: 413, body: page, want: telegram.BadRequest},
		{name: "page that says 429", status: 429, body: page, header: http.Header{"Retry-After": {"7"}}, want: telegram.TooMany, wait: 7 * time.Second},
		{name: "login page", status: 200, body: page, want: telegram.Server, ambiguous: true},
		{name: "other JSON", status: 404, body: `{"error":"no route"}`, want: telegram.Server},
		{name: "no with status 200", status: 200, body: `{"ok":false,"description":"strange"}`, want: telegram.Server},
		{name: "yes with status 500", status: 500, body: `{"ok":true,"result":{"message_id":1}}`, want: telegram.Server, ambiguous: true},
		{name: "nothing", status: 200, body: ``, want: telegram.Server, ambiguous: true},
		{name: "null", status: 200, body: `null`, want: telegram.Server, ambiguous: true},
		{name: "redirect", status: 302, header: http.Header{"Location": {"https://elsewhere.example/bot" + testToken + "/x"}}, want: telegram.Server},
		{name: "too long", status: 500, body: strings.Repeat(" ", 5<<20), want: telegram.Server, ambiguous: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, transport(func(*http.Request) (*http.Response, error) {
				r := reply(tt.status, tt.body)
				if tt.header != nil {
					r.Header = tt.header
				}
				return r, nil
			}))
			_, err := c.Send(t.Context(), telegram.Outgoing{Chat: 1, HTML: "x"})
			e := failure(t, err)
			if e.Kind != tt.want || e.Ambiguous != tt.ambiguous || e.RetryAfter != tt.wait || e.Code != tt.status {
				t.Errorf("got %+v (%v)", *e, e)
			}
			if len(err.Error()) > 600 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestKindNames(t *testing.T) {
	seen := make(map[string]bool)
	for k := telegram.Kind(0); k <= telegram.Transport; k++ {
		name := k.String()
		if name == "" || seen[name] || strings.ToLower(name) != name || strings.ContainsAny(name, " -") {
			t.Errorf("Kind %d has the name %q", k, name)
		}
		seen[name] = true
	}
	if got := (telegram.Transport + 1).String(); got != "unknown" {
		t.Errorf("name behind the last = %q, want unknown", got)
	}
}

func TestTemporary(t *testing.T) {
	want := map[telegram.Kind]bool{telegram.Conflict: true, telegram.TooMany: true, telegram.Server: true, telegram.Transport: true}
	for k := telegram.Kind(0); k <= telegram.Transport; k++ {
		if k.Temporary() != want[k] {
			t.Errorf("%v is temporary: %v", k, k.Temporary())
		}
	}
}

func TestErrorUnwraps(t *testing.T) {
	cause := errors.New("cause")
	if err := error(&telegram.Error{Kind: telegram.Transport, Method: "getMe", Err: cause}); !errors.Is(err, cause) {
		t.Error("the cause is not found")
	}
}

// Whatever a server answers, a call ends in a message or in an *Error that shows no token.
func FuzzAnswer(f *testing.F) {
	f.Add(200, []byte(sentAnswer))
	f.Add(200, []byte(`{"ok":true,"result":{"message_id":5,"chat":{"id":`))
	f.Add(200, []byte(`{"ok":true,"result":[1,{"message_id":2}]}`))
	f.Add(400, []byte(`{"ok":false,"error_code":400,"description":"`+testToken+`"}`))
	f.Add(429, []byte(`{"ok":false,"error_code":429,"parameters":{"retry_after":-1}}`))
	f.Add(502, []byte("<html>"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		sent, err := newClient(t, always(status, string(body))).Send(t.Context(), telegram.Outgoing{Chat: 1, HTML: "x"})
		if err == nil {
			if status != 200 || sent.Undecoded != (sent.MessageID == 0) {
				t.Errorf("status %d with %q is %+v", status, body, sent)
			}
			return
		}
		e := failure(t, err)
		if e.Kind == 0 || (e.Kind == telegram.TooMany) != (e.RetryAfter > 0) || sent != (telegram.Sent{}) {
			t.Errorf("status %d with %q is %+v, %+v", status, body, *e, sent)
		}
		checkSecret(t, err.Error())
	})
}
