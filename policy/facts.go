package policy

import (
	"encoding/json"
	"slices"
)

// A Tier is a risk word. Its rank serves comparing only.
type Tier string

// The tiers, from the least.
const (
	Observe  Tier = "observe"
	Act      Tier = "act"
	Outreach Tier = "outreach"
	Destroy  Tier = "destroy"
)

// Unvetted is shown in place of [Destroy] where no facts were declared, or not in
// a form that can be believed.
const Unvetted = "unvetted"

// Rank is 1 for observe to 4 for destroy, and 4 for anything unknown.
func (t Tier) Rank() int {
	switch t {
	case Observe:
		return 1
	case Act:
		return 2
	case Outreach:
		return 3
	}
	return 4
}

// ceilingWord is a ceiling as a word.
func ceilingWord(rank int) string {
	for _, t := range []Tier{Observe, Act, Outreach, Destroy} {
		if t.Rank() == rank {
			return string(t)
		}
	}
	return "nothing"
}

// anywhere is the fact that the model chooses where a call's output goes.
const anywhere = "model_controlled_destination"

// A fact is one thing that can be said of a tool. Its tier is "" where it moves
// none.
type fact struct {
	name string
	tier Tier
}

// facts lists every fact, in the order of their weight.
var facts = []fact{
	{"destructive_capable", Destroy},
	{"comms_send", Outreach},
	{"captures_environment", Outreach},
	{"standing_effect", Outreach},
	{"mutating", Act},
	{"remote_write_capable", Act},
	{anywhere, ""},
	{"model_cost", ""},
}

// A Risk is what facts say of one call.
type Risk struct {
	Tier   Tier
	Vetted bool
	// Anywhere: the model chooses where the output goes, or that is not known to
	// be false.
	Anywhere bool
	True     []string // the facts that hold, in the order of their weight
	Fault    string   // why it is unvetted, for the operator; "" if it is vetted
}

// Shown is the word on cards and in metrics: the tier, or unvetted.
func (r Risk) Shown() string {
	if !r.Vetted {
		return Unvetted
	}
	return string(r.Tier)
}

// RiskOf derives the risk of a call from the event's facts, as sent, and from
// those that the operator declares for the tool.
func RiskOf(event json.RawMessage, operator map[string]bool) Risk {
	said, fault := readFacts(event)
	risk := Risk{Tier: Observe, Vetted: fault == "", Fault: fault}
	for _, f := range facts {
		holds := said[f.name] || operator[f.name]
		if !holds {
			continue
		}
		risk.True = append(risk.True, f.name)
		if f.tier != "" && f.tier.Rank() > risk.Tier.Rank() {
			risk.Tier = f.tier
		}
		if f.name == anywhere {
			risk.Anywhere = true
		}
	}
	if !risk.Vetted {
		risk.Tier = Destroy
	}
	return risk
}

// readFacts reads the facts of an event, and why they vet nothing, "" if they do.
// A fact whose value is not a boolean counts as true.
func readFacts(event json.RawMessage) (said map[string]bool, fault string) {
	if len(event) == 0 {
		return nil, "no facts are declared"
	}
	object, ok := readObject(event)
	if !ok {
		return nil, "the facts are not an object"
	}
	said = make(map[string]bool, len(object))
	declared := false
	for _, m := range object {
		i := slices.IndexFunc(facts, func(f fact) bool { return f.name == m.name })
		if i < 0 {
			fault = "a fact is not known"
			continue
		}
		value := string(m.value)
		said[m.name] = value != "false"
		if value != "true" && value != "false" {
			fault = "the fact " + m.name + " is not a boolean"
			continue
		}
		declared = declared || facts[i].tier != ""
	}
	if fault == "" && !declared {
		fault = "no fact that decides a tier is declared"
	}
	return said, fault
}
