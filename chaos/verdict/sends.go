package verdict

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// recordWithin is how long after an answer of Telegram the bot may take to write
// down what was sent.
const recordWithin = 4 * time.Second

type sent struct {
	chat     int64
	approval string
	kind     string
}

// extras: one card and one notice for each approval and chat. Another one is
// there only where the send before was interrupted, a person deleted the one
// before, or asked to see it again.
func (c *court) extras() {
	messages := map[sent][]Message{}
	for _, m := range c.Messages {
		c.verdict.Figures.Sends[m.Kind]++
		if m.Approval != "" && m.Kind != AWord && m.Kind != AShared {
			k := sent{m.Chat, m.Approval, m.Kind}
			messages[k] = append(messages[k], m)
		}
	}
	interrupted := map[sent]int{}
	for _, call := range c.Calls {
		if call.Method == "sendMessage" && call.Applied && call.Approval != "" && c.interrupted(call) {
			interrupted[sent{call.Chat, call.Approval, call.Kind}]++
			c.verdict.Figures.Repeats++
		}
	}
	deleted := map[Place]bool{}
	for _, p := range c.Deletions {
		deleted[p] = true
	}
	for k, list := range messages {
		allowed := 1 + interrupted[k]
		for _, m := range list {
			if m.Deleted || deleted[Place{m.Chat, m.ID}] {
				allowed++
			}
		}
		if a := c.asked[k.approval]; a != nil && k.kind == ACard {
			allowed += a.Shown[k.chat]
		}
		if n := len(list); n > 1 {
			c.verdict.Figures.Extra[k.kind] += n - 1
			if n > allowed {
				c.broken("extra messages", k.approval, "chat %d got %d of kind %s, of which %d can be explained", k.chat, n, k.kind, allowed)
			}
		}
	}
}

// interrupted reports whether the bot may not have come to write down a send
// that Telegram did.
func (c *court) interrupted(call Call) bool {
	if !call.OK {
		return true
	}
	return slices.ContainsFunc(c.Strikes, func(s Strike) bool {
		return (s.Bot == -1 || s.Bot == call.Bot) && !s.From.After(call.Until.Add(recordWithin)) && !s.Until.Before(call.From)
	})
}

// quiet reports whether a shared notice speaks for an approval in a chat.
func (c *court) quiet(id string, chat int64) bool {
	var chats []int64
	if json.Unmarshal([]byte(cmp.Or(c.Rows[id]["quiet"], "[]")), &chats) != nil {
		return false
	}
	return slices.Contains(chats, chat) && slices.ContainsFunc(c.Messages, func(m Message) bool {
		return m.Kind == AShared && m.Chat == chat
	})
}

// lapsesTold: every lapse was told of in every chat where it had a card.
func (c *court) lapsesTold() {
	noticed := map[sent]bool{}
	for _, m := range c.Messages {
		switch m.Kind {
		case ANotice:
			noticed[sent{m.Chat, m.Approval, ANotice}] = true
		case AShared:
			for _, id := range title.FindAllString(m.Text, -1) {
				noticed[sent{m.Chat, id, ANotice}] = true
			}
		}
	}
	for _, card := range c.Cards {
		said := c.answers[card.Approval]
		switch {
		case said.Decision != "lapsed", card.Reader, card.Retired, lapsedAtOnce(c.Rows[card.Approval]):
			continue
		case slices.Contains(c.Out, card.Chat), card.Message == 0:
			continue
		}
		if !noticed[sent{card.Chat, card.Approval, ANotice}] && !c.quiet(card.Approval, card.Chat) {
			c.broken("lapses told", card.Approval, "chat %d was not told", card.Chat)
		}
	}
	for k := range noticed {
		if said, ok := c.answers[k.approval]; !ok || said.Decision != "lapsed" {
			c.broken("lapses told", k.approval, "chat %d was told that it lapsed, it was %s", k.chat, said.Decision)
		}
	}
}

// tapsAnswered: every tap was answered, or it is known what swallowed it.
func (c *court) tapsAnswered() {
	c.verdict.Figures.Taps = len(c.Taps)
	tried, late := map[string]bool{}, map[string]bool{}
	carried := map[string][]Call{}
	for _, call := range c.Calls {
		if call.Callback != "" {
			tried[call.Callback] = true
			late[call.Callback] = late[call.Callback] || call.Late
		}
		for _, id := range call.Carried {
			carried[id] = append(carried[id], call)
		}
	}
	for _, t := range c.Taps {
		toast, ok := c.Answered[t.ID]
		switch {
		case ok && strings.Contains(toast.Text, "Not recorded yet"):
			c.verdict.Figures.TapsBy["answered: being tried"]++
		case ok:
			c.verdict.Figures.TapsBy["answered"]++
		case late[t.ID]:
			c.verdict.Figures.TapsBy["lost: the answer came later than Telegram takes one"]++
		case tried[t.ID]:
			c.verdict.Figures.TapsBy["lost: a fault of Telegram struck the answer"]++
		case slices.ContainsFunc(carried[t.ID], c.cutShort):
			c.verdict.Figures.TapsBy["lost: the bot was killed or stopped while it had the tap"]++
		case len(carried[t.ID]) == 0:
			c.broken("taps answered", t.ID, "%d tapped %s at %s, and no bot was ever given it", t.By, t.Data, t.At.Format(time.TimeOnly))
		default:
			c.broken("taps answered", t.ID, "%d tapped %s at %s, and nothing explains why there was no answer", t.By, t.Data, t.At.Format(time.TimeOnly))
		}
	}
}

// handleWithin is how long a bot may have a tap before it has answered it.
const handleWithin = 12 * time.Second

// cutShort reports whether the bot that was handed something was struck before
// it must have been done with it.
func (c *court) cutShort(call Call) bool {
	if call.Method == "getUpdates" && !call.OK {
		return true // it never got there; it comes again
	}
	return slices.ContainsFunc(c.Strikes, func(s Strike) bool {
		return s.Bot == call.Bot && deadly(s.Kind) && !s.From.After(call.Until.Add(handleWithin)) && !s.Until.Before(call.From)
	})
}

// deadly reports whether a strike ends or freezes a bot.
func deadly(kind string) bool { return strings.HasPrefix(kind, "bot.") }
