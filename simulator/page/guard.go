package page

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
)

// maxBody bounds the body of a POST, in bytes. A message has at most 4,096 characters.
const maxBody = 64 << 10

// policy lets the page load and call nothing but what this server serves.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard keeps other pages in the same browser out, and tells the browser how little
// this one needs.
func guard(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusForbidden, "this request comes from another site")
	}))
	guarded := protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !named(r.Host) {
			fail(w, http.StatusMisdirectedRequest, "this server is known by its IP address or as localhost only")
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// named reports whether a Host header names the server in a way that nobody else can
// make a browser do: any other name may have been pointed at this address.
func named(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// decode reads the JSON body of a POST into v. If it cannot, it answers the request and
// reports false. Browsers send other sites' forms without asking, but never as JSON.
func decode(w http.ResponseWriter, r *http.Request, v any) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, "the body must be JSON, with Content-Type: application/json")
		return false
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err = d.Decode(v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one JSON value")
		}
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		fail(w, http.StatusRequestEntityTooLarge, "the body is too large")
		return false
	case err != nil:
		fail(w, http.StatusBadRequest, "the body is not understood: "+err.Error())
		return false
	}
	return true
}

// fail answers with an error for a person.
func fail(w http.ResponseWriter, status int, text string) {
	reply(w, status, struct {
		Error string `json:"error"`
	}{text})
}

// reply answers with JSON.
func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the browser may be gone
}
