package telegram

import (
	"context"
	"encoding/json"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
)

// Button is one button under a message. A tap on it brings its Data back in a [Callback].
type Button struct {
	Text  string // shown; not empty
	Data  string // 1–64 bytes
	Style string // "", "danger", "primary" or "success"; older apps ignore it
}

// Keyboard is the rows of buttons under a message. Nil or empty: none.
type Keyboard [][]Button

// Outgoing is one text message, to send or to edit into. Texts have at most 4096 UTF-16 units after parsing.
type Outgoing struct {
	Chat       int64
	Thread     int      // the topic; 0: none, or the General topic, which has no id
	ReplyTo    int      // the message to reply to; 0: none. If it is gone, the message is sent all the same
	HTML       string   // the text with formatting; sent unless PlainOnly is set or it is empty
	Plain      string   // the same text without; what a caller falls back to after an error of kind [Parse]
	PlainOnly  bool     // send Plain, as one monospace run
	Keyboard   Keyboard // replaces the one of the message that is edited, also when empty
	Silent     bool     // no sound
	ForceReply bool     // open a reply field for the person replied to; only without Keyboard, never on an edit
}

// Sent says which message a send made.
type Sent struct {
	MessageID int   `json:"message_id"`
	Date      int64 `json:"date"` // Unix seconds, by Telegram's clock
	// Undecoded: Telegram said that it was sent, but not in a way that could be read whole; MessageID is 0.
	Undecoded bool `json:"-"`
}

// into puts what was sent where the result of a call goes.
func (s Sent) into(result any) (err error) {
	switch result := result.(type) {
	case *Sent:
		*result = s
	case *json.RawMessage:
		*result, err = json.Marshal(s)
	}
	return err
}

// Send posts a message, with one call. An error of kind [Parse] leaves the choice of another text to the caller.
func (c *Client) Send(ctx context.Context, m Outgoing) (Sent, error) {
	p := m.params()
	p.Thread, p.Silent = m.Thread, m.Silent
	if m.ReplyTo != 0 {
		p.Reply = &replyParams{Message: m.ReplyTo, AllowWithout: true}
	}
	return c.post(ctx, "sendMessage", p)
}

// Edit replaces text and keyboard of a message of this bot. Thread, ReplyTo, Silent and ForceReply do not apply.
// A message that is already so is success.
func (c *Client) Edit(ctx context.Context, chat int64, message int, m Outgoing) error {
	m.Chat, m.ForceReply = chat, false
	p := m.params()
	p.Message = message
	_, err := c.post(ctx, "editMessageText", p)
	if isKind(err, NotModified) {
		return nil
	}
	return err
}

// post makes a call whose result is a message.
func (c *Client) post(ctx context.Context, method string, params any) (sent Sent, err error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	if err := c.call(ctx, method, params, &sent, largestAnswer); err != nil {
		return Sent{}, err
	}
	sent.Undecoded = sent.MessageID == 0
	return sent, nil
}

// AnswerCallback ends the wait that an app shows after a tap. The text, of at most 200 characters, may be empty; alert
// shows it in a window that has to be closed. A late answer fails with [QueryTooOld].
func (c *Client) AnswerCallback(ctx context.Context, id, text string, alert bool) error {
	ctx, cancel := c.within(ctx)
	defer cancel()
	return c.call(ctx, "answerCallbackQuery", answerParams{ID: id, Text: text, Alert: alert}, new(json.RawMessage), largestAnswer)
}

// What is called most is written by hand: the library's form is read again and written anew as JSON, which takes
// longer than the call itself.
type (
	// messageParams are those of sendMessage and editMessageText.
	messageParams struct {
		Chat      int64                  `json:"chat_id"`
		Message   int                    `json:"message_id,omitempty"`
		Thread    int                    `json:"message_thread_id,omitempty"`
		Text      string                 `json:"text"`
		ParseMode models.ParseMode       `json:"parse_mode,omitempty"`
		Entities  []models.MessageEntity `json:"entities,omitempty"`
		Preview   preview                `json:"link_preview_options"`
		Silent    bool                   `json:"disable_notification,omitempty"`
		Reply     *replyParams           `json:"reply_parameters,omitempty"`
		Markup    any                    `json:"reply_markup,omitempty"`
	}
	preview struct {
		Disabled bool `json:"is_disabled"`
	}
	replyParams struct {
		Message      int  `json:"message_id"`
		AllowWithout bool `json:"allow_sending_without_reply"`
	}
	answerParams struct {
		ID    string `json:"callback_query_id"`
		Text  string `json:"text,omitempty"`
		Alert bool   `json:"show_alert,omitempty"`
	}
)

// params are what sends and edits have in common.
func (m Outgoing) params() messageParams {
	p := messageParams{Chat: m.Chat, Preview: preview{Disabled: true}}
	p.Text, p.ParseMode, p.Entities = m.text()
	if markup := m.markup(); markup != nil {
		p.Markup = markup
	}
	return p
}

// text returns what is sent, and how it is to be parsed. Plain text stands in one monospace run: apps would make links,
// commands and mentions of what is in it otherwise.
func (m Outgoing) text() (string, models.ParseMode, []models.MessageEntity) {
	switch {
	case m.PlainOnly:
		run := models.MessageEntity{Type: models.MessageEntityTypePre, Length: len(utf16.Encode([]rune(m.Plain)))}
		return m.Plain, "", []models.MessageEntity{run}
	case m.HTML == "":
		return m.Plain, "", nil
	}
	return m.HTML, models.ParseModeHTML, nil
}

// These replace the library's own types, which write an empty copy_text into every button: a strict server takes that
// for a second action.
type (
	inlineButton struct {
		Text  string `json:"text"`
		Data  string `json:"callback_data"`
		Style string `json:"style,omitempty"`
	}
	inlineKeyboard struct {
		Rows [][]inlineButton `json:"inline_keyboard"`
	}
	forceReply struct {
		ForceReply bool `json:"force_reply"`
		Selective  bool `json:"selective"`
	}
)

// markup returns nil where there is none: a message sent without has no keyboard, and an edited one loses its own.
func (m Outgoing) markup() models.ReplyMarkup {
	var k inlineKeyboard
	for _, row := range m.Keyboard {
		buttons := make([]inlineButton, 0, len(row))
		for _, b := range row {
			buttons = append(buttons, inlineButton(b))
		}
		if len(buttons) > 0 {
			k.Rows = append(k.Rows, buttons)
		}
	}
	switch {
	case len(k.Rows) > 0:
		return k
	case m.ForceReply:
		return forceReply{ForceReply: true, Selective: true}
	}
	return nil
}
