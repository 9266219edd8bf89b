package verdict

import (
	"slices"
	"strings"
)

const undoRequested = "approval.undo_requested"

// claims: of all attempts to claim an approval one was granted, with its pin,
// after it was approved.
func (c *court) claims() {
	granted := map[string][]Claim{}
	unclear := map[string]bool{}
	for _, claim := range c.Claims {
		c.verdict.Figures.Claims[claim.Result]++
		switch claim.Result {
		case Granted:
			granted[claim.ID] = append(granted[claim.ID], claim)
		case Unclear:
			unclear[claim.ID] = true
		}
	}
	for id, list := range granted {
		if len(list) > 1 {
			c.broken("claimed once", id, "granted %d times: %+v", len(list), list)
		}
		claim, held := list[0], c.Held[id]
		if held["by"] != claim.By || held["pin"] != claim.Pin {
			c.broken("claimed once", id, "granted to %s, Redis has %v", claim.By, held)
		}
		if a := c.asked[id]; a != nil && claim.Pin != a.Pin {
			c.broken("claimed once", id, "granted with the pin %s", claim.Pin)
		}
		if said := c.answers[id]; said.Decision != "approved" {
			c.broken("claimed once", id, "granted, and it was %s", said.Decision)
		}
	}
	for id := range c.Held {
		if len(granted[id]) == 0 && !unclear[id] {
			c.broken("claimed once", id, "Redis has a claim that nobody made")
		}
		if state := c.Rows[id]["state"]; !follows(state, "approved") || state == "approved" {
			c.broken("claimed once", id, "it is claimed, and the row %s", state)
		}
	}
}

// reports: the row has the last report, and none that nobody made.
func (c *court) reports() {
	of := map[string][]Report{}
	for _, r := range c.Reports {
		of[r.ID] = append(of[r.ID], r)
		c.verdict.Figures.Reports++
	}
	for _, a := range c.Asked {
		row := c.Rows[a.ID]
		last := -1 // the last one that was surely taken
		stands := -1
		for i, r := range of[a.ID] {
			if r.Taken {
				last = i
			}
			if row["report"] != "" && strings.Contains(row["report"], r.Message) {
				stands = i
			}
		}
		switch {
		case row["report"] == "" && last >= 0:
			c.broken("reports", a.ID, "Redis took a report, and the row has none")
		case row["report"] != "" && stands < 0:
			c.broken("reports", a.ID, "the row has a report that nobody made: %s", row["report"])
		case stands >= 0 && stands < last:
			c.broken("reports", a.ID, "the row has the report %q, a later one was taken", of[a.ID][stands].Message)
		case stands >= 0 && row["state"] != of[a.ID][stands].Outcome:
			c.broken("reports", a.ID, "the row is %s, its report says %s", row["state"], of[a.ID][stands].Outcome)
		}
	}
}

// undos: an undo is asked for once, by an owner's tap on a button that was
// offered.
func (c *court) undos() {
	for _, a := range c.Asked {
		n := 0
		for _, e := range c.Own[a.ID] {
			if e.Type == undoRequested {
				n++
			}
		}
		c.verdict.Figures.Undone += n
		tapped := slices.ContainsFunc(a.Owners, func(who int64) bool { return c.tapped(a.ID, who, 'u', c.Began, c.Ended) != nil })
		switch {
		case n > 1:
			c.broken("undo once", a.ID, "it was asked for %d times", n)
		case n == 1 && (!a.Undo || !tapped):
			c.broken("undo once", a.ID, "it was asked for, and no owner tapped Undo")
		case n == 0 && c.Rows[a.ID]["undo"] != "":
			c.broken("undo once", a.ID, "the row has an undo that its stream has not")
		}
	}
}

// told: what a runtime read was final, and is what stands there now.
func (c *court) told() {
	for _, t := range c.Told {
		n := 0
		for _, e := range c.Own[t.ID] {
			if e.Type == answered && e.Data == t.Data && (t.Entry == "" || e.Entry == t.Entry) {
				n++
			}
		}
		if n != 1 {
			c.broken("told once", t.ID, "a runtime read the answer %s (%s), its stream has it %d times", t.Data, t.Entry, n)
		}
	}
}

// setAside: requests of other terms under a taken id are set aside, each once.
func (c *court) setAside() {
	differ := map[string]int{}
	for _, d := range c.Dead {
		c.verdict.Figures.Dead[d.Reason]++
		if d.Reason == "terms_differ" {
			differ[d.ID]++
		}
	}
	for _, a := range c.Asked {
		if differ[a.ID] < a.Others {
			c.broken("set aside", a.ID, "%d requests of other terms were taken, %d set aside", a.Others, differ[a.ID])
		}
	}
}

// rest: nothing is left to do, and nothing was said that must not be.
func (c *court) rest() {
	for _, left := range c.Left {
		c.broken("comes to rest", "-", "%s", left)
	}
	for _, line := range c.Said {
		c.broken("logs", "-", "%s", line)
	}
}
