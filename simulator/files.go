package simulator

import (
	"fmt"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Limits of files, in bytes.
const (
	maxUpload   = 50 << 20
	maxDownload = 20 << 20
)

// A file is the content of a document. It never changes.
type file struct {
	Document
	path    string // below /file/bot<token>/
	content []byte
}

// keep stores a file. The caller holds mu.
func (s *Server) keep(name string, content []byte) *Document {
	id := s.nextID()
	d := Document{
		FileID: fmt.Sprintf("file-%d", id), FileUniqueID: fmt.Sprintf("unique-%d", id),
		FileName: name, MimeType: mimeType(name, content), FileSize: int64(len(content)),
	}
	s.files[d.FileID] = &file{d, fmt.Sprintf("documents/file_%d%s", id, path.Ext(name)), content}
	return &d
}

func mimeType(name string, content []byte) string {
	if path.Ext(name) == ".txt" {
		return "text/plain"
	}
	if t, _, err := mime.ParseMediaType(http.DetectContentType(content)); err == nil {
		return t
	}
	return "application/octet-stream"
}

func sendDocument(s *Server, c *call) (any, error) {
	caption, err := s.caption(c)
	if err != nil {
		return nil, err
	}
	document, err := s.document(c)
	if err != nil {
		return nil, err
	}
	return s.send(c, Message{Document: document, Caption: caption.text, CaptionEntities: caption.entities})
}

// document takes an upload, or a file that the server has already.
func (s *Server) document(c *call) (*Document, error) {
	name := "document"
	text := c.text(name)
	if attached, ok := strings.CutPrefix(text, "attach://"); ok {
		name = attached
	}
	if up, ok := c.files[name]; ok {
		switch {
		case len(up.content) == 0:
			return nil, refused("file must be non-empty")
		case len(up.content) > maxUpload:
			return nil, &APIError{Code: http.StatusRequestEntityTooLarge, Description: "Request Entity Too Large", Class: Refused}
		}
		return s.keep(path.Base(up.name), up.content), nil
	}
	if f := s.files[text]; f != nil {
		return &f.Document, nil
	}
	if strings.Contains(text, "://") {
		return nil, refused("the simulator does not fetch files by URL")
	}
	return nil, refused("wrong file identifier/HTTP URL specified")
}

func getFile(s *Server, c *call) (any, error) {
	f := s.files[c.text("file_id")]
	switch {
	case f == nil:
		return nil, refused("invalid file_id")
	case f.FileSize > maxDownload:
		return nil, s.errs.wrong("file is too big")
	}
	return map[string]any{
		"file_id": f.FileID, "file_unique_id": f.FileUniqueID, "file_size": f.FileSize, "file_path": f.path,
	}, nil
}

// serveFile answers a download.
func (s *Server) serveFile(w http.ResponseWriter, _ *http.Request, name string) {
	s.mu.Lock()
	var found *file
	for _, f := range s.files {
		if f.path == name {
			found = f
		}
	}
	s.mu.Unlock()
	if found == nil || found.FileSize > maxDownload {
		writeEnvelope(w, nil, asAPIError(s.errs.wrong("Not Found")))
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(found.content)))
	_, _ = w.Write(found.content) // the client may be gone
}

// Content returns the content of a document, as a person would open it. Text is as the
// bot uploaded it.
func (s *Server) Content(d *Document) (content []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d == nil || s.files[d.FileID] == nil {
		return nil, false
	}
	return s.files[d.FileID].content, true
}
