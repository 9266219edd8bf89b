package telegram

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
)

const typeJSON = "application/json"

// structured names the parameters that the library writes into its form as JSON. Every other one is text, whatever it
// looks like: a message that reads 12, true or {} is still a text.
var structured = map[string]bool{
	"allowed_updates":                true,
	"chat_id":                        true,
	"commands":                       true,
	"disable_content_type_detection": true,
	"disable_notification":           true,
	"drop_pending_updates":           true,
	"entities":                       true,
	"link_preview_options":           true,
	"max_connections":                true,
	"message_id":                     true,
	"message_thread_id":              true,
	"reply_markup":                   true,
	"reply_parameters":               true,
	"scope":                          true,
	"show_alert":                     true,
}

// encodeForm reads the form that the library streams and returns the body to send instead, whole, so that it has a
// known length and can be sent again on a fresh connection: JSON, or the form as it is where it carries a file.
func encodeForm(r *http.Request) (contentType string, body []byte, err error) {
	form, err := io.ReadAll(r.Body)
	if err != nil {
		return "", nil, fmt.Errorf("encode the parameters: %w", err)
	}
	if len(form) == 0 {
		return typeJSON, []byte("{}"), nil // a call without parameters has no form at all
	}
	contentType = r.Header.Get("Content-Type")
	_, media, err := mime.ParseMediaType(contentType)
	if err != nil {
		return "", nil, fmt.Errorf("encode the parameters: %w", err)
	}
	fields := make(map[string]json.RawMessage)
	parts := multipart.NewReader(bytes.NewReader(form), media["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", nil, fmt.Errorf("encode the parameters: %w", err)
		}
		if part.FileName() != "" {
			return contentType, form, nil
		}
		name := part.FormName()
		if fields[name], err = encodeField(name, part); err != nil {
			return "", nil, fmt.Errorf("encode the parameter %s: %w", name, err)
		}
	}
	body, err = json.Marshal(fields)
	if err != nil {
		return "", nil, fmt.Errorf("encode the parameters: %w", err)
	}
	return typeJSON, body, nil
}

func encodeField(name string, value io.Reader) (json.RawMessage, error) {
	var text strings.Builder
	if _, err := io.Copy(&text, value); err != nil {
		return nil, err
	}
	if structured[name] {
		return json.RawMessage(text.String()), nil
	}
	return json.Marshal(text.String())
}
