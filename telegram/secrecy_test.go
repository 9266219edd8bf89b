package telegram_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"countersign/telegram"
)

// checkSecret fails when text shows the token, a form of it or its secret part.
func checkSecret(t *testing.T, text string) {
	t.Helper()
	_, secret, _ := strings.Cut(testToken, ":")
	for _, form := range []string{testToken, url.QueryEscape(testToken), secret} {
		if strings.Contains(text, form) {
			t.Errorf("the token shows in %q", text)
		}
	}
}

// printings are the ways in which a value ends up in a log.
func printings(v any) []string {
	var log bytes.Buffer
	logger := zerolog.New(&log)
	if err, ok := v.(error); ok {
		logger.Error().Err(err).Send()
	}
	logger.Info().Interface("v", v).Send()
	asJSON, _ := json.Marshal(v)
	return []string{
		fmt.Sprint(v), fmt.Sprintf("%s", v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), fmt.Sprintf("%d", v),
		string(asJSON), log.String(),
	}
}

func TestNoFailureShowsTheToken(t *testing.T) {
	echo := func(status int, body string) transport {
		return func(r *http.Request) (*http.Response, error) {
			return reply(status, strings.NewReplacer("PATH", r.URL.Path, "ESCAPED", url.QueryEscape(r.URL.Path)).Replace(body)), nil
		}
	}
	fail := func(err error) transport {
		return func(*http.Request) (*http.Response, error) { return nil, err }
	}
	for name, rt := range map[string]http.RoundTripper{
		"connection refused": &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		}},
		"unknown host": fail(&net.DNSError{Err: "no such host", Name: "api.telegram.org", IsNotFound: true}),
		"transport names the address": transport(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("proxy cannot reach %s", r.URL)
		}),
		"address inside another": transport(func(r *http.Request) (*http.Response, error) {
			inner := &url.Error{Op: "Get", URL: r.URL.String(), Err: io.ErrUnexpectedEOF}
			return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: fmt.Errorf("again: %w", inner)}
		}),
		"echoed path":             echo(404, "Cannot POST PATH"),
		"echoed escaped path":     echo(502, "<p>ESCAPED</p>"),
		"echoed in a description": echo(400, `{"ok":false,"error_code":400,"description":"Bad Request: PATH"}`),
		"echoed in a good answer": echo(200, `{"ok":true,"result":"PATH"}`),
		"echoed secret part":      always(500, "x"+strings.SplitN(testToken, ":", 2)[1]),
		"cut behind the path":     echo(200, `{"ok":true,"result":{"PATH`),
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, rt)
			_, sendErr := c.Send(t.Context(), telegram.Outgoing{Chat: 1, HTML: "x"})
			_, meErr := c.Me(t.Context())
			_, updatesErr := c.Updates(t.Context(), 0, time.Second, 1)
			_, chatErr := c.Chat(t.Context(), 1)
			if meErr == nil && updatesErr == nil {
				t.Fatal("every call succeeded: this path is not one of failure")
			}
			for _, err := range []error{sendErr, meErr, updatesErr, chatErr, c.AnswerCallback(t.Context(), "1", "", false)} {
				for ; err != nil; err = errors.Unwrap(err) {
					for _, text := range printings(err) {
						checkSecret(t, text)
					}
				}
			}
		})
	}
}

