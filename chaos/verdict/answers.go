package verdict

import (
	"encoding/json"
	"maps"
	"slices"
)

const answered = "approval.answered"

// oneAnswer: every request that Redis took has one answer, in the row, on the
// stream of all answers and on its own, byte for byte the same.
func (c *court) oneAnswer() {
	common := map[string][]Event{}
	for _, e := range c.Answers {
		common[e.Subject] = append(common[e.Subject], e)
	}
	for _, a := range c.Asked {
		row := c.Rows[a.ID]
		if row == nil {
			if a.Published > 0 {
				c.broken("lost", a.ID, "Redis took the request, and there is no row")
			}
			if len(common[a.ID]) > 0 {
				c.broken("one answer", a.ID, "there is an answer and no row")
			}
			continue
		}
		c.verdict.Figures.States[row["state"]]++
		if a.Published+a.Unclear == 0 {
			c.broken("one answer", a.ID, "there is a row, and nobody asked")
		}
		c.answerOf(a.ID, row, common[a.ID])
	}
	for _, id := range slices.Sorted(maps.Keys(c.Rows)) {
		if c.asked[id] == nil {
			c.broken("one answer", id, "there is a row, and nobody asked")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(common)) {
		if c.asked[id] == nil {
			c.broken("one answer", id, "there is an answer, and nobody asked")
		}
	}
}

func (c *court) answerOf(id string, row map[string]string, common []Event) {
	data := row["answer"]
	if row["state"] == "open" || data == "" {
		c.broken("lost", id, "the row is %s and has no answer", row["state"])
	}
	for name, events := range map[string][]Event{"the stream of all answers": common, "its own stream": c.Own[id]} {
		n := 0
		for _, e := range events {
			if e.Type != answered {
				continue
			}
			n++
			if e.Data != data {
				c.broken("one answer", id, "%s says %s, the row %s", name, e.Data, data)
			}
		}
		if n != 1 {
			c.broken("one answer", id, "%s has %d answers", name, n)
		}
	}
	if data == "" {
		return
	}
	var a answer
	if err := json.Unmarshal([]byte(data), &a); err != nil {
		c.broken("one answer", id, "the answer cannot be read: %v", err)
		return
	}
	c.answers[id] = a
	c.verdict.Figures.Approvals[a.Decision]++
	if a.ID != id {
		c.broken("one answer", id, "the answer is to %s", a.ID)
	}
	if a.Approved != (a.Decision == "approved") {
		c.broken("one answer", id, "approved is %v and the decision %s", a.Approved, a.Decision)
	}
	if !follows(row["state"], a.Decision) {
		c.broken("one answer", id, "the answer is %s and the row %s", a.Decision, row["state"])
	}
}

// follows reports whether a row of that state can have had that answer.
func follows(state, decision string) bool {
	if decision != "approved" {
		return state == decision
	}
	return slices.Contains([]string{"approved", "claimed", "executed", "failed", "partial", "undone"}, state)
}

// terms: what was asked is what stands in the row and in the answer.
func (c *court) terms() {
	for _, a := range c.Asked {
		row := c.Rows[a.ID]
		if row == nil {
			continue
		}
		if row["terms"] != a.Terms {
			c.broken("terms", a.ID, "the row has the terms %s, the request %s", row["terms"], a.Terms)
		}
		if !a.Malformed && row["request"] != a.Data {
			c.broken("terms", a.ID, "the row has the request %s, asked was %s", row["request"], a.Data)
		}
		if !a.Malformed && row["pin"] != a.Pin {
			c.broken("terms", a.ID, "the row has the pin %s, the request %s", row["pin"], a.Pin)
		}
		if said, ok := c.answers[a.ID]; ok && !a.Malformed && (said.Terms != a.Terms || said.Pin != a.Pin) {
			c.broken("terms", a.ID, "the answer is to terms %s and pin %s", said.Terms, said.Pin)
		}
	}
}
