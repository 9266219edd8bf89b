package config

import "slices"

// Rights are the part of a configuration that says who may answer, who may look, and
// what an answer takes: what [Looser] compares. They hold no secret, and go through
// encoding/json.
type Rights struct {
	People  []Person
	Routes  []RouteRule
	Streams []Stream
	Halts   string
	Unseen  string
	Dwell   int64 // of the confirm step, in milliseconds
	Masked  bool  // what looks like a secret
}

// Rights returns those of c.
func (c *Config) Rights() Rights {
	return Rights{
		People: slices.Clone(c.People), Routes: slices.Clone(c.Routes), Streams: c.Streams(),
		Halts: c.Confirm.Halts, Unseen: c.Confirm.Unseen, Dwell: c.Confirm.Dwell.Milliseconds(), Masked: bool(c.Redact),
	}
}

// owners are those who may answer.
func (r Rights) owners() []int64 {
	c := Config{People: r.People}
	return c.owners()
}

// A resolved is a route with nothing left to default; the last of a list is the one for
// what no other fits.
type resolved struct {
	match  Match
	chats  []Chat
	owners []int64
	quorum int
	direct bool // the last one: every owner's direct chat
	listed bool // its owners are named
}

func (r Rights) resolved() []resolved {
	var list []resolved
	for _, rule := range r.Routes {
		p := resolved{match: rule.Match, chats: rule.Chats, owners: rule.Owners, quorum: max(rule.Quorum, 1), listed: rule.Owners != nil}
		if !p.listed {
			p.owners = r.owners()
		}
		list = append(list, p)
	}
	last := resolved{owners: r.owners(), quorum: 1, direct: true}
	for _, id := range last.owners {
		last.chats = append(last.chats, Chat{ID: id})
	}
	return append(list, last)
}
