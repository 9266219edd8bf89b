package verdict

import (
	"slices"
	"strings"
	"time"
)

// rights: every answer was given by whoever may give it, in the way it must be
// given.
func (c *court) rights() {
	for _, a := range c.Asked {
		said, ok := c.answers[a.ID]
		if !ok {
			continue
		}
		row := c.Rows[a.ID]
		at, deadline := millis(row["answered_at"]), millis(row["expires_at"])
		switch said.Decision {
		case "approved":
			c.inTime(a.ID, "approved", at, deadline)
			c.approved(&a, said, at)
		case "rejected":
			c.inTime(a.ID, "rejected", at, deadline)
			if !c.rejected(&a, said, at) {
				c.broken("rejected by right", a.ID, "nobody who may have rejected it: by %+v", said.By)
			}
		case "lapsed":
			if at.Before(deadline) && !lapsedAtOnce(row) {
				c.broken("lapsed when due", a.ID, "lapsed at %s, its deadline is %s", at, deadline)
			}
		case "withdrawn":
			if a.Withdrawn == 0 {
				c.broken("withdrawn by right", a.ID, "nobody withdrew it")
			}
		case "refused":
			c.refused(&a, said)
		}
	}
}

// lapsedAtOnce reports whether a row lapsed as it opened.
func lapsedAtOnce(row map[string]string) bool { return row["opened_at"] == row["answered_at"] }

func (c *court) inTime(id, what string, at, deadline time.Time) {
	if !at.Before(deadline) {
		c.broken("in time", id, "%s at %s, its deadline was %s", what, at, deadline)
	}
}

func (c *court) refused(a *Asked, said answer) {
	switch code, _, _ := strings.Cut(said.Reason, ":"); {
	case a.Malformed && code == "invalid":
	case !a.Malformed && code == "unreachable":
		for _, chat := range a.Chats {
			if !c.failedThere(a.ID, chat) {
				c.broken("refused by right", a.ID, "unreachable, but a card in chat %d did not fail", chat)
			}
		}
	default:
		c.broken("refused by right", a.ID, "for no reason that there is: %s", said.Reason)
	}
}

// failedThere reports whether Telegram said, before the answer, that the bot is out
// of a chat: to a card of this approval, or when it was asked about the chat.
func (c *court) failedThere(id string, chat int64) bool {
	at := millis(c.Rows[id]["answered_at"]).Add(c.Slack)
	return slices.ContainsFunc(c.Calls, func(call Call) bool {
		return call.Out && call.Chat == chat && (call.Approval == id || call.Method == "sendChatAction") && !call.From.After(at)
	})
}

// approved finds what every voter did.
func (c *court) approved(a *Asked, said answer, at time.Time) {
	if said.By.Surface == "cli" {
		if !c.ordered(a.ID, "approved", at) {
			c.broken("approved by right", a.ID, "the operator approved nothing of the kind")
		}
		return
	}
	votes := []by{said.By}
	if a.Quorum > 1 {
		votes = said.Approvals
	}
	voters := map[int64]bool{}
	for i, vote := range votes {
		voters[vote.user()] = true
		// Only of the last vote it is known when it counted.
		last := time.Time{}
		if i == len(votes)-1 {
			last = at
		}
		if why := c.voted(a, vote, at, last); why != "" {
			c.broken("approved by right", a.ID, "by %+v: %s", vote, why)
		}
	}
	if len(voters) < max(a.Quorum, 1) {
		c.broken("approved by right", a.ID, "%d different owners approved, %d must", len(voters), a.Quorum)
	}
}

// voted says why a person's approval should not count, "" if it should. end is
// when the answer was made; counted when this vote counted, zero if unknown.
func (c *court) voted(a *Asked, vote by, end, counted time.Time) string {
	who := vote.user()
	switch {
	case vote.Surface != "telegram":
		return "by the surface " + vote.Surface
	case !slices.Contains(a.Owners, who):
		return "not one who may answer it"
	case vote.Method == "typed":
		return c.typed(a, who, end)
	case a.Halt:
		if c.tapped(a.ID, who, 'a', time.Time{}, end) == nil {
			return "no tap on the button of a card of this halt"
		}
		return ""
	}
	for _, yes := range c.taps[a.ID] {
		if yes.By == who && letter(yes.Data) == 'y' && !yes.At.After(end.Add(c.Slack)) && c.confirmed(a.ID, yes, counted) {
			return ""
		}
	}
	return "no tap on the action, and then on a Yes that was shown for the dwell and within the window"
}

// confirmed reports whether a Yes was one that could count.
func (c *court) confirmed(id string, yes Tap, counted time.Time) bool {
	shown, ok := c.shown[yes.Data]
	if !ok || shown.Approval != id || shown.From.After(yes.At) {
		return false
	}
	if c.tapped(id, yes.By, 'a', time.Time{}, shown.From) == nil && !c.wrote(id, yes.By, "approve", shown.From) {
		return false
	}
	if counted.IsZero() {
		return true
	}
	return !counted.Add(c.Slack).Before(shown.From.Add(c.Dwell)) && !counted.After(shown.From.Add(c.Window+c.Slack))
}

// tapped finds a person's tap on a button of an approval, between two moments.
func (c *court) tapped(id string, who int64, what byte, from, until time.Time) *Tap {
	for i, t := range c.taps[id] {
		if t.By == who && letter(t.Data) == what && !t.At.Before(from) && !t.At.After(until.Add(c.Slack)) {
			if shown, ok := c.shown[t.Data]; ok && shown.Approval == id && !shown.From.After(t.At) {
				return &c.taps[id][i]
			}
		}
	}
	return nil
}

// typed says why an approval by words should not count.
func (c *court) typed(a *Asked, who int64, end time.Time) string {
	if !c.wrote(a.ID, who, "approve", end) && c.tapped(a.ID, who, 'a', time.Time{}, end) == nil {
		return "no approve word and no tap on the action"
	}
	if !c.wrote(a.ID, who, "yes", end) {
		return "no yes"
	}
	return ""
}

// wrote reports whether somebody wrote a word about an approval, by a moment.
func (c *court) wrote(id string, who int64, word string, until time.Time) bool {
	return slices.ContainsFunc(c.words[id], func(w Word) bool {
		said, _, _ := strings.Cut(strings.TrimPrefix(strings.ToLower(w.Text), "/"), " ")
		said = strings.TrimRight(said, ".!")
		return w.By == who && said == word && !w.At.After(until.Add(c.Slack))
	})
}

// rejected reports whether the one who is said to have rejected did.
func (c *court) rejected(a *Asked, said answer, at time.Time) bool {
	switch said.By.Surface {
	case "cli":
		return c.ordered(a.ID, "rejected", at)
	case "telegram":
		who := said.By.user()
		if !slices.Contains(a.Owners, who) {
			return false
		}
		if said.By.Method == "typed" {
			return c.wrote(a.ID, who, "reject", at) || c.wrote(a.ID, who, "deny", at)
		}
		return c.tapped(a.ID, who, 'r', time.Time{}, at) != nil
	}
	return false
}

// ordered reports whether the operator answered so, by a moment.
func (c *court) ordered(id, decision string, until time.Time) bool {
	return slices.ContainsFunc(c.Operator, func(o Order) bool {
		return o.ID == id && o.Decision == decision && !o.At.After(until.Add(c.Slack))
	})
}
