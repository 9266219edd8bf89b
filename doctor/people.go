package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign/config"
	"countersign/telegram"
)

// people looks whether the bot can write to each owner. Whoever is asked in the direct
// chat has to be reached; the others only miss what all owners are told.
func (e *examination) people(ctx context.Context) {
	if e.me == nil {
		return
	}
	asked := e.directly()
	for _, p := range e.Config.People {
		if p.Role != config.RoleOwner || ctx.Err() != nil {
			continue
		}
		name := fmt.Sprintf("%s (%d)", p.Name, p.ID)
		err := e.Telegram.Reach(ctx, p.ID)
		remedy := fmt.Sprintf("%s opens https://t.me/%s and presses Start; where the id is wrong, correct it in people", p.Name, e.me.Username)
		switch {
		case err == nil:
			e.good(CheckOwner, name+" can be reached")
		case kind(err) != telegram.Blocked:
			e.warn(CheckOwner, fmt.Sprintf("it is not known whether %s can be reached: %v", name, err), "run doctor again")
		case asked[p.ID]:
			e.fault(CheckOwner, name+" cannot be reached: never pressed Start, or blocked the bot", remedy)
		default:
			e.warn(CheckOwner, name+" cannot be told of alarms: never pressed Start, or blocked the bot", remedy)
		}
	}
}

// directly are the people who are asked in their direct chats: those that routes name,
// and every owner where a request may fit no route.
func (e *examination) directly() map[int64]bool {
	asked := map[int64]bool{}
	rest := true
	for _, route := range e.Config.Routes {
		for _, c := range route.Chats {
			asked[c.ID] = true
		}
		rest = rest && route.Match != config.Match{}
	}
	if rest {
		for _, p := range e.Config.People {
			asked[p.ID] = asked[p.ID] || p.Role == config.RoleOwner
		}
	}
	return asked
}

// chats looks at each chat that a route names: whether the bot may write there, and
// whether somebody there may answer.
func (e *examination) chats(ctx context.Context) {
	if e.me == nil {
		return
	}
	answerers := map[int64][]int64{} // who may answer in a chat
	var order []int64
	for _, route := range e.Config.Routes {
		owners := route.Owners
		if owners == nil {
			owners = e.owners()
		}
		for _, c := range route.Chats {
			if _, ok := answerers[c.ID]; !ok {
				order = append(order, c.ID)
			}
			answerers[c.ID] = append(answerers[c.ID], owners...)
		}
	}
	for _, chat := range order {
		if ctx.Err() != nil {
			return
		}
		if chat > 0 {
			e.direct(ctx, chat, answerers[chat])
			continue
		}
		e.group(ctx, chat, answerers[chat])
	}
}

func (e *examination) owners() []int64 {
	var ids []int64
	for _, p := range e.Config.People {
		if p.Role == config.RoleOwner {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// direct looks at a direct chat. That of an owner was looked at among the people.
func (e *examination) direct(ctx context.Context, chat int64, owners []int64) {
	if slices.Contains(owners, chat) {
		return
	}
	name := fmt.Sprintf("the direct chat %d", chat)
	if p, ok := e.Config.Person(chat); ok {
		name = fmt.Sprintf("the direct chat of %s (%d)", p.Name, chat)
	}
	e.warn(CheckChat, name+" gets cards that nobody can answer there", "name an owner's chat in the route, or the person among its owners")
	if err := e.Telegram.Reach(ctx, chat); err != nil {
		e.fault(CheckChat, fmt.Sprintf("%s cannot be written to: %v", name, err), "take it out of the route, or have that person press Start")
	}
}

// group looks at a group.
func (e *examination) group(ctx context.Context, chat int64, owners []int64) {
	name := fmt.Sprintf("chat %d", chat)
	info, err := e.Telegram.Chat(ctx, chat)
	if err == nil {
		name = fmt.Sprintf("%s (%d)", info.Title, chat)
		err = e.Telegram.Reach(ctx, chat)
	}
	if err != nil {
		e.unreached(name, err)
		return
	}
	in, unknown := 0, false
	slices.Sort(owners)
	owners = slices.Compact(owners)
	for _, owner := range owners {
		m, err := e.Telegram.Member(ctx, chat, owner)
		switch {
		case err != nil:
			unknown = true
		case m.In():
			in++
		}
	}
	switch {
	case in > 0:
		e.good(CheckChat, fmt.Sprintf("the bot may write in %s, and %d who may answer %s there", name, in, map[bool]string{true: "is", false: "are"}[in == 1]))
	case unknown:
		e.warn(CheckChat, "Telegram does not tell who is in "+name, "see that an owner is there, or make the bot an administrator, which is told")
	default:
		e.fault(CheckChat, "nobody who may answer is in "+name+": "+e.names(owners), "add one of them to the chat, or change the route's owners")
	}
}

// unreached says why a group cannot be written to.
func (e *examination) unreached(name string, err error) {
	switch kind(err) {
	case telegram.Blocked:
		e.fault(CheckChat, "the bot is not in "+name, "add @"+e.me.Username+" to it, or correct the id in routes")
	case telegram.NoRights:
		e.fault(CheckChat, "the bot may not write in "+name, "let an administrator of the chat allow it to send messages and files")
	case telegram.Migrated:
		var moved *telegram.Error
		errors.As(err, &moved)
		e.fault(CheckChat, fmt.Sprintf("%s has become the supergroup %d", name, moved.MigrateTo), "put that id into routes")
	default:
		e.warn(CheckChat, fmt.Sprintf("it is not known whether the bot may write in %s: %v", name, err), "run doctor again")
	}
}

// names lists people as the configuration calls them.
func (e *examination) names(ids []int64) string {
	var names []string
	for _, id := range ids {
		if p, ok := e.Config.Person(id); ok {
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, ", ")
}
