package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"countersign/simulator/entities"
)

// anonymousAdmin is the account that stands for administrators who hide their name.
const anonymousAdmin = 1087968824

// A Person is the handle of a user: what people do in their apps.
//
// Methods without an error panic when what they are asked is impossible in the state
// that the test itself has set up, such as tapping a button that is not there. [Person.Post]
// and [Person.Press] do the same things with an error.
type Person struct {
	ID     int64
	server *Server
}

// AddUser makes a person.
func (s *Server) AddUser(id int64, name string) *Person {
	return s.AddAccount(User{ID: id, FirstName: name})
}

// AddAccount makes a person, or another bot, with all details. An account of this id is
// replaced.
func (s *Server) AddAccount(u User) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[u.ID] = &user{User: u}
	return &Person{u.ID, s}
}

// Person returns the handle of a user, or nil.
func (s *Server) Person(id int64) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[id] == nil {
		return nil
	}
	return &Person{id, s}
}

func (p *Person) name() string { return p.server.users[p.ID].FirstName }

// A Draft is a message before it is sent.
type Draft struct {
	Chat    int64
	Thread  int64 // topic of a forum; 0: General
	ReplyTo int64 // message id in the same chat; 0: no reply
	Quote   string
	Text    string
	// A document with Text as its caption, if Document is not empty.
	Document string // file name
	Content  []byte
	// Anonymous writes as the group, which only administrators can.
	Anonymous bool
	// Oddities that a careful bot has to tell apart.
	Forwarded     bool
	Scheduled     bool
	ViaBot        *User
	ExternalReply json.RawMessage // ExternalReplyInfo
}

// Start opens the bot and presses Start.
func (p *Person) Start() Message { return p.Send(p.ID, "/start") }

// Send writes a message.
func (p *Person) Send(chat int64, text string) Message {
	return must(p.Post(Draft{Chat: chat, Text: text}))
}

// Reply answers a message.
func (p *Person) Reply(to Message, text string) Message {
	return must(p.Post(Draft{Chat: to.Chat.ID, ReplyTo: to.MessageID, Text: text}))
}

// Tap taps a button by its text, or the beginning of it, and returns the id of the
// callback query.
func (p *Person) Tap(on Message, button string) (id string) {
	return must(p.Press(Press{Chat: on.Chat.ID, Message: on.MessageID, Text: button}))
}

// TapAt taps the button in a row and a column, from 0.
func (p *Person) TapAt(on Message, row, col int) (id string) {
	return must(p.Press(Press{Chat: on.Chat.ID, Message: on.MessageID, Row: row, Col: col}))
}

// TapData sends forged data for a message.
func (p *Person) TapData(on Message, data string) (id string) {
	return must(p.Press(Press{Chat: on.Chat.ID, Message: on.MessageID, Data: &data, Forged: true}))
}

// TapWait taps a button and waits for the answer.
func (p *Person) TapWait(ctx context.Context, on Message, button string) (CallbackAnswer, error) {
	id, err := p.Press(Press{Chat: on.Chat.ID, Message: on.MessageID, Text: button})
	if err != nil {
		return CallbackAnswer{}, err
	}
	return p.server.WaitAnswer(ctx, id)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic("simulator: " + err.Error())
	}
	return v
}

// Post writes a message. Writing to the bot for the first time starts it; writing in a
// group joins it.
func (p *Person) Post(d Draft) (Message, error) {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[p.ID]
	if d.Chat == p.ID {
		s.openPrivate(u)
	}
	ch := s.chats[d.Chat]
	switch {
	case ch == nil:
		return Message{}, fmt.Errorf("send: there is no chat %d", d.Chat)
	case ch.isPrivate() && ch.ID != p.ID:
		return Message{}, fmt.Errorf("send: %s cannot write in the private chat of %d", u.FirstName, ch.ID)
	case ch.isPrivate() && ch.blocked:
		return Message{}, fmt.Errorf("send: %s has blocked the bot", u.FirstName)
	case ch.migratedTo != 0 || ch.deleted:
		return Message{}, fmt.Errorf("send: chat %d is gone", d.Chat)
	case !ch.isPrivate() && !ch.members[p.ID].present():
		ch.members[p.ID] = &member{status: Member}
	}
	m := Message{From: &u.User, IsFromOffline: d.Scheduled, ViaBot: d.ViaBot, ExternalReply: d.ExternalReply}
	if err := s.address(ch, &m, d); err != nil {
		return Message{}, err
	}
	s.write(&m, d)
	kind := "message"
	switch {
	case ch.Type == Channel:
		m.From, m.SenderChat, kind = nil, ch.face(), "channel_post"
	case d.Anonymous:
		m.From = &User{ID: anonymousAdmin, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}
		m.SenderChat = ch.face()
	}
	stored := s.post(ch, m)
	if s.sees(ch, stored) {
		s.enqueue(kind, stored.current(), messageLife, fmt.Sprintf("chat %d", ch.ID))
	}
	if u.IsBot {
		ch.lastBot = u.ID
	}
	return *stored.current(), nil
}

