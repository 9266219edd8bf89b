package simulator

import (
	"fmt"
	"maps"
)

// A Room is the handle of a group or a channel.
type Room struct {
	ID     int64
	server *Server
}

// AddGroup makes a basic group. The bot and the people are its members.
func (s *Server) AddGroup(id int64, title string, people ...*Person) *Room {
	return s.AddRoom(Chat{ID: id, Type: Group, Title: title}, people...)
}

// AddSupergroup makes a supergroup.
func (s *Server) AddSupergroup(id int64, title string, people ...*Person) *Room {
	return s.AddRoom(Chat{ID: id, Type: Supergroup, Title: title}, people...)
}

// AddForum makes a supergroup with topics.
func (s *Server) AddForum(id int64, title string, people ...*Person) *Room {
	return s.AddRoom(Chat{ID: id, Type: Supergroup, Title: title, IsForum: true}, people...)
}

// AddChannel makes a channel, with the bot as an administrator who may post.
func (s *Server) AddChannel(id int64, title string, people ...*Person) *Room {
	r := s.AddRoom(Chat{ID: id, Type: Channel, Title: title}, people...)
	r.Promote(s.bot.ID, AllRights())
	return r
}

// AddRoom makes a group or a channel with all details. The bot and the people are
// members, without any update about it.
func (s *Server) AddRoom(c Chat, people ...*Person) *Room {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := &chat{Chat: c, members: map[int64]*member{s.bot.ID: {status: Member}}, topics: map[int64]*topic{}}
	for _, p := range people {
		ch.members[p.ID] = &member{status: Member}
	}
	s.chats[c.ID] = ch
	s.note(Change{Kind: ChatChanged, Chat: c.ID})
	return &Room{c.ID, s}
}

// Room returns the handle of a group or a channel, or nil.
func (s *Server) Room(id int64) *Room {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.chats[id]; ch == nil || ch.isPrivate() {
		return nil
	}
	return &Room{id, s}
}

// change runs a function on the room's state and tells the feed.
func (r *Room) change(f func(*chat)) {
	s := r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.chats[r.ID])
	s.note(Change{Kind: ChatChanged, Chat: r.ID})
}

// SetStatus sets somebody's status: Creator, Administrator, Member, Restricted, Left or
// Kicked. For the bot it comes with a my_chat_member update, for others with one of
// chat_member, which bots get only if they ask for it.
func (r *Room) SetStatus(userID int64, status string) {
	r.change(func(ch *chat) {
		old := ch.members[userID]
		m := &member{status: status}
		if m.admin() {
			m.rights = AllRights()
		}
		ch.members[userID] = m
		if old == nil {
			old = &member{status: Left}
		}
		r.server.tellMembership(ch, r.server.users[userID].User, old, m)
	})
}

// Promote makes somebody an administrator with these rights.
func (r *Room) Promote(userID int64, rights Rights) {
	r.change(func(ch *chat) { ch.members[userID] = &member{status: Administrator, rights: rights} })
}

// KickBot removes the bot from the room.
func (r *Room) KickBot() { r.SetStatus(r.server.bot.ID, Kicked) }

// Delete deletes the group.
func (r *Room) Delete() { r.change(func(ch *chat) { ch.deleted = true }) }

// SetTitle renames the room.
func (r *Room) SetTitle(title string) { r.change(func(ch *chat) { ch.Title = title }) }

// SetForum turns topics on or off. Topics that exist are kept, out of sight.
func (r *Room) SetForum(on bool) { r.change(func(ch *chat) { ch.IsForum = on }) }

// AddTopic opens a topic and returns its id.
func (r *Room) AddTopic(name string) (thread int64) {
	r.change(func(ch *chat) { thread = r.server.openTopic(ch, nil, name, defaultTopicColor) })
	return thread
}

// SetTopicClosed closes or opens a topic; 0 is General.
func (r *Room) SetTopicClosed(thread int64, closed bool) {
	r.change(func(ch *chat) {
		if thread == 0 {
			ch.generalClosed = closed
			return
		}
		ch.topics[thread].closed = closed
	})
}

// DeleteTopic deletes a topic and its messages.
func (r *Room) DeleteTopic(thread int64) {
	r.change(func(ch *chat) { r.server.dropTopic(ch, thread) })
}

// Upgrade turns a basic group into a supergroup with a new id and returns it. The old
// chat refuses everything from then on; messages stay behind. Both chats get a service
// message.
func (r *Room) Upgrade(newID int64) *Room {
	s := r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.chats[r.ID]
	next := &chat{
		Chat:    Chat{ID: newID, Type: Supergroup, Title: old.Title},
		members: maps.Clone(old.members), topics: map[int64]*topic{},
	}
	s.chats[newID] = next
	group := User{ID: anonymousAdmin, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}
	left := s.post(old, Message{From: &group, SenderChat: old.face(), MigrateToChatID: newID})
	begun := s.post(next, Message{From: &group, SenderChat: next.face(), MigrateFromChatID: r.ID})
	old.migratedTo = newID
	if old.members[s.bot.ID].present() {
		s.enqueue("message", left.current(), messageLife, fmt.Sprintf("chat %d", r.ID))
		s.enqueue("message", begun.current(), messageLife, fmt.Sprintf("chat %d", newID))
	}
	return &Room{newID, s}
}

// tellMembership makes the update about a changed member. The caller holds mu.
func (s *Server) tellMembership(ch *chat, who User, old, m *member) {
	kind, subject := "chat_member", who
	if ch.isPrivate() || who.ID == s.bot.ID {
		kind, subject = "my_chat_member", s.bot.User
	}
	s.note(Change{Kind: ChatChanged, Chat: ch.ID, User: who.ID})
	if kind == "chat_member" && !ch.members[s.bot.ID].admin() {
		return
	}
	s.enqueue(kind, map[string]any{
		"chat": ch.Chat, "from": who, "date": s.options.Now().Unix(),
		"old_chat_member": memberObject(subject, old), "new_chat_member": memberObject(subject, m),
	}, messageLife, fmt.Sprintf("chat %d", ch.ID))
}
