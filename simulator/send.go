package simulator

import (
	"encoding/json"
	"strings"

	"countersign/simulator/entities"
)

// replyParameters are those parts of reply_parameters that the simulator knows.
type replyParameters struct {
	MessageID    int64           `json:"message_id"`
	ChatID       json.RawMessage `json:"chat_id"`
	AllowWithout bool            `json:"allow_sending_without_reply"`
	Quote        string          `json:"quote"`
	Position     *int            `json:"quote_position"`
}

// sendMessage handles the method of that name. The caller holds mu, as for all handlers.
func sendMessage(s *Server, c *call) (any, error) {
	text, err := s.messageText(c, "message is too long")
	if err != nil {
		return nil, err
	}
	var preview json.RawMessage
	if c.has("link_preview_options") {
		preview = json.RawMessage(c.text("link_preview_options"))
	}
	return s.send(c, Message{Text: text.text, Entities: text.entities, LinkPreviewOptions: preview})
}

// send posts a message of the bot: what the content does not say is taken from the call.
func (s *Server) send(c *call, m Message) (any, error) {
	keyboard, other, err := s.markup(c)
	if err != nil {
		return nil, err
	}
	ch, err := s.writable(c)
	if err != nil {
		return nil, err
	}
	if err := s.checkKeyboardPlace(ch, keyboard, other); err != nil {
		return nil, err
	}
	if err := s.reply(c, ch, &m); err != nil {
		return nil, err
	}
	thread, err := s.thread(c, ch, m.ReplyToMessage)
	if err != nil {
		return nil, err
	}
	if c.bool("allow_paid_broadcast") {
		c.warn("allow_paid_broadcast costs Stars")
	}
	m.MessageThreadID, m.IsTopicMessage = thread, thread != 0
	m.ReplyMarkup, m.ReplyInterface = keyboard, other
	m.HasProtectedContent, m.Silent = c.bool("protect_content"), c.bool("disable_notification")
	if ch.Type == Channel {
		m.SenderChat = ch.face()
	} else {
		m.From = &s.bot.User
	}
	stored := s.post(ch, m)
	stored.fromBot = true
	ch.lastBot = s.bot.ID
	return *stored.current(), nil
}

// reply fills in the message that is replied to.
func (s *Server) reply(c *call, ch *chat, m *Message) error {
	var p replyParameters
	if err := c.object("reply_parameters", &p); err != nil {
		return err
	}
	if p.MessageID == 0 {
		return nil
	}
	if p.ChatID != nil && strings.Trim(string(p.ChatID), `"`) != c.text("chat_id") {
		return refused("the simulator does not simulate replies into another chat")
	}
	target := ch.message(p.MessageID)
	if target == nil {
		switch {
		case p.AllowWithout:
			return nil
		case ch.any(p.MessageID) != nil:
			return s.errs.state("message to be replied not found")
		}
		return s.errs.wrong("message to be replied not found")
	}
	if p.Quote != "" {
		position := strings.Index(target.current().Text, p.Quote)
		if position < 0 {
			return refused("QUOTE_TEXT_INVALID")
		}
		m.Quote = &Quote{Text: p.Quote, Position: entities.UTF16Len(target.current().Text[:position]), IsManual: true}
	}
	m.ReplyToMessage = replied(target)
	return nil
}

// replied is a message as another one shows it: without what it replied to itself.
func replied(m *message) *Message {
	shown := *m.current()
	shown.ReplyToMessage = nil
	return &shown
}
