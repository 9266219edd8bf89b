package simulator

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"countersign/simulator/spec"
)

// Limits of inline keyboards.
const (
	maxCallbackData = 64     // bytes
	maxButtons      = 100    // in all
	maxMarkup       = 10_000 // bytes of JSON
	shownInRow      = 8      // more are shown too small to read
	maxInRow        = 12     // more are dropped in silence
	maxCopyText     = 256    // code points
)

// checkMarkupShape refuses what is no keyboard at all, in the server's own words.
func (s *Server) checkMarkupShape(c *call, method *spec.Method) error {
	raw := strings.TrimSpace(c.text("reply_markup"))
	if !c.has("reply_markup") || raw == "" {
		return nil
	}
	if !json.Valid([]byte(raw)) {
		return s.errs.wrong("can't parse reply keyboard markup JSON object")
	}
	if raw[0] != '{' {
		return s.errs.wrong("object expected as reply markup")
	}
	if strings.HasPrefix(method.Name, "edit") && isReplyInterface([]byte(raw)) {
		return s.errs.wrong("inline keyboard expected")
	}
	return nil
}

// isReplyInterface reports whether a markup is a reply keyboard, its removal or a forced
// reply.
func isReplyInterface(raw []byte) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return false
	}
	for _, key := range []string{"keyboard", "remove_keyboard", "force_reply"} {
		if _, ok := object[key]; ok {
			return true
		}
	}
	return false
}

// markup reads reply_markup: an inline keyboard, or something else that the chat shows
// below the input field.
func (s *Server) markup(c *call) (*Keyboard, json.RawMessage, error) {
	raw := []byte(strings.TrimSpace(c.text("reply_markup")))
	if len(raw) == 0 {
		return nil, nil, nil
	}
	if isReplyInterface(raw) {
		return nil, raw, nil
	}
	var sent struct {
		Rows [][]json.RawMessage `json:"inline_keyboard"`
	}
	if err := json.Unmarshal(raw, &sent); err != nil {
		return nil, nil, s.errs.wrong("can't parse reply keyboard markup JSON object")
	}
	if len(raw) > maxMarkup {
		return nil, nil, s.errs.wrong("reply markup is too long")
	}
	k := &Keyboard{}
	count := 0
	for i, sentRow := range sent.Rows {
		row, err := s.row(c, i, sentRow)
		if err != nil {
			return nil, nil, err
		}
		if count += len(row); count > maxButtons {
			return nil, nil, s.errs.wrong("reply markup is too long")
		}
		if len(row) > 0 {
			k.Rows = append(k.Rows, row)
		}
	}
	if len(k.Rows) == 0 {
		return nil, nil, nil // an empty keyboard is none
	}
	return k, nil, nil
}

func (s *Server) row(c *call, number int, sent []json.RawMessage) ([]Button, error) {
	var row []Button
	for _, raw := range sent {
		b, err := s.button(raw)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(b.Text) == "" {
			c.warn(fmt.Sprintf("a button without text in row %d; the server drops it", number+1))
			continue
		}
		row = append(row, b)
	}
	if len(row) > shownInRow {
		c.warn(fmt.Sprintf("%d buttons in row %d; more than 8 are hard to read and more than 12 dropped", len(row), number+1))
		row = row[:min(len(row), maxInRow)]
	}
	return row, nil
}

func (s *Server) button(raw json.RawMessage) (Button, error) {
	var b Button
	if err := json.Unmarshal(raw, &b); err != nil {
		return b, refused("can't parse InlineKeyboardButton")
	}
	switch b.Style {
	case "", "danger", "success", "primary":
	case "default":
		b.Style = ""
	default:
		return b, refused("invalid button style specified")
	}
	if b.CopyText != nil && b.CopyText.Text == "" {
		// Clients that always send the field work as long as the button does
		// something else.
		if len(b.actions()) == 0 {
			return b, s.errs.wrong("BUTTON_COPY_TEXT_INVALID")
		}
		b.CopyText = nil
	}
	switch actions := b.actions(); len(actions) {
	case 0:
		return b, s.errs.wrong("can't parse InlineKeyboardButton: Text buttons are not allowed in the inline keyboard")
	case 1:
	default:
		return b, refused("can't parse InlineKeyboardButton: the simulator allows one action in a button, not %s", strings.Join(actions, " and "))
	}
	switch {
	case len(b.CallbackData) > maxCallbackData:
		return b, s.errs.wrong("BUTTON_DATA_INVALID")
	case b.CopyText != nil && utf8.RuneCountInString(b.CopyText.Text) > maxCopyText:
		return b, s.errs.wrong("BUTTON_COPY_TEXT_INVALID")
	case b.URL != "" && !validButtonURL(b.URL):
		return b, s.errs.wrong("BUTTON_URL_INVALID")
	}
	return b, nil
}

// actions names what a button does. A correct button does one thing.
func (b Button) actions() []string {
	var names []string
	add := func(name string, set bool) {
		if set {
			names = append(names, name)
		}
	}
	add("url", b.URL != "")
	add("callback_data", b.CallbackData != "")
	add("web_app", b.WebApp != nil)
	add("login_url", b.LoginURL != nil)
	add("switch_inline_query", b.SwitchInline != nil)
	add("switch_inline_query_current_chat", b.SwitchInlineHere != nil)
	add("switch_inline_query_chosen_chat", b.SwitchInlineIn != nil)
	add("copy_text", b.CopyText != nil && b.CopyText.Text != "")
	add("callback_game", b.CallbackGame != nil)
	add("pay", b.Pay)
	return names
}

func validButtonURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "tg":
		return true
	case "http", "https":
		return strings.Contains(u.Hostname(), ".") && !strings.ContainsAny(u.Host, " <>")
	}
	return u.Scheme == "" && strings.Contains(text, ".") && !strings.ContainsAny(text, " <>")
}

// checkKeyboardPlace refuses buttons that do not work in a chat of this kind.
func (s *Server) checkKeyboardPlace(ch *chat, k *Keyboard, other json.RawMessage) error {
	if other != nil && ch.Type == Channel {
		return s.errs.wrong("inline keyboard expected")
	}
	if k == nil || ch.isPrivate() {
		return nil
	}
	for _, row := range k.Rows {
		for _, b := range row {
			if b.WebApp != nil {
				return s.errs.wrong("BUTTON_TYPE_INVALID")
			}
		}
	}
	return nil
}

// find looks for a button by its text: exactly, else by how it begins.
func (m Message) find(text string) (row, col int, ok bool) {
	matches := []func(string) bool{
		func(t string) bool { return t == text },
		func(t string) bool { return strings.HasPrefix(t, text) },
	}
	for _, match := range matches {
		for i, buttons := range m.Keyboard() {
			for j, b := range buttons {
				if match(b.Text) {
					return i, j, true
				}
			}
		}
	}
	return 0, 0, false
}
