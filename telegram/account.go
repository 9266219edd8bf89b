package telegram

import (
	"context"
	"fmt"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// Me is the bot itself.
type Me struct {
	ID       int64
	Username string // without @
	// CanReadAllGroupMessages: privacy mode is off. With it on, the bot gets commands, taps and replies to it alone.
	CanReadAllGroupMessages bool
}

// Me asks who the token belongs to.
func (c *Client) Me(ctx context.Context) (Me, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	u, err := c.library.GetMe(ctx)
	if err != nil {
		return Me{}, c.failure("getMe", err)
	}
	return Me{ID: u.ID, Username: u.Username, CanReadAllGroupMessages: u.CanReadAllGroupMessages}, nil
}

// Command is one entry of the menu that apps show. It gives no right and takes none.
type Command struct {
	Name        string // 1–32 of a-z, 0-9 and _, without the slash
	Description string // 1–256 characters
}

// The scopes of a menu: who is shown it.
const (
	ScopeDefault         = "default"
	ScopeAllPrivateChats = "all_private_chats"
	ScopeAllGroupChats   = "all_group_chats"
)

// Commands returns the menu of a scope.
func (c *Client) Commands(ctx context.Context, scope string) ([]Command, error) {
	s, err := commandScope("getMyCommands", scope)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.within(ctx)
	defer cancel()
	listed, err := c.library.GetMyCommands(ctx, &bot.GetMyCommandsParams{Scope: s})
	if err != nil {
		return nil, c.failure("getMyCommands", err)
	}
	commands := make([]Command, 0, len(listed))
	for _, l := range listed {
		commands = append(commands, Command{Name: l.Command, Description: l.Description})
	}
	return commands, nil
}

// SetCommands replaces the menu of a scope.
func (c *Client) SetCommands(ctx context.Context, scope string, commands []Command) error {
	s, err := commandScope("setMyCommands", scope)
	if err != nil {
		return err
	}
	ctx, cancel := c.within(ctx)
	defer cancel()
	listed := make([]models.BotCommand, 0, len(commands))
	for _, l := range commands {
		listed = append(listed, models.BotCommand{Command: l.Name, Description: l.Description})
	}
	_, err = c.library.SetMyCommands(ctx, &bot.SetMyCommandsParams{Commands: listed, Scope: s})
	return c.failure("setMyCommands", err)
}

func commandScope(method, scope string) (models.BotCommandScope, error) {
	switch scope {
	case ScopeDefault:
		return &models.BotCommandScopeDefault{}, nil
	case ScopeAllPrivateChats:
		return &models.BotCommandScopeAllPrivateChats{}, nil
	case ScopeAllGroupChats:
		return &models.BotCommandScopeAllGroupChats{}, nil
	}
	return nil, &Error{Kind: BadRequest, Method: method, Err: fmt.Errorf("unknown scope %q", scope)}
}

// ChatInfo is what is known of a chat. A direct chat has the person's names, any other one a title.
type ChatInfo struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"` // private, group, supergroup or channel
	Title     string `json:"title"`
	Username  string `json:"username"` // without @
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	IsForum   bool   `json:"is_forum"`
}

// Reach asks whether the bot can write in a chat, without leaving a trace there: it shows that it is typing, for a moment.
// Nil means that it can; [Blocked], that it is out.
func (c *Client) Reach(ctx context.Context, chat int64) error {
	ctx, cancel := c.within(ctx)
	defer cancel()
	params := map[string]any{"chat_id": chat, "action": "typing"}
	var done bool
	return c.call(ctx, "sendChatAction", params, &done, largestAnswer)
}

// Chat asks for a chat. One that the bot cannot reach fails with [Blocked].
func (c *Client) Chat(ctx context.Context, id int64) (ChatInfo, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	var info ChatInfo
	err := c.call(ctx, "getChat", map[string]int64{"chat_id": id}, &info, largestAnswer)
	return info, err
}

// The standings of somebody in a chat, as Telegram names them. Who has one of the first four is in the chat.
const (
	Creator       = "creator"
	Administrator = "administrator"
	Ordinary      = "member"
	Restricted    = "restricted" // in the chat only where IsMember says so
	Gone          = "left"
	Banned        = "kicked"
)

// Member is how somebody stands in a chat.
type Member struct {
	Status   string `json:"status"`
	IsMember bool   `json:"is_member"` // of somebody restricted
}

// In reports whether it is the standing of somebody who is in the chat.
func (m Member) In() bool {
	switch m.Status {
	case Creator, Administrator, Ordinary:
		return true
	case Restricted:
		return m.IsMember
	}
	return false
}

// Member asks how somebody stands in a chat. Of others than the bot itself Telegram promises to tell only where the bot
// is an administrator of the chat.
func (c *Client) Member(ctx context.Context, chat, user int64) (Member, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	var m Member
	err := c.call(ctx, "getChatMember", map[string]int64{"chat_id": chat, "user_id": user}, &m, largestAnswer)
	return m, err
}
