package simulator

import (
	"encoding/json"
	"regexp"
	"slices"
)

// me is the bot as getMe shows it.
type me struct {
	User
	CanJoinGroups   bool `json:"can_join_groups"`
	CanReadAll      bool `json:"can_read_all_group_messages"`
	SupportsInline  bool `json:"supports_inline_queries"`
	CanBusiness     bool `json:"can_connect_to_business"`
	HasMainWebApp   bool `json:"has_main_web_app"`
	HasTopics       bool `json:"has_topics_enabled"`
	UsersMakeTopics bool `json:"allows_users_to_create_topics"`
}

func getMe(s *Server, _ *call) (any, error) {
	return me{User: s.bot.User, CanJoinGroups: true, CanReadAll: s.options.ReadsGroups}, nil
}

func logOut(s *Server, _ *call) (any, error) {
	s.bot.loggedOut = true
	s.endPoll("Logged out")
	return true, nil
}

func closeBot(*Server, *call) (any, error) { return true, nil }

// A BotCommand is one entry of the menu of commands.
type BotCommand struct {
	Command     string `json:"command"`     // 1 to 32 of a-z, 0-9 and _
	Description string `json:"description"` // 1 to 256 characters
}

const maxCommands = 100

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// commandKey names the list that a call means: its scope and its language.
func commandKey(c *call) string {
	var scope map[string]any
	if err := c.object("scope", &scope); err != nil || scope == nil {
		scope = map[string]any{"type": "default"}
	}
	return string(mustJSON(scope)) + " " + c.text("language_code")
}

func setMyCommands(s *Server, c *call) (any, error) {
	var list []BotCommand
	if err := c.object("commands", &list); err != nil {
		return nil, err
	}
	if len(list) > maxCommands {
		return nil, refused("BOT_COMMANDS_TOO_MUCH")
	}
	for _, command := range list {
		switch n := len([]rune(command.Description)); {
		case !commandName.MatchString(command.Command):
			return nil, refused("BOT_COMMAND_INVALID")
		case n < 1 || n > 256:
			return nil, refused("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.bot.commands[commandKey(c)] = list
	s.note(Change{Kind: ChatChanged})
	return true, nil
}

func getMyCommands(s *Server, c *call) (any, error) {
	return slices.Concat([]BotCommand{}, s.bot.commands[commandKey(c)]), nil
}

func deleteMyCommands(s *Server, c *call) (any, error) {
	delete(s.bot.commands, commandKey(c))
	s.note(Change{Kind: ChatChanged})
	return true, nil
}

// Commands returns the menu of commands of a scope, which is the JSON of a
// BotCommandScope; nil is the default scope.
func (s *Server) Commands(scope json.RawMessage) []BotCommand {
	fields := map[string]any{"type": "default"}
	if scope != nil {
		if json.Unmarshal(scope, &fields) != nil {
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bot.commands[string(mustJSON(fields))+" "])
}
