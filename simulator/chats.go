package simulator

import (
	"maps"
	"slices"
)

// chatActions are the values of sendChatAction.
func chatActions() []string {
	return []string{
		"typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice",
		"upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note",
	}
}

func sendChatAction(s *Server, c *call) (any, error) {
	if !slices.Contains(chatActions(), c.text("action")) {
		return nil, refused("wrong parameter action in request")
	}
	ch, err := s.writable(c)
	if err != nil {
		return nil, err
	}
	s.note(Change{Kind: ChatAction, Chat: ch.ID, Thread: c.int("message_thread_id", 0), User: s.bot.ID, Text: c.text("action")})
	return true, nil
}

// fullChat is the answer of getChat.
type fullChat struct {
	Chat
	AccentColorID    int            `json:"accent_color_id"`
	MaxReactionCount int            `json:"max_reaction_count"`
	AcceptedGifts    map[string]any `json:"accepted_gift_types"`
	PinnedMessage    *Message       `json:"pinned_message,omitempty"`
}

func getChat(s *Server, c *call) (any, error) {
	ch, err := s.readable(c)
	if err != nil {
		return nil, err
	}
	full := fullChat{Chat: ch.Chat, MaxReactionCount: 11, AcceptedGifts: map[string]any{
		"unlimited_gifts": true, "limited_gifts": true, "unique_gifts": true,
		"premium_subscription": true, "gifts_from_channels": true,
	}}
	if n := len(ch.pinned); n > 0 {
		full.PinnedMessage = replied(ch.message(ch.pinned[n-1]))
	}
	return full, nil
}

func getChatMember(s *Server, c *call) (any, error) {
	ch, err := s.readable(c)
	if err != nil {
		return nil, err
	}
	u := s.users[c.int("user_id", 0)]
	switch {
	case u == nil:
		return nil, refused("user not found")
	case ch.isPrivate():
		return memberObject(u.User, &member{status: Member}), nil
	case ch.members[u.ID] == nil:
		return memberObject(u.User, &member{status: Left}), nil
	}
	return memberObject(u.User, ch.members[u.ID]), nil
}

func getChatAdministrators(s *Server, c *call) (any, error) {
	ch, err := s.readable(c)
	if err != nil {
		return nil, err
	}
	if ch.isPrivate() {
		return nil, refused("there are no administrators in the private chat")
	}
	list := []any{}
	for _, id := range slices.Sorted(maps.Keys(ch.members)) {
		if m := ch.members[id]; m.admin() && !m.anonymous && (id == s.bot.ID || !s.users[id].IsBot) {
			list = append(list, memberObject(s.users[id].User, m))
		}
	}
	return list, nil
}

// memberObject is a ChatMember of the kind that fits the status.
func memberObject(u User, m *member) map[string]any {
	o := map[string]any{"status": m.status, "user": u}
	switch m.status {
	case Creator:
		o["is_anonymous"] = m.anonymous
	case Administrator:
		for _, right := range []string{
			"can_be_edited", "can_manage_video_chats", "can_restrict_members", "can_promote_members",
			"can_change_info", "can_post_stories", "can_edit_stories", "can_delete_stories", "can_edit_messages",
			"can_manage_direct_messages", "can_manage_tags",
		} {
			o[right] = false
		}
		o["can_manage_chat"], o["can_invite_users"] = true, true
		o["is_anonymous"] = m.anonymous
		o["can_delete_messages"], o["can_pin_messages"] = m.rights.DeleteMessages, m.rights.PinMessages
		o["can_manage_topics"], o["can_post_messages"] = m.rights.ManageTopics, m.rights.PostMessages
	case Restricted:
		o["is_member"], o["until_date"] = true, 0
		for _, right := range []string{
			"can_send_messages", "can_send_audios", "can_send_documents", "can_send_photos", "can_send_videos",
			"can_send_video_notes", "can_send_voice_notes", "can_send_polls", "can_send_other_messages",
			"can_add_web_page_previews", "can_change_info", "can_invite_users", "can_pin_messages", "can_manage_topics",
			"can_react_to_messages", "can_edit_tag",
		} {
			o[right] = false
		}
	case Kicked:
		o["until_date"] = 0
	}
	return o
}

func pinChatMessage(s *Server, c *call) (any, error) {
	ch, m, err := s.pinTarget(c)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, refused("message to pin not found")
	}
	id := m.current().MessageID
	ch.pinned = append(slices.DeleteFunc(ch.pinned, func(p int64) bool { return p == id }), id)
	s.post(ch, Message{From: &s.bot.User, MessageThreadID: m.current().MessageThreadID, PinnedMessage: replied(m)})
	return true, nil
}

func unpinChatMessage(s *Server, c *call) (any, error) {
	ch, m, err := s.pinTarget(c)
	if err != nil {
		return nil, err
	}
	switch {
	case m != nil:
		id := m.current().MessageID
		ch.pinned = slices.DeleteFunc(ch.pinned, func(p int64) bool { return p == id })
	case c.has("message_id"):
		return nil, refused("message to unpin not found")
	case len(ch.pinned) > 0:
		ch.pinned = ch.pinned[:len(ch.pinned)-1]
	}
	s.note(Change{Kind: ChatChanged, Chat: ch.ID})
	return true, nil
}

func (s *Server) pinTarget(c *call) (*chat, *message, error) {
	ch, err := s.writable(c)
	if err != nil {
		return nil, nil, err
	}
	if bot := ch.members[s.bot.ID]; !ch.isPrivate() && !(bot.admin() && bot.rights.PinMessages) {
		return nil, nil, stateError("not enough rights to manage pinned messages in the chat")
	}
	return ch, ch.message(c.int("message_id", 0)), nil
}