// A token too short to be hidden by its secret part alone is hidden whole, in each of its forms.
func TestShortToken(t *testing.T) {
	c, err := telegram.New(telegram.Config{Token: "1:aB", HTTP: &http.Client{
		Transport: always(400, `{"ok":false,"error_code":400,"description":"graB bot1:aB bot1%3AaB bot1%3aaB"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Me(t.Context())
	if got, want := failure(t, err).Description, "graB bot<token> bot<token> bot<token>"; got != want {
		t.Errorf("description = %q, want %q", got, want)
	}
}

func TestCauseKeepsItsType(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	_, err := newClient(t, transport(func(*http.Request) (*http.Response, error) { return nil, refused })).Me(t.Context())
	if op := (*net.OpError)(nil); !errors.As(err, &op) || op != refused {
		t.Errorf("error = %#v, want the cause inside", err)
	}
	if strings.Contains(err.Error(), "Post") {
		t.Errorf("error = %q, want no address", err)
	}
}

func TestTimeoutShowsNoToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wedged := transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		// The limit of the client that is lent would end a long poll, and so it does not count.
		c, err := telegram.New(telegram.Config{Token: testToken, HTTP: &http.Client{Transport: wedged, Timeout: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		_, err = c.Send(t.Context(), telegram.Outgoing{Chat: 1, HTML: "x"})
		e := failure(t, err)
		if !errors.Is(err, context.DeadlineExceeded) || e.Kind != telegram.Transport || !e.Ambiguous {
			t.Errorf("error = %+v, want an ambiguous timeout", *e)
		}
		if took := time.Since(begun); took != 15*time.Second {
			t.Errorf("gave up after %v, want the default of 15s", took)
		}
		checkSecret(t, fmt.Sprintf("%+v %#v", err, err))
	})
}

func TestRedirectIsNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked, with the headers %v", r.Header)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	c, err := telegram.New(telegram.Config{Token: testToken, APIURL: server.URL, HTTP: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Me(t.Context())
	if e := failure(t, err); e.Kind != telegram.Server || e.Ambiguous {
		t.Errorf("error = %+v, want a server that is wrong", *e)
	}
	checkSecret(t, err.Error())
}

func TestPrintedValuesShowNoToken(t *testing.T) {
	cfg := telegram.Config{Token: testToken}
	c, err := telegram.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{c, *c, cfg, &cfg, struct{ C *telegram.Client }{c}, struct{ C telegram.Config }{cfg}, struct{ c telegram.Client }{*c}} {
		for _, text := range printings(v) {
			checkSecret(t, text)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]telegram.Config{
		"no token":           {},
		"newline":            {Token: testToken + "\n"},
		"space":              {Token: testToken + " x"},
		"no colon":           {Token: "123"},
		"slash":              {Token: testToken + "/x"},
		"server, no scheme":  {Token: testToken, APIURL: "api.telegram.org"},
		"server, bad escape": {Token: testToken, APIURL: "http://h/%zz" + testToken},
		"server, no host":    {Token: testToken, APIURL: "https:///bot" + testToken},
		"server, query":      {Token: testToken, APIURL: "https://h/?t=" + testToken},
		"server, user":       {Token: testToken, APIURL: "https://" + testToken + "@h/"},
		"server, file":       {Token: testToken, APIURL: "file:///etc"},
		"negative timeout":   {Token: testToken, Timeout: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := telegram.New(cfg)
			if err == nil {
				t.Fatal("accepted")
			}
			checkSecret(t, err.Error())
		})
	}
}

// Whether a send may have happened decides whether it is repeated.
func TestAmbiguity(t *testing.T) {
	for _, tt := range []struct {
		name string
		rt   http.RoundTripper
		want bool
	}{
		{"refused", transport(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		}), false},
		{"unknown host", transport(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host"}}
		}), false},
		{"no connection in time", &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, context.DeadlineExceeded
		}}, false},
		{"reset", transport(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}
		}), true},
		{"closed without answer", transport(func(*http.Request) (*http.Response, error) { return nil, io.EOF }), true},
		{"cut answer", transport(func(*http.Request) (*http.Response, error) {
			r := reply(200, "")
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"ok":`), cut{}))
			return r, nil
		}), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newClient(t, tt.rt).Send(t.Context(), telegram.Outgoing{Chat: 1, HTML: "x"})
			if e := failure(t, err); e.Kind != telegram.Transport || e.Ambiguous != tt.want {
				t.Errorf("kind %v, ambiguous %v (%v), want transport, %v", e.Kind, e.Ambiguous, e, tt.want)
			}
		})
	}
}

// cut is a connection that breaks.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
