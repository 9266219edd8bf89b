package telegram

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"path"
	"strings"
	"sync/atomic"
)

// largestAnswer bounds every answer but that of getUpdates, in bytes.
const largestAnswer = 4 << 20

// wire carries calls to the server. It is the only holder of the address, and so of the token.
// It is immutable and safe for concurrent use.
type wire struct {
	// address returns https://host/bot<token>/<method>. It is a function, since one cannot be printed.
	address func(method string) string
	http    *http.Client
	redact  redactor
	called  func(method string) (ended func(error)) // may be nil
}

// Do carries one call of the library, whose request has a placeholder for an address. A failure is an *Error, which the
// library wraps and passes on. On success the result of a send is cut down to its id and date, so that the library
// never meets a kind of message that it cannot decode.
func (w *wire) Do(r *http.Request) (*http.Response, error) {
	method := path.Base(r.URL.Path)
	contentType, body, err := encodeForm(r)
	_ = r.Body.Close()
	if err != nil {
		return nil, &Error{Kind: BadRequest, Method: method, Err: err}
	}
	var result json.RawMessage
	if err := w.post(r.Context(), method, contentType, body, &result, largestAnswer); err != nil {
		return nil, err
	}
	whole, err := json.Marshal(map[string]any{"ok": true, "result": result})
	if err != nil {
		return nil, &Error{Kind: Server, Method: method, Ambiguous: true, Err: err}
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(whole))}, nil
}

// post makes one call and decodes its result; the error is an *Error.
func (w *wire) post(ctx context.Context, method, contentType string, body []byte, result any, limit int64) (err error) {
	if w.called != nil {
		ended := w.called(method)
		defer func() { ended(err) }()
	}
	return w.call(ctx, method, contentType, body, result, limit)
}

func (w *wire) call(ctx context.Context, method, contentType string, body []byte, result any, limit int64) error {
	ctx, connected := traceConnection(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address(method), bytes.NewReader(body))
	if err != nil {
		return &Error{Kind: BadRequest, Method: method, Err: w.redact.err(err)}
	}
	r.Header.Set("Content-Type", contentType)
	resp, err := w.http.Do(r)
	if err != nil {
		ambiguous := connected() && !neverSent(err)
		return &Error{Kind: Transport, Method: method, Ambiguous: ambiguous, Err: w.redact.err(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	read, err := readBounded(resp.Body, limit)
	if returnsMessage(method) && resp.StatusCode == http.StatusOK {
		if sent, ok := sentResult(read); ok {
			return sent.into(result)
		}
	}
	if err != nil {
		kind := Transport
		if errors.Is(err, errTooLarge) {
			kind = Server
		}
		return &Error{Kind: kind, Method: method, Code: resp.StatusCode, Ambiguous: true, Err: w.redact.err(err)}
	}
	return w.judge(method, resp, read, result)
}

// judge decodes the result of a whole answer, or says what is wrong.
func (w *wire) judge(method string, resp *http.Response, body []byte, result any) error {
	a := answer{Result: result}
	odd := json.Unmarshal(body, &a)
	if odd == nil && !bytes.Contains(body, []byte(`"result"`)) {
		odd = errNoResult
	}
	if odd == nil && a.OK && resp.StatusCode == http.StatusOK {
		return nil
	}
	a = answer{Result: new(json.RawMessage)} // whatever it is
	err := json.Unmarshal(body, &a)
	if err == nil && a.OK && resp.StatusCode == http.StatusOK {
		return &Error{Kind: Server, Method: method, Code: http.StatusOK, Ambiguous: true, Err: w.redact.err(odd)}
	}
	if err != nil || (a.ErrorCode == 0 && a.Description == "") {
		return w.foreign(method, resp, body)
	}
	a.Description = w.redact.line(a.Description)
	return classify(method, resp.StatusCode, resp.Header, a)
}

// foreign judges an answer that the Bot API did not give: a page of a proxy, a redirect, another service. Its code
// speaks of that proxy, so only what is surely meant for us is taken from it.
func (w *wire) foreign(method string, resp *http.Response, body []byte) *Error {
	status := resp.StatusCode
	e := &Error{Kind: Server, Method: method, Code: status, Ambiguous: status >= 500 || status < 300}
	switch {
	case status == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = TooMany, retryAfter(0, resp.Header)
	case status == http.StatusRequestEntityTooLarge:
		e.Kind = BadRequest
	case status >= 300 && status < 400:
		e.Description = "answered with a redirect, which is not followed: check the API address"
		return e
	}
	e.Description = w.redact.line("answered not as the Bot API does: " + string(body[:min(len(body), 4*longestDescription)]))
	return e
}

// returnsMessage reports whether a method's result is a message.
func returnsMessage(method string) bool {
	return strings.HasPrefix(method, "send") && method != "sendChatAction" || method == "editMessageText"
}

// traceConnection returns a function that reports whether the call may have had a connection. A transport that does
// not speak to the trace counts as connected.
func traceConnection(ctx context.Context) (context.Context, func() bool) {
	var wanted, got atomic.Bool // set by the transport's goroutines
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { wanted.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	})
	return ctx, func() bool { return got.Load() || !wanted.Load() }
}

// neverSent reports whether err arose before a request could leave.
func neverSent(err error) bool {
	var (
		op   *net.OpError
		dns  *net.DNSError
		cert *tls.CertificateVerificationError
		tlsr tls.RecordHeaderError
	)
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	return errors.As(err, &dns) || errors.As(err, &cert) || errors.As(err, &tlsr)
}
