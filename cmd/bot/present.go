package main

import (
	"math"
	"slices"
	"strings"

	"countersign/approval"
	"countersign/cards"
	"countersign/config"
	"countersign/delivery"
	"countersign/handlers"
	"countersign/queue"
)

// What each room needs of the configuration, as it needs it. The configuration
// was validated, so nothing here can fail.

// An inForce is a configuration in force, with what follows from it: each tap and each
// drawing asks for that, and a time zone is a file to read. Nobody changes it.
type inForce struct {
	config   *config.Config
	speaking handlers.Present
	drawing  delivery.Present
}

// settings are how cards are drawn. layouts remembers those of long lists, whatever
// the configuration.
func settings(c *config.Config, layouts *cards.Layouts) cards.Settings {
	location, err := c.Location()
	if err != nil {
		panic("unreachable: the time zone was validated: " + err.Error())
	}
	s := cards.Settings{
		Confirm: approval.Confirm{
			Window: c.Confirm.Window, Dwell: c.Confirm.Dwell,
			OneTap: c.Confirm.Halts == config.HaltsOneTap, NoUnseen: c.Confirm.Unseen == config.UnseenRefuse,
		},
		Location: location, TimeTag: true, Redact: bool(c.Redact), Layouts: layouts,
		ReplyWords: append(slices.Clone(c.Replies.Approve), c.Replies.Reject...),
	}
	if len(c.Replies.Approve) > 0 {
		s.ApproveWord = c.Replies.Approve[0]
	}
	if len(c.Replies.Reject) > 0 {
		s.RejectWord = c.Replies.Reject[0]
	}
	return s
}

// drawing is what delivery needs.
func drawing(c *config.Config, layouts *cards.Layouts) delivery.Present {
	return delivery.Present{
		Cards: settings(c, layouts),
		Owner: c.Owner,
		Listed: func(chat int64) bool {
			_, ok := c.Person(chat)
			return ok
		},
		Reader: func(chat int64) bool {
			p, ok := c.Person(chat)
			return ok && p.Role == config.RoleReader
		},
	}
}

// speaking is what handlers need.
func speaking(c *config.Config, layouts *cards.Layouts) handlers.Present {
	p := handlers.Present{
		People: make(map[int64]handlers.Person, len(c.People)), Cards: settings(c, layouts),
		Approve: lower(c.Replies.Approve), Reject: lower(c.Replies.Reject),
	}
	for _, person := range c.People {
		p.People[person.ID] = handlers.Person{ID: person.ID, Name: person.Name, Role: handlers.Role(person.Role)}
	}
	routed := map[int64]bool{}
	for _, route := range c.Routes {
		for _, chat := range route.Chats {
			routed[chat.ID] = true
		}
	}
	p.Routed = func(chat int64) bool { return routed[chat] }
	return p
}

func lower(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ToLower(w)
	}
	return out
}

// A router finds routes in the configuration.
type router struct{ cfg *config.Config }

// Route finds the route of a request.
func (r router) Route(q *approval.Request, tier string) queue.Route {
	route, _ := r.cfg.Route(q.Runtime, string(q.Kind), q.Tools(), tier)
	out := queue.Route{Owners: route.Owners, Quorum: route.Quorum}
	for _, c := range route.Chats {
		out.Chats = append(out.Chats, approval.Chat{ID: c.ID, Thread: c.Thread})
	}
	return out
}

func durations(c *config.Config) approval.Durations {
	return approval.Durations{ToolCall: c.Expiry.ToolCall, Halt: c.Expiry.Halt, Max: c.Expiry.Max}
}

func limits(c config.Config) delivery.Limits {
	l := c.Telegram.Limits
	return delivery.Limits{PerSecond: l.PerSecond, ChatPerSecond: l.ChatPerSecond, GroupPerMinute: int(math.Ceil(l.GroupPerMinute))}
}

func owners(c *config.Config) []int64 {
	var ids []int64
	for _, p := range c.People {
		if p.Role == config.RoleOwner {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

func streams(c config.Config) []queue.Stream {
	var out []queue.Stream
	for _, s := range c.Streams() {
		out = append(out, queue.Stream{Key: s.Key, Runtimes: s.Runtimes, IDs: s.IDs})
	}
	return out
}

func streamKeys(c config.Config) []string {
	var keys []string
	for _, s := range c.Streams() {
		keys = append(keys, s.Key)
	}
	return keys
}
