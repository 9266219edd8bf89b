package simulator

// menu returns the commands that an app offers somebody in a chat: those of the narrowest
// scope that has any, in the person's language where there are some. The caller holds mu.
func (s *Server) menu(ch *chat, viewer int64) []BotCommand {
	language := ""
	if u := s.users[viewer]; u != nil {
		language = u.LanguageCode
	}
	for _, scope := range menuScopes(ch, viewer) {
		key := string(mustJSON(scope)) + " "
		if list := s.bot.commands[key+language]; len(list) > 0 {
			return list
		}
		if list := s.bot.commands[key]; len(list) > 0 {
			return list
		}
	}
	return nil
}

// menuScopes lists the scopes of a person in a chat, the narrowest first.
func menuScopes(ch *chat, viewer int64) []map[string]any {
	of := func(kind string) map[string]any { return map[string]any{"type": kind} }
	here := func(kind string) map[string]any { return map[string]any{"type": kind, "chat_id": ch.ID} }
	if ch.isPrivate() {
		return []map[string]any{here("chat"), of("all_private_chats"), of("default")}
	}
	scopes := []map[string]any{{"type": "chat_member", "chat_id": ch.ID, "user_id": viewer}}
	admin := ch.members[viewer] != nil && ch.members[viewer].admin()
	if admin {
		scopes = append(scopes, here("chat_administrators"))
	}
	scopes = append(scopes, here("chat"))
	if admin {
		scopes = append(scopes, of("all_chat_administrators"))
	}
	return append(scopes, of("all_group_chats"), of("default"))
}