// address fills in the topic and the message replied to.
func (s *Server) address(ch *chat, m *Message, d Draft) error {
	if d.ReplyTo != 0 {
		target := ch.message(d.ReplyTo)
		if target == nil {
			return fmt.Errorf("send: there is no message %d in chat %d", d.ReplyTo, ch.ID)
		}
		m.ReplyToMessage = replied(target)
		if d.Thread == 0 {
			d.Thread = m.ReplyToMessage.MessageThreadID
		}
		if i := strings.Index(m.ReplyToMessage.Text, d.Quote); d.Quote != "" && i >= 0 {
			m.Quote = &Quote{Text: d.Quote, Position: entities.UTF16Len(m.ReplyToMessage.Text[:i]), IsManual: true}
		}
	}
	if d.Thread != 0 {
		if t := ch.topics[d.Thread]; t == nil || t.deleted {
			return fmt.Errorf("send: there is no topic %d in chat %d", d.Thread, ch.ID)
		}
		m.MessageThreadID, m.IsTopicMessage = d.Thread, true
	}
	return nil
}

// write fills in text or document.
func (s *Server) write(m *Message, d Draft) {
	text, list := entities.Fix(d.Text, nil)
	list = entities.Autolink(text, list)
	if d.Document == "" {
		m.Text, m.Entities = text, list
	} else {
		m.Document = s.keep(d.Document, d.Content)
		m.Caption, m.CaptionEntities = text, list
	}
	if d.Forwarded {
		m.ForwardOrigin = mustJSON(map[string]any{"type": "hidden_user", "sender_user_name": "Somebody", "date": s.options.Now().Unix()})
	}
}

// openPrivate makes the chat of a user with the bot.
func (s *Server) openPrivate(u *user) {
	ch := s.chats[u.ID]
	if ch == nil {
		ch = &chat{Chat: Chat{ID: u.ID, Type: Private, FirstName: u.FirstName, LastName: u.LastName, Username: u.Username}}
		s.chats[u.ID] = ch
	}
	ch.started = true
}

// sees reports whether privacy mode lets a message through to the bot.
func (s *Server) sees(ch *chat, stored *message) bool {
	m := stored.current()
	bot := ch.members[s.bot.ID]
	if ch.isPrivate() {
		return true
	}
	if !bot.present() {
		return false
	}
	if ch.Type == Channel || s.options.ReadsGroups || bot.admin() {
		return true
	}
	if m.ReplyToMessage != nil && m.ReplyToMessage.From != nil && m.ReplyToMessage.From.ID == s.bot.ID {
		return true
	}
	if m.ViaBot != nil && m.ViaBot.ID == s.bot.ID {
		return true
	}
	return slices.ContainsFunc(m.Entities, func(e Entity) bool {
		if e.Type != "bot_command" {
			return false
		}
		_, addressee, addressed := strings.Cut(entities.Slice(m.Text, e), "@")
		if addressed {
			return strings.EqualFold(addressee, s.bot.Username)
		}
		// A command for any bot goes to the one that spoke last.
		return ch.lastBot == 0 || ch.lastBot == s.bot.ID
	})
}

// Edit changes the text of a message that the person wrote.
func (p *Person) Edit(m Message, text string) Message {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, stored := s.ownMessage(p, m)
	s.edit(ch, stored, func(next *Message) {
		next.Text, next.Entities = entities.Fix(text, nil)
		next.Entities = entities.Autolink(next.Text, next.Entities)
	})
	if s.sees(ch, stored) {
		s.enqueue("edited_message", stored.current(), messageLife, fmt.Sprintf("chat %d", ch.ID))
	}
	return *stored.current()
}

func (s *Server) ownMessage(p *Person, m Message) (*chat, *message) {
	ch := s.chats[m.Chat.ID]
	if ch == nil || ch.message(m.MessageID) == nil {
		panic(fmt.Sprintf("simulator: edit: there is no message %d in chat %d", m.MessageID, m.Chat.ID))
	}
	stored := ch.message(m.MessageID)
	if from := stored.current().From; from == nil || from.ID != p.ID {
		panic(fmt.Sprintf("simulator: edit: message %d is not by %s", m.MessageID, p.name()))
	}
	return ch, stored
}

// Forward sends a copy of a message into a chat.
func (p *Person) Forward(m Message, chat int64) Message {
	return must(p.Post(Draft{Chat: chat, Text: m.Text, Forwarded: true}))
}

// Delete deletes a message for everybody, whoever sent it. Bots are told nothing.
func (s *Server) Delete(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.chats[m.Chat.ID]; ch != nil {
		if stored := ch.message(m.MessageID); stored != nil {
			s.remove(ch, stored)
		}
	}
}
