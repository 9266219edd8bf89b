package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"countersign/simulator/spec"
)

// maxBody is how much of a request is read, in bytes: an upload of 50 MB and some.
const maxBody = 64 << 20

// A call is one request on its way. Its goroutine owns it.
type call struct {
	name     string
	params   map[string]spec.Value
	files    map[string]upload
	at       time.Time
	warnings []string
}

// An upload is a file of a multipart body.
type upload struct {
	name    string
	content []byte
}

func (c *call) warn(text string) { c.warnings = append(c.warnings, text) }

// read takes the parameters from the query string and from a body of any of the three
// kinds.
func (s *Server) read(c *call, w http.ResponseWriter, r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return refused("can't parse the query string")
	}
	c.setAll(query)
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	kind, options, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		err = c.readMultipart(r.Body, options["boundary"])
	} else {
		err = c.readWhole(r.Body, kind)
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &APIError{Code: http.StatusRequestEntityTooLarge, Description: "Request Entity Too Large", Class: Refused}
	}
	return err
}

func (c *call) readWhole(r io.Reader, kind string) error {
	body, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if !utf8.Valid(body) {
		return refused("strings must be encoded in UTF-8")
	}
	switch kind {
	case "application/json":
		var object map[string]json.RawMessage
		if err := json.Unmarshal(body, &object); err != nil {
			return refused("can't parse JSON object")
		}
		for name, raw := range object {
			c.params[name] = spec.Value{JSON: raw}
		}
		return nil
	case "application/x-www-form-urlencoded", "":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return refused("can't parse the form")
		}
		c.setAll(form)
		return c.checkUTF8()
	}
	return refused("unsupported content type %q", kind)
}

func (c *call) readMultipart(r io.Reader, boundary string) error {
	parts := multipart.NewReader(r, boundary)
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return c.checkUTF8() // also a body without any part, as some clients send
		}
		if err != nil {
			return multipartError(err)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return multipartError(err)
		}
		name := part.FormName()
		if part.FileName() == "" {
			c.params[name] = spec.Value{Text: string(content)}
			continue
		}
		if c.files == nil {
			c.files = map[string]upload{}
		}
		c.files[name] = upload{part.FileName(), content}
		c.params[name] = spec.Value{File: true}
	}
}

func multipartError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	return refused("can't parse the multipart form: %v", err)
}

func (c *call) setAll(values url.Values) {
	for name, v := range values {
		c.params[name] = spec.Value{Text: v[len(v)-1]}
	}
}

func (c *call) checkUTF8() error {
	for _, v := range c.params {
		if !utf8.ValidString(v.Text) {
			return refused("strings must be encoded in UTF-8")
		}
	}
	return nil
}

func (c *call) has(name string) bool {
	_, ok := c.params[name]
	return ok
}

// text returns a parameter as text: the string itself, or the JSON of anything else.
func (c *call) text(name string) string {
	v := c.params[name]
	if v.JSON == nil {
		return v.Text
	}
	var text string
	if json.Unmarshal(v.JSON, &text) == nil && v.JSON[0] == '"' {
		return text
	}
	return string(v.JSON)
}

// int returns an integer parameter, or the fallback. The check has seen to its type.
func (c *call) int(name string, fallback int64) int64 {
	n, err := strconv.ParseInt(c.text(name), 10, 64)
	if err != nil {
		return fallback
	}
	return n
}

func (c *call) bool(name string) bool {
	b, _ := spec.ParseBool(c.text(name))
	return b
}

// object decodes a parameter that is an object or an array. It does nothing if there is
// none.
func (c *call) object(name string, into any) error {
	if !c.has(name) {
		return nil
	}
	if err := json.Unmarshal([]byte(c.text(name)), into); err != nil {
		return refused("can't parse %s", name)
	}
	return nil
}

// logged returns the parameters for the log. Of an upload only the name is kept.
func (c *call) logged() map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(c.params))
	for name, v := range c.params {
		switch {
		case v.File:
			out[name] = mustJSON("file " + c.files[name].name)
		case v.JSON != nil:
			out[name] = v.JSON
		case json.Valid([]byte(v.Text)) && !strings.HasPrefix(v.Text, `"`) && name != "text" && name != "caption":
			out[name] = json.RawMessage(v.Text)
		default:
			out[name] = mustJSON(v.Text)
		}
	}
	return out
}

// mustJSON marshals what cannot fail: plain structs of this package and strings.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
