package simulator

import "strconv"

// target finds the chat that a call names. The caller holds mu.
func (s *Server) target(c *call) (*chat, error) {
	text := c.text("chat_id")
	if text == "" {
		return nil, s.errs.wrong("chat_id is empty")
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		if ch := s.findChat(0, text); ch != nil {
			return ch, nil
		}
		return nil, s.errs.state("chat not found")
	}
	if ch := s.chats[id]; ch != nil && (!ch.isPrivate() || ch.started) {
		return ch, nil
	}
	u := s.users[id]
	switch {
	case u == nil:
		return nil, s.errs.state("chat not found")
	case u.IsBot:
		return nil, s.errs.state("the bot can't send messages to the bot")
	case s.sharesGroup(id):
		return nil, s.errs.state("bot can't initiate conversation with a user")
	}
	return nil, s.errs.state("chat not found")
}

// readable finds the chat of a call and checks that the bot is in it. The caller holds
// mu.
func (s *Server) readable(c *call) (*chat, error) {
	ch, err := s.target(c)
	if err != nil {
		return nil, err
	}
	if ch.isPrivate() {
		switch {
		case s.users[ch.ID].deactivated:
			return nil, s.errs.state("user is deactivated")
		case ch.blocked:
			return nil, s.errs.state("bot was blocked by the user")
		}
		return ch, nil
	}
	kind := ch.Type + " chat"
	switch m := ch.members[s.bot.ID]; {
	case ch.migratedTo != 0:
		e := s.errs.known("group chat was upgraded to a supergroup chat", State)
		e.Parameters = &Parameters{MigrateToChatID: ch.migratedTo}
		return nil, e
	case ch.deleted:
		return nil, s.errs.state("the group chat was deleted")
	case m != nil && m.status == Kicked:
		return nil, s.errs.state("bot was kicked from the " + kind)
	case !m.present():
		return nil, s.errs.state("bot is not a member of the " + kind)
	}
	return ch, nil
}

// writable finds the chat of a call and checks that the bot may write there. The caller
// holds mu.
func (s *Server) writable(c *call) (*chat, error) {
	ch, err := s.readable(c)
	if err != nil || ch.isPrivate() {
		return ch, err
	}
	m := ch.members[s.bot.ID]
	switch {
	case ch.Type == Channel && !(m.admin() && m.rights.PostMessages):
		return nil, s.errs.state("need administrator rights in the channel chat")
	case m.status == Restricted:
		return nil, s.errs.state("not enough rights to send text messages to the chat")
	}
	return ch, nil
}

// thread finds the topic that a message goes to: the one that the call names, else that
// of the message replied to. 0 is the chat itself, or General. Where there are no topics
// the server ignores the parameter.
func (s *Server) thread(c *call, ch *chat, reply *Message) (int64, error) {
	if !ch.IsForum {
		return 0, nil
	}
	id := c.int("message_thread_id", 0)
	if id == 0 && reply != nil {
		id = reply.MessageThreadID
	}
	bot := ch.members[s.bot.ID]
	mayOpen := bot.admin() && bot.rights.ManageTopics
	if id == 0 {
		if ch.generalClosed && !mayOpen {
			return 0, s.errs.state("TOPIC_CLOSED")
		}
		return 0, nil
	}
	t := ch.topics[id]
	switch {
	case t == nil:
		return 0, s.errs.wrong("message thread not found")
	case t.deleted:
		return 0, s.errs.state("message thread not found")
	case t.closed && !mayOpen:
		return 0, s.errs.state("TOPIC_CLOSED")
	}
	return id, nil
}
