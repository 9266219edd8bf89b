package telegram

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// User is who wrote or tapped. Only the id identifies a person: names can be changed and copied.
type User struct {
	ID       int64  `json:"id"`
	IsBot    bool   `json:"is_bot"`
	First    string `json:"first_name"`
	Last     string `json:"last_name"`
	Username string `json:"username"` // without @
}

// Name returns the name to show: first and last, or else the id. It is text of a stranger, as they chose it.
func (u User) Name() string {
	name := strings.TrimSpace(strings.TrimSpace(u.First) + " " + strings.TrimSpace(u.Last))
	if name == "" {
		return strconv.FormatInt(u.ID, 10)
	}
	return name
}

// Chat is where something happened.
type Chat struct {
	ID      int64  `json:"id"`
	Type    string `json:"type"` // private, group, supergroup or channel
	Title   string `json:"title"`
	IsForum bool   `json:"is_forum"`
}

// Private reports whether it is a direct chat, whose id is that of the person.
func (c Chat) Private() bool { return c.Type == "private" }

// Message is a message that somebody sent. What makes a message count for nothing is a field of its own.
type Message struct {
	ID       int
	Chat     Chat
	Thread   int   // the topic; 0 outside topics and in General
	IsTopic  bool  // it was sent in a topic
	From     *User // nil in channels
	Date     int64 // Unix seconds
	Text     string
	Entities []Entity // of Text
	ReplyTo  *Reply   // the message of this chat that it replies to

	SenderChat    int64  // not 0: sent on behalf of this chat, by an unknown person; From is a stand-in
	EditDate      int64  // not 0: edited
	HasCaption    bool   // media with words
	ExternalReply bool   // it replies to a message of another chat or topic
	Forwarded     bool   // the words are somebody else's
	ViaBot        bool   // written by another bot at a person's request
	FromOffline   bool   // scheduled, or sent in the person's absence
	Business      string // not empty: the chat id means another chat than ours of that id
	Guest         string // the same
	MigrateTo     int64  // service message: this group has become the supergroup of that id
	MigrateFrom   int64  // service message: this supergroup was the group of that id
}

// Entity marks a part of a text, in UTF-16 units. Its bounds are Telegram's word and may lie outside the text.
type Entity struct {
	Type   string `json:"type"` // such as bot_command
	Offset int    `json:"offset"`
	Length int    `json:"length"`
}

// Reply names the message replied to.
type Reply struct {
	MessageID int
	ChatID    int64
	FromID    int64 // who wrote it; 0: unknown
	// TopicStart: it is the notice that opened the topic. Telegram names it in every message of a topic that replies
	// to nothing else.
	TopicStart bool
}

// wireMessage is a message as Telegram writes it. Parts whose presence alone counts are not decoded, so that nothing
// in them can fail.
type wireMessage struct {
	ID            *int            `json:"message_id"`
	Chat          *Chat           `json:"chat"`
	Thread        int             `json:"message_thread_id"`
	IsTopic       bool            `json:"is_topic_message"`
	From          *User           `json:"from"`
	SenderChat    *Chat           `json:"sender_chat"`
	Date          int64           `json:"date"`
	EditDate      int64           `json:"edit_date"`
	Text          string          `json:"text"`
	Entities      []Entity        `json:"entities"`
	Caption       json.RawMessage `json:"caption"`
	ReplyTo       *wireReply      `json:"reply_to_message"`
	ExternalReply json.RawMessage `json:"external_reply"`
	ForwardOrigin json.RawMessage `json:"forward_origin"`
	ForwardDate   json.RawMessage `json:"forward_date"` // what older servers have in place of forward_origin
	AutoForward   bool            `json:"is_automatic_forward"`
	ViaBot        json.RawMessage `json:"via_bot"`
	FromOffline   bool            `json:"is_from_offline"`
	Business      string          `json:"business_connection_id"`
	Guest         string          `json:"guest_query_id"`
	MigrateTo     int64           `json:"migrate_to_chat_id"`
	MigrateFrom   int64           `json:"migrate_from_chat_id"`
}

type wireReply struct {
	ID         int             `json:"message_id"`
	Chat       Chat            `json:"chat"`
	From       *User           `json:"from"`
	TopicStart json.RawMessage `json:"forum_topic_created"`
}

// message needs ID and Chat to be there.
func (w *wireMessage) message() *Message {
	m := &Message{
		ID:            *w.ID,
		Chat:          *w.Chat,
		Thread:        w.topic(),
		IsTopic:       w.IsTopic,
		From:          w.From,
		Date:          w.Date,
		Text:          w.Text,
		Entities:      w.Entities,
		EditDate:      w.EditDate,
		HasCaption:    present(w.Caption),
		ExternalReply: present(w.ExternalReply),
		Forwarded:     present(w.ForwardOrigin) || present(w.ForwardDate) || w.AutoForward,
		ViaBot:        present(w.ViaBot),
		FromOffline:   w.FromOffline,
		Business:      w.Business,
		Guest:         w.Guest,
		MigrateTo:     w.MigrateTo,
		MigrateFrom:   w.MigrateFrom,
	}
	if w.SenderChat != nil {
		m.SenderChat = w.SenderChat.ID
	}
	if r := w.ReplyTo; r != nil {
		m.ReplyTo = &Reply{MessageID: r.ID, ChatID: r.Chat.ID, TopicStart: present(r.TopicStart)}
		if r.From != nil {
			m.ReplyTo.FromID = r.From.ID
		}
	}
	return m
}

// topic returns the thread only inside topics: elsewhere the number belongs to a chain of replies.
func (w *wireMessage) topic() int {
	if !w.IsTopic {
		return 0
	}
	return w.Thread
}

// present reports whether a part is there and is not null.
func present(part json.RawMessage) bool {
	return len(part) > 0 && !bytes.Equal(part, []byte("null"))
}
