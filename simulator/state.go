package simulator

import (
	"slices"
	"strings"
)

// The server's mutex guards everything in this file.

// A user is somebody with an account.
type user struct {
	User
	deactivated bool
}

// Statuses of members of a chat.
const (
	Creator       = "creator"
	Administrator = "administrator"
	Member        = "member"
	Restricted    = "restricted" // may not write
	Left          = "left"
	Kicked        = "kicked"
)

// A chat is a private chat with the bot, a group or a channel.
type chat struct {
	Chat
	members       map[int64]*member
	messages      []*message // by rising id
	lastMessage   int64
	topics        map[int64]*topic
	generalClosed bool
	pinned        []int64 // oldest first
	lastBot       int64   // the bot that spoke last
	migratedTo    int64
	deleted       bool
	started       bool // private: the user has started the bot
	blocked       bool // private: the user has blocked the bot
}

// A member is somebody's standing in a chat.
type member struct {
	status    string
	anonymous bool
	rights    Rights
}

// Rights are an administrator's rights that change what the simulator allows.
type Rights struct {
	ManageTopics, DeleteMessages, PostMessages, PinMessages bool
}

// AllRights are those of an administrator who may do everything.
func AllRights() Rights { return Rights{true, true, true, true} }

// A topic is a thread of a forum. Its id is that of the message that opened it.
type topic struct {
	name    string
	color   int
	closed  bool
	deleted bool
}

// A message is every version of a message, and whether it is still there.
type message struct {
	versions []Message
	fromBot  bool // our bot sent it
	deleted  bool
}

func (m *message) current() *Message { return &m.versions[len(m.versions)-1] }

func (m *member) present() bool {
	return m != nil && m.status != Left && m.status != Kicked
}

func (m *member) admin() bool {
	return m != nil && (m.status == Creator || m.status == Administrator)
}

// face is a copy of the public part, for messages that keep it.
func (ch *chat) face() *Chat {
	c := ch.Chat
	return &c
}

func (ch *chat) isPrivate() bool { return ch.Type == Private }

// message finds a message that is still there.
func (ch *chat) message(id int64) *message {
	m := ch.any(id)
	if m == nil || m.deleted {
		return nil
	}
	return m
}

// any finds a message, deleted or not.
func (ch *chat) any(id int64) *message {
	i, ok := slices.BinarySearchFunc(ch.messages, id, func(m *message, id int64) int {
		return int(m.versions[0].MessageID - id)
	})
	if !ok {
		return nil
	}
	return ch.messages[i]
}

// post adds a message to a chat, gives it its id and date, and tells the feed. The
// caller holds mu.
func (s *Server) post(ch *chat, m Message) *message {
	ch.lastMessage++
	m.MessageID = ch.lastMessage
	m.Date = s.options.Now().Unix()
	m.Chat = ch.Chat
	stored := &message{versions: []Message{m}, fromBot: m.From != nil && m.From.ID == s.bot.ID}
	ch.messages = append(ch.messages, stored)
	change := Change{Kind: MessageSent, Chat: ch.ID, Thread: m.MessageThreadID, Message: m.MessageID}
	if m.From != nil {
		change.User = m.From.ID
	}
	s.note(change)
	return stored
}

// edit adds a version to a message. The caller holds mu.
func (s *Server) edit(ch *chat, stored *message, change func(*Message)) {
	next := *stored.current()
	next.EditDate = s.options.Now().Unix()
	change(&next)
	stored.versions = append(stored.versions, next)
	s.note(Change{Kind: MessageEdited, Chat: ch.ID, Thread: next.MessageThreadID, Message: next.MessageID})
}

// remove deletes a message. The caller holds mu.
func (s *Server) remove(ch *chat, stored *message) {
	stored.deleted = true
	m := stored.current()
	ch.pinned = slices.DeleteFunc(ch.pinned, func(id int64) bool { return id == m.MessageID })
	s.note(Change{Kind: MessageDeleted, Chat: ch.ID, Thread: m.MessageThreadID, Message: m.MessageID})
}

// findChat finds a chat by its id, or by its @username.
func (s *Server) findChat(id int64, name string) *chat {
	if name == "" {
		return s.chats[id]
	}
	for _, ch := range s.chats {
		if ch.Username != "" && !ch.isPrivate() && strings.EqualFold("@"+ch.Username, name) {
			return ch
		}
	}
	return nil
}

// sharesGroup reports whether the bot and a user are in one group.
func (s *Server) sharesGroup(userID int64) bool {
	for _, ch := range s.chats {
		if !ch.isPrivate() && ch.members[userID].present() && ch.members[s.bot.ID].present() {
			return true
		}
	}
	return false
}
