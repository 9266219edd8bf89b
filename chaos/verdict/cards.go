package verdict

import (
	"slices"
	"strings"
	"time"
)

// badges are how the first line of a finished card begins, by decision.
func badge(decision string) string {
	switch decision {
	case "approved":
		return "Approved by "
	case "rejected":
		return "Rejected by "
	case "lapsed":
		return "Lapsed"
	case "withdrawn":
		return "Withdrawn"
	case "refused":
		return "Refused"
	}
	return ""
}

// outcomeIn is the decision that a card's first line tells of, "" while open.
func outcomeIn(first string) string {
	for _, d := range []string{"approved", "rejected", "lapsed", "withdrawn", "refused"} {
		if strings.Contains(first, badge(d)) {
			return d
		}
	}
	return ""
}

// afterwards is what a card says of a row that went on.
func afterwards(state string) string {
	switch state {
	case "executed":
		return "Done"
	case "failed":
		return "Failed"
	case "partial":
		return "Partly done"
	case "undone":
		return "Undone"
	}
	return ""
}

// knownCards: what the bot knows of as a card says what the row says.
func (c *court) knownCards() {
	there := map[Place]Message{}
	for _, m := range c.Messages {
		there[Place{m.Chat, m.ID}] = m
	}
	known := map[string]int{}
	for _, card := range c.Cards {
		for _, id := range append([]int64{card.Message}, card.Copies...) {
			if id == 0 {
				continue
			}
			known[card.Approval]++
			m, ok := there[Place{card.Chat, id}]
			switch {
			case slices.Contains(c.Out, card.Chat):
			case !ok:
				c.broken("cards", card.Approval, "card %s is said to be message %d of chat %d, which never was", card.ID, id, card.Chat)
			case m.Deleted:
			default:
				c.inLine(card, m)
			}
		}
	}
	out := map[string]bool{}
	for _, card := range c.Cards {
		out[card.Approval] = out[card.Approval] || card.Failed != ""
	}
	for _, a := range c.Asked {
		if said, ok := c.answers[a.ID]; ok && said.Decision != "refused" && known[a.ID] == 0 && !out[a.ID] && !c.toldTogether(a.ID, a.Chats) {
			c.broken("cards", a.ID, "it has no card at all")
		}
	}
}

// toldTogether reports whether a shared notice speaks for an approval in all of
// its chats.
func (c *court) toldTogether(id string, chats []int64) bool {
	return !slices.ContainsFunc(chats, func(chat int64) bool { return !c.quiet(id, chat) })
}

// inLine compares a message with the row.
func (c *court) inLine(card Card, m Message) {
	row, said := c.Rows[card.Approval], c.answers[card.Approval]
	first, _, _ := strings.Cut(m.Text, "\n")
	name := ""
	if said.By.Surface == "telegram" && (said.Decision == "approved" || said.Decision == "rejected") {
		name = said.By.Name
	}
	if want := badge(said.Decision); want == "" || !strings.Contains(first, want+name) {
		c.broken("cards", card.Approval, "message %d of chat %d begins %q, the row is %s by %s", m.ID, m.Chat, first, said.Decision, said.By.Name)
	}
	if m.Approval != card.Approval {
		c.broken("cards", card.Approval, "message %d of chat %d is of %q", m.ID, m.Chat, m.Approval)
	}
	if want := afterwards(row["state"]); !strings.Contains(m.Text, want) {
		c.broken("cards", card.Approval, "message %d of chat %d does not say %q", m.ID, m.Chat, want)
	}
	for _, b := range m.Buttons {
		switch letter(b) {
		case 'a', 'y', 'c', 'r':
			c.broken("cards", card.Approval, "message %d of chat %d still has the button %s", m.ID, m.Chat, b)
		case 'u':
			if row["undo"] != "" || row["state"] != "executed" && row["state"] != "partial" {
				c.broken("cards", card.Approval, "message %d of chat %d offers an undo", m.ID, m.Chat)
			}
		}
	}
}

// outcomesShown: no card ever told of an outcome that the row did not have, or
// not yet.
func (c *court) outcomesShown() {
	for _, call := range c.Calls {
		if call.Approval == "" || call.Kind != ACard {
			continue
		}
		told := outcomeIn(call.Badge)
		if told == "" {
			continue
		}
		said, ok := c.answers[call.Approval]
		at := millis(c.Rows[call.Approval]["answered_at"])
		switch {
		case !ok || said.Decision != told:
			c.broken("cards follow rows", call.Approval, "a card said %q, the row is %s", call.Badge, said.Decision)
		case call.Until.Add(c.Slack).Before(at):
			c.broken("cards follow rows", call.Approval, "a card said %q at %s, the row was answered at %s", call.Badge, call.From, at.Format(time.RFC3339Nano))
		}
	}
}
