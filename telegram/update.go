package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// The kinds of update that are asked for and decoded.
const (
	kindMessage      = "message"
	kindCallback     = "callback_query"
	kindMyChatMember = "my_chat_member"
)

// Update is one update, of which at most one part is set. Kinds other than message, callback_query and my_chat_member,
// such as edited_message, have a Kind and no part: whoever handles what is there cannot act on what was not asked for.
type Update struct {
	ID           int64
	Kind         string // Telegram's name of it; empty where the update holds nothing
	Message      *Message
	Callback     *Callback
	MyChatMember *Membership
}

// Callback is a tap on a button.
type Callback struct {
	ID      string
	From    User           // always a real person, also an anonymous administrator
	Message *TappedMessage // nil where the button hangs under a message sent in inline mode
	Inline  string         // that message's id, of a kind that this bot never sends
	Data    string         // what the client sent, any bytes: it proves nothing about who may do what
}

// TappedMessage is the message under which the button hangs.
type TappedMessage struct {
	ChatID     int64
	ChatType   string // private, group, supergroup or channel
	MessageID  int
	Thread     int    // the topic; 0 outside topics and in General
	Accessible bool   // false: too old or deleted; nothing but its ids is known
	Business   string // not empty: the chat id means another chat than ours of that id
	Guest      string // the same
}

// Membership says what became of the bot itself in a chat.
type Membership struct {
	Chat   Chat
	From   User
	Old    string // Telegram's word: creator, administrator, member, restricted, left or kicked
	New    string
	Member bool // the bot is in the chat now; in a direct chat: it is not blocked
}

// Decode reads one update. An update of an unknown kind is no error. An error means that the update cannot be used, now
// or later, and should be set aside. Decode never panics, whatever the bytes.
func Decode(raw json.RawMessage) (Update, error) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return Update{}, fmt.Errorf("decode an update: %w", err)
	}
	var u Update
	id, ok := parts["update_id"]
	if !ok {
		return Update{}, errors.New("decode an update: it has no update_id")
	}
	if err := json.Unmarshal(id, &u.ID); err != nil {
		return Update{}, fmt.Errorf("decode the id of an update: %w", err)
	}
	kind, err := kindOf(parts)
	if err != nil {
		return Update{}, fmt.Errorf("decode update %d: %w", u.ID, err)
	}
	u.Kind = kind
	if err := u.decodePart(parts[kind]); err != nil {
		return Update{}, fmt.Errorf("decode update %d (%s): %w", u.ID, kind, err)
	}
	return u, nil
}

// kindOf finds what an update is. Two kinds that we act on in one update come from nobody we know.
func kindOf(parts map[string]json.RawMessage) (string, error) {
	var known, other []string
	for key := range parts {
		switch key {
		case "update_id":
		case kindMessage, kindCallback, kindMyChatMember:
			known = append(known, key)
		default:
			other = append(other, key)
		}
	}
	switch {
	case len(known) > 1:
		return "", errors.New("it is of two kinds at once")
	case len(known) == 1:
		return known[0], nil
	case len(other) > 0:
		return slices.Min(other), nil
	}
	return "", nil
}

// decodePart decodes the part of the update's kind.
func (u *Update) decodePart(part json.RawMessage) error {
	switch u.Kind {
	case kindMessage:
		var m wireMessage
		if err := json.Unmarshal(part, &m); err != nil {
			return err
		}
		if m.ID == nil || m.Chat == nil {
			return errors.New("a message without message_id or chat")
		}
		u.Message = m.message()
	case kindCallback:
		var c wireCallback
		if err := json.Unmarshal(part, &c); err != nil {
			return err
		}
		if c.ID == "" || c.From == nil {
			return errors.New("a callback without id or from")
		}
		u.Callback = c.callback()
	case kindMyChatMember:
		var m wireMembership
		if err := json.Unmarshal(part, &m); err != nil {
			return err
		}
		if m.Chat == nil {
			return errors.New("a membership without chat")
		}
		u.MyChatMember = m.membership()
	}
	return nil
}

// wireCallback is a callback_query as Telegram writes it.
type wireCallback struct {
	ID      string       `json:"id"`
	From    *User        `json:"from"`
	Message *wireMessage `json:"message"`
	Inline  string       `json:"inline_message_id"`
	Data    string       `json:"data"`
}

func (w wireCallback) callback() *Callback {
	c := &Callback{ID: w.ID, From: *w.From, Inline: w.Inline, Data: w.Data}
	if m := w.Message; m != nil && m.ID != nil && m.Chat != nil {
		c.Message = &TappedMessage{
			ChatID:     m.Chat.ID,
			ChatType:   m.Chat.Type,
			MessageID:  *m.ID,
			Thread:     m.topic(),
			Accessible: m.Date != 0,
			Business:   m.Business,
			Guest:      m.Guest,
		}
	}
	return c
}

// wireMembership is a chat_member_updated as Telegram writes it.
type wireMembership struct {
	Chat *Chat `json:"chat"`
	From User  `json:"from"`
	Old  struct {
		Status string `json:"status"`
	} `json:"old_chat_member"`
	New struct {
		Status   string `json:"status"`
		IsMember bool   `json:"is_member"` // only with restricted
	} `json:"new_chat_member"`
}

func (w wireMembership) membership() *Membership {
	m := &Membership{Chat: *w.Chat, From: w.From, Old: w.Old.Status, New: w.New.Status}
	switch w.New.Status {
	case "creator", "administrator", "member":
		m.Member = true
	case "restricted":
		m.Member = w.New.IsMember
	}
	return m
}
