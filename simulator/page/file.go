package page

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// serveFile serves the document of a message. Plain text opens in the browser, unless
// download=1 is asked for; whatever else a bot may send is only ever saved.
func (p *page) serveFile(w http.ResponseWriter, r *http.Request) {
	viewer, ok := p.viewer(w, r)
	if !ok {
		return
	}
	chat, err1 := strconv.ParseInt(r.PathValue("chat"), 10, 64)
	message, err2 := strconv.ParseInt(r.PathValue("message"), 10, 64)
	if err1 != nil || err2 != nil || !p.sees(viewer, chat) {
		fail(w, http.StatusNotFound, "there is no such file")
		return
	}
	m, ok := p.server.Message(chat, message)
	if !ok {
		fail(w, http.StatusNotFound, "there is no such message")
		return
	}
	content, ok := p.server.Content(m.Document)
	if !ok {
		fail(w, http.StatusNotFound, "the message has no file")
		return
	}
	disposition, kind := "attachment", "application/octet-stream"
	if strings.HasPrefix(m.Document.MimeType, "text/plain") {
		kind = "text/plain; charset=utf-8"
		if r.URL.Query().Get("download") == "" {
			disposition = "inline"
		}
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": m.Document.FileName}))
	h.Set("Content-Security-Policy", policy+"; sandbox")
	_, _ = w.Write(content) // the browser may be gone
}
