package simulator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
)

// Message returns a message as it is now, unless it is not there.
func (s *Server) Message(chat, id int64) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.chats[chat]; ch != nil {
		if m := ch.message(id); m != nil {
			return *m.current(), true
		}
	}
	return Message{}, false
}

// Messages returns the messages of a chat as they are now, oldest first.
func (s *Server) Messages(chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages(chat, func(*message) bool { return true })
}

// BotMessages returns those of the bot alone.
func (s *Server) BotMessages(chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages(chat, func(m *message) bool { return m.fromBot })
}

func (s *Server) messages(chat int64, keep func(*message) bool) []Message {
	ch := s.chats[chat]
	if ch == nil {
		return nil
	}
	var list []Message
	for _, m := range ch.messages {
		if !m.deleted && keep(m) {
			list = append(list, *m.current())
		}
	}
	return list
}

// History returns every version of a message, oldest first, also of a deleted one.
func (s *Server) History(chat, id int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.chats[chat]; ch != nil {
		if m := ch.any(id); m != nil {
			return slices.Clone(m.versions)
		}
	}
	return nil
}

// WaitMessage returns the oldest message of the bot in a chat that fits, as soon as there
// is one. A nil condition takes any. It looks at messages as they are now, so an edit can
// make one fit.
func (s *Server) WaitMessage(ctx context.Context, chat int64, fits func(Message) bool) (Message, error) {
	var found Message
	err := s.Wait(ctx, func() bool {
		for _, m := range s.BotMessages(chat) {
			if fits == nil || fits(m) {
				found = m
				return true
			}
		}
		return false
	})
	if err != nil {
		return found, fmt.Errorf("wait for a message in chat %d: %w", chat, err)
	}
	return found, nil
}

// WaitEdit returns a message as it is now, as soon as it fits. The message given names
// it; a nil condition waits for any version other than that one.
func (s *Server) WaitEdit(ctx context.Context, old Message, fits func(Message) bool) (Message, error) {
	var found Message
	err := s.Wait(ctx, func() bool {
		m, ok := s.Message(old.Chat.ID, old.MessageID)
		found = m
		if fits == nil {
			return ok && !sameContent(m, old)
		}
		return ok && fits(m)
	})
	if err != nil {
		return found, fmt.Errorf("wait for an edit of message %d in chat %d: %w", old.MessageID, old.Chat.ID, err)
	}
	return found, nil
}

// A Snapshot is what somebody sees, as of a sequence number of the changes.
type Snapshot struct {
	Seq    uint64     `json:"seq"`
	Viewer User       `json:"viewer"`
	Bot    User       `json:"bot"`
	Chats  []ChatView `json:"chats"` // private chat first, then by id
}

// A ChatView is a chat with its messages.
type ChatView struct {
	Chat     Chat         `json:"chat"`
	Status   string       `json:"status"`  // of the viewer
	Blocked  bool         `json:"blocked"` // private: the viewer has blocked the bot
	Topics   []TopicView  `json:"topics,omitempty"`
	Commands []BotCommand `json:"commands,omitempty"` // that the bot offers the viewer here
	Pinned   []int64      `json:"pinned,omitempty"`
	Messages []Message    `json:"messages"` // oldest first
}

// A TopicView is a topic of a forum.
type TopicView struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Closed bool   `json:"closed"`
}

// Snapshot returns the chats of a user, with at most the given number of messages each;
// 0 means all.
func (s *Server) Snapshot(viewer int64, messages int) Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := Snapshot{Seq: s.feed.seq, Bot: s.bot.User, Chats: []ChatView{}}
	if u := s.users[viewer]; u != nil {
		snap.Viewer = u.User
	}
	for _, ch := range s.chats {
		status := Member
		switch {
		case ch.isPrivate() && ch.ID != viewer:
			continue
		case !ch.isPrivate():
			if !ch.members[viewer].present() || ch.migratedTo != 0 || ch.deleted {
				continue
			}
			status = ch.members[viewer].status
		}
		view := ChatView{Chat: ch.Chat, Status: status, Blocked: ch.blocked, Pinned: slices.Clone(ch.pinned), Commands: slices.Clone(s.menu(ch, viewer))}
		view.Messages = append([]Message{}, s.messages(ch.ID, func(*message) bool { return true })...)
		if messages > 0 && len(view.Messages) > messages {
			view.Messages = view.Messages[len(view.Messages)-messages:]
		}
		for _, id := range slices.Sorted(maps.Keys(ch.topics)) {
			if t := ch.topics[id]; !t.deleted && ch.IsForum {
				view.Topics = append(view.Topics, TopicView{id, t.name, t.closed})
			}
		}
		snap.Chats = append(snap.Chats, view)
	}
	slices.SortFunc(snap.Chats, func(a, b ChatView) int {
		return cmp.Or(-cmp.Compare(boolInt(a.Chat.Type == Private), boolInt(b.Chat.Type == Private)), cmp.Compare(b.Chat.ID, a.Chat.ID))
	})
	return snap
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Users returns everybody who has an account, by id, the bot excepted.
func (s *Server) Users() []User {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []User
	for _, id := range slices.Sorted(maps.Keys(s.users)) {
		if id != s.bot.ID {
			list = append(list, s.users[id].User)
		}
	}
	return list
}
