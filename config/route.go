package config

import "slices"

// Route says where one request is asked and who answers, with nothing left to default.
type Route struct {
	Chats  []Chat  // empty: the request is refused as unroutable
	Owners []int64 // who may answer
	Quorum int     // different owners who must approve, ≥ 1
}

// Fits reports whether a request falls under m. Of several tools all must fit; a
// request without tools, such as a halt, counts as one tool with an empty name.
func (m Match) Fits(runtime, kind string, tools []string, tier string) bool {
	if m.Runtime != "" && !Glob(m.Runtime, runtime) ||
		m.Kind != "" && m.Kind != kind ||
		m.Tier != "" && m.Tier != tier {
		return false
	}
	if m.Tool == "" {
		return true
	}
	if len(tools) == 0 {
		return Glob(m.Tool, "")
	}
	return !slices.ContainsFunc(tools, func(tool string) bool { return !Glob(m.Tool, tool) })
}

// Route returns the first route that a request falls under, and its index in
// [Config.Routes]. Where none does, it is every owner's direct chat, one approval, and
// the index is -1. The slices are the caller's own.
func (c *Config) Route(runtime, kind string, tools []string, tier string) (Route, int) {
	for i, rule := range c.Routes {
		if !rule.Match.Fits(runtime, kind, tools, tier) {
			continue
		}
		owners := slices.Clone(rule.Owners)
		if rule.Owners == nil {
			owners = c.owners()
		}
		return Route{Chats: slices.Clone(rule.Chats), Owners: owners, Quorum: rule.Quorum}, i
	}
	route := Route{Owners: c.owners(), Quorum: 1}
	for _, id := range route.Owners {
		route.Chats = append(route.Chats, Chat{ID: id}) // a direct chat has its person's id
	}
	return route, -1
}

// Policy returns the first policy that a request falls under, and its index in
// [Config.Policies]; -1 where none does.
func (c *Config) Policy(runtime, kind string, tools []string) (Policy, int) {
	for i, policy := range c.Policies {
		if policy.Match.Fits(runtime, kind, tools, "") {
			return policy, i
		}
	}
	return Policy{}, -1
}

// Person returns the person with a Telegram user id.
func (c *Config) Person(id int64) (Person, bool) {
	i := slices.IndexFunc(c.People, func(p Person) bool { return p.ID == id })
	if i < 0 {
		return Person{}, false
	}
	return c.People[i], true
}

// Owner reports whether id is that of an owner.
func (c *Config) Owner(id int64) bool {
	person, ok := c.Person(id)
	return ok && person.Role == RoleOwner
}

func (c *Config) owners() []int64 {
	var ids []int64
	for _, p := range c.People {
		if p.Role == RoleOwner {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// Streams returns the inbound streams: those configured, else the namespace's own for
// every runtime.
func (c *Config) Streams() []Stream {
	if len(c.Redis.Streams) > 0 {
		return slices.Clone(c.Redis.Streams)
	}
	return []Stream{{Key: "{" + c.Redis.Namespace + "}:requests", Runtimes: []string{"*"}, IDs: "*"}}
}

// StreamFor returns the first inbound stream that takes requests of a runtime.
func (c *Config) StreamFor(runtime string) (Stream, bool) {
	for _, s := range c.Streams() {
		if s.Takes(runtime) {
			return s, true
		}
	}
	return Stream{}, false
}

// Takes reports whether a runtime may ask by s.
func (s Stream) Takes(runtime string) bool {
	return slices.ContainsFunc(s.Runtimes, func(pattern string) bool { return Glob(pattern, runtime) })
}
