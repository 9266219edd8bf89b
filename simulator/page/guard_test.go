package page_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestPageIsWholeAndRunsNothingElse(t *testing.T) {
	s := newStage(t)
	index := s.do(http.MethodGet, "/", "")
	if index.Code != http.StatusOK || !strings.HasPrefix(index.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("GET / = %d %s", index.Code, index.Header())
	}
	csp := index.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("policy %q lacks %q", csp, want)
		}
	}
	if strings.Contains(csp, "unsafe") {
		t.Errorf("policy %q has an exception", csp)
	}
	html := index.Body.String()
	for _, forbidden := range []string{`<script>`, `<style`, ` style="`, ` onclick=`, `//`} {
		if strings.Contains(html, forbidden) {
			t.Errorf("the page holds %q", forbidden)
		}
	}

	// Everything the page loads is there, and so is what that loads.
	seen := map[string]bool{}
	queue := regexp.MustCompile(`(?:href|src)="(/static/[^"#]+)"`).FindAllStringSubmatch(html, -1)
	for len(queue) > 0 {
		path := queue[0][1]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		w := s.do(http.MethodGet, path, "")
		if w.Code != http.StatusOK {
			t.Errorf("GET %s = %d", path, w.Code)
			continue
		}
		body := w.Body.String()
		if strings.HasSuffix(path, ".js") {
			if strings.Contains(body, "innerHTML") || strings.Contains(body, "insertAdjacentHTML") {
				t.Errorf("%s reads markup", path)
			}
			for _, m := range regexp.MustCompile(`from '\./([^']+)'`).FindAllStringSubmatch(body, -1) {
				queue = append(queue, []string{"", "/static/" + m[1]})
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d files found; the search is broken", len(seen))
	}
	for _, path := range []string{"/static/nothing.js", "/static/", "/static/..%2fpage.go", "/other"} {
		if w := s.do(http.MethodGet, path, ""); w.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, w.Code)
		}
	}
}

func TestGuard(t *testing.T) {
	const body = `{"as":1001,"chat":1001,"text":"hello"}`
	cases := []struct {
		name    string
		method  string
		target  string
		body    string
		headers []string
		want    int
	}{
		{"the page itself may", http.MethodPost, "/api/send", body, nil, http.StatusOK},
		{"by another address of this machine", http.MethodPost, "/api/send", body, []string{"Host", "[::1]:8080", "Origin", "http://[::1]:8080"}, http.StatusOK},
		{"as localhost", http.MethodPost, "/api/send", body, []string{"Host", "localhost:8080", "Origin", "http://localhost:8080"}, http.StatusOK},
		{"a program without a browser may", http.MethodPost, "/api/send", body, []string{"Origin", "", "Sec-Fetch-Site", ""}, http.StatusOK},
		{"another site may not", http.MethodPost, "/api/send", body, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"nor another port of this machine", http.MethodPost, "/api/send", body, []string{"Origin", "http://127.0.0.1:9999", "Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{"nor an old browser from elsewhere", http.MethodPost, "/api/send", body, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", ""}, http.StatusForbidden},
		{"a foreign name pointed here", http.MethodPost, "/api/send", body, []string{"Host", "evil.example:8080", "Origin", "http://evil.example:8080"}, http.StatusMisdirectedRequest},
		{"such a name reads nothing either", http.MethodGet, "/api/snapshot?as=1001", "", []string{"Host", "evil.example:8080"}, http.StatusMisdirectedRequest},
		{"a form", http.MethodPost, "/api/send", body, []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
		{"no type", http.MethodPost, "/api/send", body, []string{"Content-Type", ""}, http.StatusUnsupportedMediaType},
		{"not JSON", http.MethodPost, "/api/send", `as=1001`, nil, http.StatusBadRequest},
		{"a field too many", http.MethodPost, "/api/send", `{"as":1001,"chat":1001,"text":"a","x":1}`, nil, http.StatusBadRequest},
		{"two values", http.MethodPost, "/api/send", body + body, nil, http.StatusBadRequest},
		{"a huge body", http.MethodPost, "/api/send", `{"text":"` + strings.Repeat("a", 70_000) + `"}`, nil, http.StatusRequestEntityTooLarge},
		{"GET sends nothing", http.MethodGet, "/api/send?as=1001&chat=1001&text=hello", "", nil, http.StatusMethodNotAllowed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			before := len(s.sim.Messages(annID))
			w := s.do(c.method, c.target, c.body, c.headers...)
			if w.Code != c.want {
				t.Errorf("status %d, want %d: %s", w.Code, c.want, w.Body)
			}
			sent := len(s.sim.Messages(annID)) - before
			if allowed := c.want == http.StatusOK; sent != 0 != allowed {
				t.Errorf("%d messages sent", sent)
			}
		})
	}
}
