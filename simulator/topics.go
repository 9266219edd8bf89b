package simulator

import "unicode/utf8"

const (
	defaultTopicColor = 0x6FB9F0
	maxTopicName      = 128 // code points
)

// forum finds the forum that a call names and checks that the bot may manage topics.
func (s *Server) forum(c *call) (*chat, error) {
	ch, err := s.readable(c)
	if err != nil {
		return nil, err
	}
	if !ch.IsForum {
		return nil, refused("the chat is not a forum")
	}
	if bot := ch.members[s.bot.ID]; !bot.admin() || !bot.rights.ManageTopics {
		return nil, stateError("not enough rights to create a topic")
	}
	return ch, nil
}

// namedTopic finds the topic that a call names, deleted ones excepted.
func (s *Server) namedTopic(c *call) (*chat, *topic, error) {
	ch, err := s.forum(c)
	if err != nil {
		return nil, nil, err
	}
	t := ch.topics[c.int("message_thread_id", 0)]
	if t == nil || t.deleted {
		return nil, nil, stateError("TOPIC_ID_INVALID")
	}
	return ch, t, nil
}

func createForumTopic(s *Server, c *call) (any, error) {
	name := c.text("name")
	if n := utf8.RuneCountInString(name); n < 1 || n > maxTopicName {
		return nil, refused("TOPIC_TITLE_EMPTY")
	}
	ch, err := s.forum(c)
	if err != nil {
		return nil, err
	}
	color := int(c.int("icon_color", defaultTopicColor))
	id := s.openTopic(ch, &s.bot.User, name, color)
	return map[string]any{"message_thread_id": id, "name": name, "icon_color": color}, nil
}

// openTopic posts the service message whose id is the topic's. The caller holds mu.
func (s *Server) openTopic(ch *chat, by *User, name string, color int) int64 {
	id := ch.lastMessage + 1
	ch.topics[id] = &topic{name: name, color: color}
	s.post(ch, Message{From: by, MessageThreadID: id, IsTopicMessage: true, ForumTopicCreated: &TopicCreated{name, color}})
	return id
}

func closeForumTopic(s *Server, c *call) (any, error) {
	return s.setClosed(c, true)
}

func reopenForumTopic(s *Server, c *call) (any, error) {
	return s.setClosed(c, false)
}

func (s *Server) setClosed(c *call, closed bool) (any, error) {
	ch, t, err := s.namedTopic(c)
	if err != nil {
		return nil, err
	}
	if t.closed == closed {
		return nil, stateError("TOPIC_NOT_MODIFIED")
	}
	t.closed = closed
	m := Message{From: &s.bot.User, MessageThreadID: c.int("message_thread_id", 0), IsTopicMessage: true}
	if closed {
		m.ForumTopicClosed = &struct{}{}
	} else {
		m.ForumTopicReopened = &struct{}{}
	}
	s.post(ch, m)
	return true, nil
}

func deleteForumTopic(s *Server, c *call) (any, error) {
	ch, _, err := s.namedTopic(c)
	if err != nil {
		return nil, err
	}
	s.dropTopic(ch, c.int("message_thread_id", 0))
	return true, nil
}

// dropTopic deletes a topic and what was written in it. The caller holds mu.
func (s *Server) dropTopic(ch *chat, id int64) {
	ch.topics[id].deleted = true
	for _, m := range ch.messages {
		if !m.deleted && m.current().MessageThreadID == id {
			s.remove(ch, m)
		}
	}
}
