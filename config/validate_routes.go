package config

func checkRoutes(f *findings, c *Config) {
	all := len(c.owners())
	for i, rule := range c.Routes {
		key := element("routes", i)
		checkMatch(f, child(key, "match"), rule.Match)
		checkChats(f, child(key, "chats"), rule.Chats)
		checkRouteOwners(f, child(key, "owners"), rule.Owners, c)

		owners := all
		if rule.Owners != nil {
			owners = len(rule.Owners)
		}
		switch {
		case rule.Quorum < 1:
			f.add(child(key, "quorum"), "%d is below 1; want how many different owners must approve", rule.Quorum)
		case owners > 0 && rule.Quorum > owners:
			f.add(child(key, "quorum"), "%d is more than the owners of this route, who are %d; it could never be reached", rule.Quorum, owners)
		}
	}
}

func checkMatch(f *findings, key string, m Match) {
	if m.Kind != "" {
		f.oneOf(child(key, "kind"), m.Kind, KindToolCall, KindHalt)
	}
	if m.Tier != "" {
		f.oneOf(child(key, "tier"), m.Tier, "observe", "act", "outreach", "destroy")
	}
}

func checkChats(f *findings, key string, chats []Chat) {
	first := make(map[Chat]int)
	for i, chat := range chats {
		at := element(key, i)
		if chat.ID == 0 {
			f.add(child(at, "id"), "0 is not a chat; want a user's id for a direct chat, or the negative id of a group")
		}
		if chat.Thread < 0 {
			f.add(child(at, "thread"), "%d is below 0; want the number of a topic, or 0 for none", chat.Thread)
		}
		if j, twice := first[chat]; twice {
			f.add(at, "this is the same chat as %s; it would get every card twice", element(key, j))
		} else {
			first[chat] = i
		}
	}
}

func checkRouteOwners(f *findings, key string, owners []int64, c *Config) {
	if owners != nil && len(owners) == 0 {
		f.add(key, "the list is empty, so nobody could approve; leave the key out for every owner")
	}
	first := make(map[int64]int)
	for i, id := range owners {
		person, known := c.Person(id)
		switch {
		case !known:
			f.add(element(key, i), "%d is not in people; want the id of an owner there", id)
		case person.Role != RoleOwner:
			f.add(element(key, i), "%d is %s, whose role is %s; want the id of an owner", id, quote(person.Name), quote(person.Role))
		}
		if j, twice := first[id]; twice {
			f.add(element(key, i), "%d is listed at %s already", id, element(key, j))
		} else {
			first[id] = i
		}
	}
}
