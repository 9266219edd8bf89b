package simulator

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"syscall"
)

// Client returns an HTTP client whose requests go straight to the server, whatever
// address they name, without a socket. Such a client works in a bubble of package
// testing/synctest, if the server was made in it. It follows no redirects.
func (s *Server) Client() *http.Client {
	return &http.Client{
		Transport:     transport{s},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// transport calls a handler in place of a network.
type transport struct{ server http.Handler }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, writer := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: writer, started: make(chan int, 1), failed: make(chan error, 1)}
	server := r.Clone(r.Context())
	if server.Body == nil {
		server.Body = http.NoBody
	}
	go w.run(t.server, server)
	select {
	case status := <-w.started:
		length, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64)
		if err != nil {
			length = -1
		}
		return &http.Response{
			Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: w.sent, Body: body, ContentLength: length, Request: r,
		}, nil
	case err := <-w.failed:
		return nil, err
	case <-r.Context().Done():
		_ = body.Close()
		return nil, r.Context().Err()
	}
}

// pipeWriter is the ResponseWriter of one request. The handler's goroutine owns it; the
// channels hand the result over.
type pipeWriter struct {
	header  http.Header
	sent    http.Header // header as it was when the status was written
	body    *io.PipeWriter
	started chan int   // gets the status
	failed  chan error // gets the error of a connection that broke before it
	status  int
}

func (w *pipeWriter) run(h http.Handler, r *http.Request) {
	defer func() {
		_ = r.Body.Close()
		if v := recover(); v != nil {
			if abort, ok := v.(error); !ok || !errors.Is(abort, http.ErrAbortHandler) {
				panic(v)
			}
			err := fmt.Errorf("simulated connection: %w", syscall.ECONNRESET)
			w.failed <- err
			_ = w.body.CloseWithError(err)
			return
		}
		w.WriteHeader(http.StatusOK)
		_ = w.body.Close()
	}()
	h.ServeHTTP(w, r)
}

// Header implements http.ResponseWriter.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *pipeWriter) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
	w.started <- status
}

// Write implements http.ResponseWriter. It waits for the reader.
func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush implements http.Flusher.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }
