package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"countersign/approval"
	"countersign/queue"
)

// The people and chats of a run.
const (
	annID  = 1001 // owners
	olgaID = 1003
	doraID = 1005 // blocks the bot now and then
	benID  = 1002 // a reader
	samID  = 1004 // strangers
	malID  = 1006

	teams     = 4 // groups
	teamFirst = -1002000000001
	pairID    = -1002000000099 // needs two owners
)

// A route is where approvals of a runtime are asked, and who answers.
type route struct {
	runtime string
	chats   []int64
	owners  []int64
	quorum  int
}

func routes() []route {
	both := []int64{annID, olgaID, doraID}
	all := []route{
		{"ann", []int64{annID}, both, 1},
		{"olga", []int64{olgaID}, both, 1},
		{"dora", []int64{doraID}, both, 1},
		{"both", []int64{annID, teamFirst}, both, 1},
		{"pair", []int64{pairID}, []int64{annID, olgaID}, 2},
	}
	for i := range teams {
		all = append(all, route{fmt.Sprintf("team%d", i), []int64{teamFirst - int64(i)}, both, 1})
	}
	return all
}

// A fate is what is planned for an approval.
type fate string

const (
	byButtons    fate = "approved by buttons"
	byCommand    fate = "approved by /approve and yes"
	byReply      fate = "approved by replies"
	hesitant     fate = "approved after a cancel"
	mixed        fate = "approved by a word and a button"
	noButton     fate = "rejected by a button"
	noWord       fate = "rejected by a word"
	duel         fate = "Yes against Reject"
	unanswered   fate = "left to lapse"
	strange      fate = "tapped by strangers alone"
	takenBack    fate = "withdrawn"
	takenFirst   fate = "withdrawn before it was asked"
	malformed    fate = "malformed"
	operatorYes  fate = "approved at the command line"
	operatorNo   fate = "rejected at the command line"
	lastMoment   fate = "Yes at the deadline"
	withdrawRace fate = "Yes against a withdrawal"
)

// A share is how often a fate is drawn, among the others.
type share struct {
	fate fate
	n    int
}

func shares() []share {
	return []share{
		{byButtons, 30},
		{byCommand, 6},
		{byReply, 6},
		{hesitant, 5},
		{mixed, 4},
		{noButton, 8},
		{noWord, 5},
		{duel, 6},
		{unanswered, 10},
		{strange, 4},
		{takenBack, 5},
		{takenFirst, 2},
		{malformed, 2},
		{operatorYes, 1},
		{operatorNo, 1},
		{lastMoment, 3},
		{withdrawRace, 3},
	}
}

// A plan is one approval's life as it is meant to be. What it becomes is decided
// by what is faster.
type plan struct {
	id      string
	at      time.Duration // from the start
	seed    uint64        // of whatever is drawn while it runs
	route   route
	fate    fate
	who     int64 // the owner that acts
	halt    bool
	undo    bool // it can be undone, and is
	twice   bool // it is asked twice, with the same terms
	other   bool // somebody asks something else under its id
	curious bool // somebody turns pages, looks at the call, has it shown again
	spied   bool // strangers and readers tap along
	rivals  int  // programs that claim it
	reports []approval.State
	expires time.Duration
	ask     queue.Ask
}

// plans draws n approvals over a time. The same seed draws the same.
func plans(seed uint64, n int, over time.Duration) []plan {
	rng := rand.New(rand.NewPCG(seed, 1))
	list := make([]plan, n)
	for i := range list {
		list[i] = draw(rng, i, asking(over)*time.Duration(i)/time.Duration(n))
	}
	return list
}

func draw(rng *rand.Rand, i int, at time.Duration) plan {
	all := routes()
	p := plan{id: fmt.Sprintf("c%05d", i), at: at, seed: rng.Uint64(), route: all[rng.IntN(len(all))], expires: 30 * time.Minute}
	total := 0
	for _, s := range shares() {
		total += s.n
	}
	left := rng.IntN(total)
	for _, s := range shares() {
		if left -= s.n; left < 0 {
			p.fate = s.fate
			break
		}
	}
	p.who = p.route.owners[rng.IntN(len(p.route.owners))]
	if direct := p.route.chats[0]; direct > 0 {
		p.who = direct // whose chat it is
	}
	switch p.fate {
	case unanswered, strange:
		p.expires = time.Duration(6+rng.IntN(15)) * time.Second
	case lastMoment:
		p.expires = time.Duration(8+rng.IntN(8)) * time.Second
	case byButtons, noButton, noWord:
		p.halt = rng.IntN(6) == 0
	}
	p.undo = !p.halt && rng.IntN(4) == 0
	// Whatever comes under a refused id is no news: it is not set aside.
	p.twice, p.other = rng.IntN(8) == 0, rng.IntN(20) == 0 && p.fate != malformed
	p.curious, p.spied = rng.IntN(8) == 0, p.fate == strange || rng.IntN(6) == 0
	p.rivals = 1 + rng.IntN(2)
	outcomes := []approval.State{approval.Executed, approval.Executed, approval.Failed, approval.Partial}
	p.reports = []approval.State{outcomes[rng.IntN(len(outcomes))]}
	if p.undo {
		p.reports = []approval.State{approval.Executed}
	} else if rng.IntN(5) == 0 {
		p.reports = append(p.reports, outcomes[rng.IntN(len(outcomes))])
	}
	p.ask = request(rng, &p)
	return p
}

func request(rng *rand.Rand, p *plan) queue.Ask {
	a := queue.Ask{
		ID: p.id, Runtime: p.route.runtime, RunID: fmt.Sprintf("run-%d", rng.IntN(1000)), ExpiresIn: p.expires.Seconds(),
		Card: queue.AskCard{Title: "Trash the mail of " + p.id, Action: "Trash " + p.id},
	}
	if p.halt {
		a.Kind, a.Card.Action, a.Card.Summary = approval.Halt, "", "It tried the same thing twelve times."
		return a
	}
	a.Tool = "trash_email"
	a.Arguments = json.RawMessage(fmt.Sprintf(`{"ids":["m%d","m%d"],"of":%q}`, rng.IntN(1e6), rng.IntN(1e6), p.id))
	a.Context = json.RawMessage(fmt.Sprintf(`{"step":%d}`, rng.IntN(100)))
	if rng.IntN(3) == 0 {
		a.Effect = approval.Write
	}
	lines := 1 + rng.IntN(4)
	if rng.IntN(25) == 0 {
		lines = 120 // several pages
	}
	for i := range lines {
		a.Card.Lines = append(a.Card.Lines, fmt.Sprintf("Mail %d of %d, with a subject of some length", i+1, lines))
	}
	if p.undo {
		a.Card.UndoTool, a.Card.UndoDays = "restore_email", 30
	}
	return a
}
