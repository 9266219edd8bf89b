package simulator

import (
	"encoding/json"

	"countersign/simulator/entities"
)

// The types in this file are objects of the Bot API, with the fields that the simulator
// fills. Their JSON is what a bot sees.

// A User is a person or a bot.
type User struct {
	ID           int64  `json:"id"`
	IsBot        bool   `json:"is_bot"`
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name,omitempty"`
	Username     string `json:"username,omitempty"`
	LanguageCode string `json:"language_code,omitempty"`
}

// Kinds of chats.
const (
	Private    = "private"
	Group      = "group"
	Supergroup = "supergroup"
	Channel    = "channel"
)

// A Chat is the public face of a chat.
type Chat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"` // Private, Group, Supergroup or Channel
	Title     string `json:"title,omitempty"`
	Username  string `json:"username,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	LastName  string `json:"last_name,omitempty"`
	IsForum   bool   `json:"is_forum,omitempty"`
}

// An Entity marks a stretch of a text; see package entities.
type Entity = entities.Entity

// A Message is one version of a message.
type Message struct {
	MessageID           int64           `json:"message_id"`
	MessageThreadID     int64           `json:"message_thread_id,omitempty"`
	From                *User           `json:"from,omitempty"`
	SenderChat          *Chat           `json:"sender_chat,omitempty"`
	Date                int64           `json:"date"` // Unix seconds
	Chat                Chat            `json:"chat"`
	ForwardOrigin       json.RawMessage `json:"forward_origin,omitempty"`
	IsTopicMessage      bool            `json:"is_topic_message,omitempty"`
	ReplyToMessage      *Message        `json:"reply_to_message,omitempty"`
	ExternalReply       json.RawMessage `json:"external_reply,omitempty"`
	Quote               *Quote          `json:"quote,omitempty"`
	ViaBot              *User           `json:"via_bot,omitempty"`
	EditDate            int64           `json:"edit_date,omitempty"` // Unix seconds
	HasProtectedContent bool            `json:"has_protected_content,omitempty"`
	IsFromOffline       bool            `json:"is_from_offline,omitempty"`
	AuthorSignature     string          `json:"author_signature,omitempty"`
	Text                string          `json:"text,omitempty"`
	Entities            []Entity        `json:"entities,omitempty"`
	LinkPreviewOptions  json.RawMessage `json:"link_preview_options,omitempty"`
	Document            *Document       `json:"document,omitempty"`
	Caption             string          `json:"caption,omitempty"`
	CaptionEntities     []Entity        `json:"caption_entities,omitempty"`
	NewChatMembers      []User          `json:"new_chat_members,omitempty"`
	LeftChatMember      *User           `json:"left_chat_member,omitempty"`
	MigrateToChatID     int64           `json:"migrate_to_chat_id,omitempty"`
	MigrateFromChatID   int64           `json:"migrate_from_chat_id,omitempty"`
	PinnedMessage       *Message        `json:"pinned_message,omitempty"`
	ForumTopicCreated   *TopicCreated   `json:"forum_topic_created,omitempty"`
	ForumTopicClosed    *struct{}       `json:"forum_topic_closed,omitempty"`
	ForumTopicReopened  *struct{}       `json:"forum_topic_reopened,omitempty"`
	ReplyMarkup         *Keyboard       `json:"reply_markup,omitempty"`

	// ReplyInterface is the reply_markup that is no inline keyboard, as the bot sent
	// it; the Bot API does not show it again.
	ReplyInterface json.RawMessage `json:"-"`
	// Silent says that the message made no sound.
	Silent bool `json:"-"`
}

// A Quote is the quoted part of the message that is replied to.
type Quote struct {
	Text     string   `json:"text"`
	Entities []Entity `json:"entities,omitempty"`
	Position int      `json:"position"` // UTF-16 code units
	IsManual bool     `json:"is_manual,omitempty"`
}

// A Document is a file of a message.
type Document struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileName     string `json:"file_name,omitempty"`
	MimeType     string `json:"mime_type,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"` // bytes
}

// TopicCreated is the service message of a new forum topic.
type TopicCreated struct {
	Name      string `json:"name"`
	IconColor int    `json:"icon_color"` // RGB
}

// A Keyboard is an inline keyboard.
type Keyboard struct {
	Rows [][]Button `json:"inline_keyboard"`
}

// A Button is one button of an inline keyboard.
type Button struct {
	Text              string          `json:"text"`
	IconCustomEmojiID string          `json:"icon_custom_emoji_id,omitempty"`
	Style             string          `json:"style,omitempty"` // danger, success, primary or nothing
	URL               string          `json:"url,omitempty"`
	CallbackData      string          `json:"callback_data,omitempty"` // 1 to 64 bytes
	WebApp            json.RawMessage `json:"web_app,omitempty"`
	LoginURL          json.RawMessage `json:"login_url,omitempty"`
	SwitchInline      *string         `json:"switch_inline_query,omitempty"`
	SwitchInlineHere  *string         `json:"switch_inline_query_current_chat,omitempty"`
	SwitchInlineIn    json.RawMessage `json:"switch_inline_query_chosen_chat,omitempty"`
	CopyText          *CopyText       `json:"copy_text,omitempty"`
	CallbackGame      json.RawMessage `json:"callback_game,omitempty"`
	Pay               bool            `json:"pay,omitempty"`
}

// CopyText is the action of a button that copies a text.
type CopyText struct {
	Text string `json:"text"` // 1 to 256 characters
}

// A CallbackQuery tells the bot that somebody tapped a button.
type CallbackQuery struct {
	ID              string          `json:"id"`
	From            User            `json:"from"`
	Message         json.RawMessage `json:"message,omitempty"` // Message, or what is left of one
	InlineMessageID string          `json:"inline_message_id,omitempty"`
	ChatInstance    string          `json:"chat_instance"`
	Data            string          `json:"data,omitempty"`
}

// Parameters are what an error says besides its text.
type Parameters struct {
	MigrateToChatID int64 `json:"migrate_to_chat_id,omitempty"`
	RetryAfter      int   `json:"retry_after,omitempty"` // seconds
}

// Keyboard returns the rows of the inline keyboard, or nil.
func (m Message) Keyboard() [][]Button {
	if m.ReplyMarkup == nil {
		return nil
	}
	return m.ReplyMarkup.Rows
}

// Button finds a button of the inline keyboard by its text: the one with exactly this
// text, else the first whose text begins with it.
func (m Message) Button(text string) (Button, bool) {
	row, col, ok := m.find(text)
	if !ok {
		return Button{}, false
	}
	return m.Keyboard()[row][col], true
}
