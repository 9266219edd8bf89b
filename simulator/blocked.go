package simulator

// Block blocks the bot.
func (p *Person) Block() { p.setBlocked(true) }

// Unblock lets the bot write again.
func (p *Person) Unblock() { p.setBlocked(false) }

func (p *Person) setBlocked(blocked bool) {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openPrivate(s.users[p.ID])
	ch := s.chats[p.ID]
	if ch.blocked == blocked {
		return
	}
	ch.blocked = blocked
	was, is := Member, Kicked
	if !blocked {
		was, is = Kicked, Member
	}
	s.tellMembership(ch, s.users[p.ID].User, &member{status: was}, &member{status: is})
}

// Deactivate deletes the person's account.
func (p *Person) Deactivate() {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[p.ID].deactivated = true
	s.note(Change{Kind: ChatChanged, Chat: p.ID, User: p.ID})
}
