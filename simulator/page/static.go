package page

import (
	"embed"
	"net/http"
	"path"
)

//go:embed static
var static embed.FS

func serveIndex(w http.ResponseWriter, _ *http.Request) { writeStatic(w, "index.html") }

func serveStatic(w http.ResponseWriter, r *http.Request) { writeStatic(w, r.PathValue("name")) }

// writeStatic serves one embedded file. Its type does not depend on what the operating
// system knows of file names.
func writeStatic(w http.ResponseWriter, name string) {
	content, err := static.ReadFile("static/" + name)
	if err != nil {
		fail(w, http.StatusNotFound, "there is no such file")
		return
	}
	w.Header().Set("Content-Type", contentType(path.Ext(name)))
	_, _ = w.Write(content) // the browser may be gone
}

func contentType(ext string) string {
	switch ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}
