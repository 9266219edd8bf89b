package simulator

import (
	"reflect"
	"slices"
	"time"
)

// deleteWithin is how long after sending a message can be deleted.
const deleteWithin = 48 * time.Hour

// editable finds the message that a call wants to edit.
func (s *Server) editable(c *call) (*chat, *message, error) {
	if c.has("inline_message_id") {
		return nil, nil, refused("the simulator does not simulate messages sent via inline mode")
	}
	if !c.has("message_id") {
		return nil, nil, refused("message identifier is not specified")
	}
	ch, err := s.readable(c)
	if err != nil {
		return nil, nil, err
	}
	id := c.int("message_id", 0)
	m := ch.message(id)
	switch {
	case m == nil && ch.any(id) == nil:
		return nil, nil, s.errs.wrong("message to edit not found")
	case m == nil:
		return nil, nil, s.errs.state("message to edit not found")
	case !m.fromBot || m.current().ReplyInterface != nil:
		return nil, nil, s.errs.wrong("message can't be edited")
	}
	return ch, m, nil
}

// revise makes a new version of a message unless it would be the same.
func (s *Server) revise(ch *chat, m *message, change func(*Message)) (any, error) {
	next := *m.current()
	change(&next)
	if sameContent(next, *m.current()) {
		return nil, s.errs.state("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	s.edit(ch, m, change)
	return *m.current(), nil
}

func sameContent(a, b Message) bool {
	return a.Text == b.Text && a.Caption == b.Caption &&
		sameEntities(a.Entities, b.Entities) && sameEntities(a.CaptionEntities, b.CaptionEntities) &&
		reflect.DeepEqual(a.ReplyMarkup, b.ReplyMarkup)
}

func sameEntities(a, b []Entity) bool {
	return slices.EqualFunc(a, b, func(x, y Entity) bool { return reflect.DeepEqual(x, y) })
}

func editMessageText(s *Server, c *call) (any, error) {
	if c.has("rich_message") {
		return nil, refused("the simulator does not simulate rich messages")
	}
	if c.text("text") == "" {
		return nil, s.errs.wrong("message text is empty")
	}
	text, err := s.messageText(c, "MESSAGE_TOO_LONG")
	if err != nil {
		return nil, err
	}
	keyboard, _, err := s.markup(c)
	if err != nil {
		return nil, err
	}
	ch, m, err := s.editable(c)
	if err != nil {
		return nil, err
	}
	if m.current().Text == "" {
		return nil, s.errs.wrong("there is no text in the message to edit")
	}
	if err := s.checkKeyboardPlace(ch, keyboard, nil); err != nil {
		return nil, err
	}
	return s.revise(ch, m, func(next *Message) {
		next.Text, next.Entities, next.ReplyMarkup = text.text, text.entities, keyboard
	})
}

func editMessageCaption(s *Server, c *call) (any, error) {
	text, err := s.caption(c)
	if err != nil {
		return nil, err
	}
	keyboard, _, err := s.markup(c)
	if err != nil {
		return nil, err
	}
	ch, m, err := s.editable(c)
	if err != nil {
		return nil, err
	}
	if m.current().Document == nil {
		return nil, refused("there is no caption in the message to edit")
	}
	return s.revise(ch, m, func(next *Message) {
		next.Caption, next.CaptionEntities, next.ReplyMarkup = text.text, text.entities, keyboard
	})
}

func editMessageReplyMarkup(s *Server, c *call) (any, error) {
	keyboard, _, err := s.markup(c)
	if err != nil {
		return nil, err
	}
	ch, m, err := s.editable(c)
	if err != nil {
		return nil, err
	}
	if err := s.checkKeyboardPlace(ch, keyboard, nil); err != nil {
		return nil, err
	}
	return s.revise(ch, m, func(next *Message) { next.ReplyMarkup = keyboard })
}

func deleteMessage(s *Server, c *call) (any, error) {
	ch, err := s.readable(c)
	if err != nil {
		return nil, err
	}
	id := c.int("message_id", 0)
	m := ch.message(id)
	switch {
	case m == nil && ch.any(id) == nil:
		return nil, s.errs.wrong("message to delete not found")
	case m == nil:
		return nil, s.errs.state("message to delete not found")
	}
	bot := ch.members[s.bot.ID]
	mayDelete := m.fromBot || ch.isPrivate() || bot.admin() && bot.rights.DeleteMessages
	age := c.at.Sub(time.Unix(m.current().Date, 0))
	if !mayDelete || age >= deleteWithin {
		return nil, s.errs.wrong("message can't be deleted")
	}
	s.remove(ch, m)
	return true, nil
}
