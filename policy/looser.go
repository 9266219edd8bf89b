package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Policy is one of the operator's, as it is compared with an older one.
type Policy struct {
	Match  string // for which requests, in the operator's words; "" is every request
	Rules  Rules
	Hidden bool // what passes gets no card
}

// Looser says what a list of policies lets through that an older one did not, one
// sentence each, in the order of the new list; none if nothing does. Policies are
// compared by their match, so what is said may be too much, where matches overlap,
// but not too little.
func Looser(before, after []Policy) []string {
	var said []string
	old := make(map[string]Policy, len(before))
	for _, p := range before {
		if _, twice := old[p.Match]; !twice { // the first one counted
			old[p.Match] = p
		}
	}
	seen := make(map[string]bool, len(after))
	for _, p := range after {
		if seen[p.Match] {
			continue
		}
		seen[p.Match] = true
		was := old[p.Match]
		for _, what := range looser(was, p) {
			said = append(said, p.Title()+": "+what)
		}
	}
	return append(said, moved(before, after)...)
}

// Title says for which requests it is.
func (p Policy) Title() string {
	if p.Match == "" {
		return "every request"
	}
	return p.Match
}

// looser compares two policies of the same match.
func looser(was, is Policy) []string {
	var said []string
	list := func(what string, names []string) {
		if len(names) > 0 {
			said = append(said, what+" "+strings.Join(names, ", "))
		}
	}
	list("always pass now:", added(was.Rules.AutoApproveTools, is.Rules.AutoApproveTools, opening))
	list("need not be asked any more:", added(is.Rules.RequireApprovalTools, was.Rules.RequireApprovalTools, guarding))
	if from, to := was.Rules.ceiling(), is.Rules.ceiling(); to > from {
		said = append(said, fmt.Sprintf("the ceiling rose from %d (%s) to %d (%s)", from, ceilingWord(from), to, ceilingWord(to)))
	}
	list("facts withdrawn:", withdrawnFacts(was.Rules, is.Rules))
	list("mail passes now to:", added(reachable(was.Rules), reachable(is.Rules), func(s string) string { return s }))
	if is.Hidden && !was.Hidden && is.Rules.opens() {
		said = append(said, "what passes gets no card any more")
	}
	return said
}

// ceiling is the highest rank that passes.
func (p Rules) ceiling() int {
	if !p.Capped || p.MaxRank < 0 || p.MaxRank > 4 {
		return 0
	}
	return p.MaxRank
}

// opens reports whether anything can pass.
func (p Rules) opens() bool {
	return p.ceiling() > 0 || len(p.AutoApproveTools) > 0 || len(reachable(p)) > 0
}

// added lists what is in list now and was not before, in order, by a form of names.
func added(before, now []string, form func(string) string) []string {
	var more []string
	for _, n := range now {
		n = form(n)
		if !slices.Contains(more, n) && !slices.ContainsFunc(before, func(b string) bool { return form(b) == n }) {
			more = append(more, n)
		}
	}
	return more
}

// withdrawnFacts lists what the operator had said of tools and says no more.
func withdrawnFacts(was, is Rules) []string {
	var gone []string
	for _, tool := range slices.Sorted(maps.Keys(was.Tools)) {
		said := is.said(tool)
		for _, fact := range slices.Sorted(maps.Keys(was.Tools[tool])) {
			if was.Tools[tool][fact] && !said[fact] {
				gone = append(gone, guarding(tool)+" "+fact)
			}
		}
	}
	return gone
}

// reachable lists whom mail may go to unasked.
func reachable(p Rules) []string {
	return slices.Sorted(maps.Keys(permit(p.OperatorEmail, p.EmailAllowedRecipients)))
}

// moved says where requests may fall under another policy than before.
func moved(before, after []Policy) []string {
	at := make(map[string]int, len(after))
	for i := len(after) - 1; i >= 0; i-- {
		at[after[i].Match] = i
	}
	open := slices.ContainsFunc(after, func(p Policy) bool { return p.Rules.opens() })
	var said []string
	last := -1
	for _, p := range before {
		i, there := at[p.Match]
		switch {
		case !open:
		case !there:
			said = append(said, p.Title()+": this policy is gone, so that the others decide what fell under it")
		case i < last:
			said = append(said, p.Title()+": this policy is looked at earlier than before")
		default:
			last = i
		}
	}
	return said
}
