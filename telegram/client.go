package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/go-telegram/bot"
)

const (
	defaultAPIURL  = "https://api.telegram.org"
	defaultTimeout = 15 * time.Second

	// What the library is told instead of a token and a server. It never sees the real ones.
	placeholderToken  = "0:placeholder"
	placeholderServer = "http://bot-api.invalid"
)

var tokenForm = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)

// Config says which bot a Client is and where its server stands.
type Config struct {
	Token   string        // as given by @BotFather: digits, a colon, then letters, digits, _ and -
	APIURL  string        // http or https, without query; empty: https://api.telegram.org
	Timeout time.Duration // of one call, from dialling to the last byte; 0: 15 s. A long poll has its own
	// HTTP is the transport to use; nil: one made for this client. It is copied: its Timeout and CheckRedirect are
	// replaced, since calls have deadlines of their own and redirects are never followed.
	HTTP *http.Client
	// Called is told of each call as it begins, and what it returns of the error with which it ended, nil for none. It may
	// be nil, and must be safe for concurrent use.
	Called func(method string) (ended func(error))
}

// Format prints nothing of a Config, whatever the verb: it holds the token. This does not reach a Config in an unexported
// field of another value, which package fmt prints bare.
func (Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "telegram.Config") }

// MarshalJSON prints nothing of a Config.
func (Config) MarshalJSON() ([]byte, error) { return []byte(`{}`), nil }

// Client speaks to the Bot API as one bot. It holds no state but its connections, and is safe for concurrent use.
type Client struct {
	wire    *wire
	library *bot.Bot
	timeout time.Duration
}

// Format prints nothing of a Client, whatever the verb.
func (Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "telegram.Client") }

// New checks the configuration and makes a Client. It calls nobody.
func New(cfg Config) (*Client, error) {
	if !tokenForm.MatchString(cfg.Token) {
		return nil, errors.New("telegram token: want digits, a colon, then letters, digits, _ or - (as given by @BotFather)")
	}
	hide := newRedactor(cfg.Token)
	server, err := checkAPIURL(cfg.APIURL)
	if err != nil {
		return nil, hide.err(err)
	}
	if cfg.Timeout < 0 {
		return nil, fmt.Errorf("telegram timeout: %v is negative", cfg.Timeout)
	}
	address := func(method string) string { return server + "/bot" + cfg.Token + "/" + method }
	w := &wire{address: address, http: newHTTP(cfg.HTTP), redact: hide, called: cfg.Called}
	library, err := bot.New(placeholderToken,
		bot.WithSkipGetMe(),
		bot.WithServerURL(placeholderServer),
		bot.WithHTTPClient(0, w),
		bot.WithErrorsHandler(func(error) {}), // what it reports there, it returns as well
		bot.WithDebugHandler(func(string, ...any) {}),
	)
	if err != nil {
		return nil, fmt.Errorf("telegram library: %w", err)
	}
	timeout := cfg.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	return &Client{wire: w, library: library, timeout: timeout}, nil
}

// checkAPIURL returns the server's address without a final slash.
func checkAPIURL(raw string) (string, error) {
	if raw == "" {
		raw = defaultAPIURL
	}
	u, err := url.Parse(raw)
	var unreadable *url.Error
	switch {
	case errors.As(err, &unreadable):
		return "", fmt.Errorf("telegram api_url: %w", unreadable.Err)
	case err != nil:
		return "", fmt.Errorf("telegram api_url: %w", err)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("telegram api_url: want http:// or https:// and a host")
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return "", errors.New("telegram api_url: want no user, query or fragment")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// newHTTP returns a client that follows no redirect and leaves deadlines to the context of each call.
func newHTTP(base *http.Client) *http.Client {
	var c http.Client
	if base != nil {
		c = *base
	} else {
		c.Transport = newTransport()
	}
	c.Timeout = 0
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// maxIdle is how many connections are kept: as many as calls to one chat are under way at once, and some. A connection
// that is not kept costs a handshake with the next call.
const maxIdle = 128

// newTransport keeps enough connections for the senders, and finds out when one has died under a long poll: over
// HTTP/2 an expired call alone does not close its connection, and the next would be lost on it as well.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: maxIdle,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}
}

// within bounds one call.
func (c *Client) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timeout)
}

// failure makes an *Error of what the library returned for a call: ours, which it wraps, or a fault of its own.
func (c *Client) failure(method string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Server, Method: method, Ambiguous: true, Err: c.wire.redact.err(err)}
}

// call makes a call that the library has not, decodes too strictly, or takes too long over. The result goes into result unless that is nil.
func (c *Client) call(ctx context.Context, method string, params, result any, limit int64) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // nobody shows it as a page, and texts are full of tags
	if err := encoder.Encode(params); err != nil {
		return &Error{Kind: BadRequest, Method: method, Err: err}
	}
	return c.wire.post(ctx, method, typeJSON, bytes.TrimSuffix(body.Bytes(), []byte("\n")), result, limit)
}
