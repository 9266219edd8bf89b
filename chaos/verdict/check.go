package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Verdict is what became of a run.
type Verdict struct {
	Violations []Violation
	Figures    Figures
}

// Figures are what a run came to.
type Figures struct {
	Approvals map[string]int // by decision
	States    map[string]int
	Taps      int
	TapsBy    map[string]int // by what became of them
	Sends     map[string]int // by kind
	Extra     map[string]int // messages beside the one, by kind
	Repeats   int            // sends that may have been done twice: interrupted ones
	Claims    map[string]int
	Reports   int
	Undone    int // undos asked for
	Dead      map[string]int
}

// court is one judging.
type court struct {
	*Evidence
	asked   map[string]*Asked
	answers map[string]answer // by approval, as the row has it
	taps    map[string][]Tap  // by approval
	words   map[string][]Word
	calls   map[string][]Call // sends and edits, by approval
	cards   map[string]string // approval by card id
	shown   map[string]Call   // the first applied call that carried a button
	verdict Verdict
}

// answer is what the checks read of an answer's data.
type answer struct {
	ID        string `json:"approval_id"`
	Decision  string
	Approved  bool
	Terms     string
	Pin       string
	Reason    string
	By        by
	Approvals []by
	At        time.Time
}

type by struct {
	Surface string
	ID      string
	Name    string
	Chat    int64 `json:"chat_id"`
	Message int64 `json:"message_id"`
	Method  string
}

func (b by) user() int64 {
	n, _ := strconv.ParseInt(b.ID, 10, 64)
	return n
}

// Check judges a run.
func Check(e *Evidence) Verdict {
	c := newCourt(e)
	c.oneAnswer()
	c.terms()
	c.rights()
	c.knownCards()
	c.outcomesShown()
	c.extras()
	c.lapsesTold()
	c.claims()
	c.reports()
	c.undos()
	c.told()
	c.tapsAnswered()
	c.setAside()
	c.rest()
	slices.SortStableFunc(c.verdict.Violations, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Promise, b.Promise), strings.Compare(a.ID, b.ID))
	})
	return c.verdict
}

func newCourt(e *Evidence) *court {
	c := &court{
		Evidence: e, asked: map[string]*Asked{}, answers: map[string]answer{}, taps: map[string][]Tap{},
		words: map[string][]Word{}, calls: map[string][]Call{}, cards: map[string]string{}, shown: map[string]Call{},
		verdict: Verdict{Figures: Figures{
			Approvals: map[string]int{}, States: map[string]int{}, TapsBy: map[string]int{}, Sends: map[string]int{},
			Extra: map[string]int{}, Claims: map[string]int{}, Dead: map[string]int{},
		}},
	}
	for i := range e.Asked {
		c.asked[e.Asked[i].ID] = &e.Asked[i]
	}
	for _, call := range e.Calls {
		if call.Approval == "" {
			continue
		}
		c.calls[call.Approval] = append(c.calls[call.Approval], call)
		for _, b := range call.Buttons {
			if id := cardOf(b); id != "" {
				c.cards[id] = call.Approval
			}
			if first, ok := c.shown[b]; call.Applied && (!ok || call.From.Before(first.From)) {
				c.shown[b] = call
			}
		}
	}
	for _, t := range e.Taps {
		if id := c.cards[cardOf(t.Data)]; id != "" {
			c.taps[id] = append(c.taps[id], t)
		}
	}
	for _, w := range e.Words {
		c.words[w.Approval] = append(c.words[w.Approval], w)
	}
	return c
}

// broken records a violation.
func (c *court) broken(promise, id, format string, args ...any) {
	c.verdict.Violations = append(c.verdict.Violations, Violation{promise, id, fmt.Sprintf(format, args...)})
}

// cardOf is the card's id in callback data, "" where there is none.
func cardOf(data string) string {
	head, _, ok := strings.Cut(data, ".")
	if !ok || len(head) < 2 {
		return ""
	}
	return head[1:]
}

// letter is what a button asks for, 0 for nothing of ours.
func letter(data string) byte {
	if cardOf(data) == "" {
		return 0
	}
	return data[0]
}

func millis(s string) time.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n)
}
