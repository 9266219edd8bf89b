package policy

import (
	"fmt"
	"slices"
	"strings"

	"countersign/approval"
)

// Rules are one policy of the operator.
type Rules struct {
	RequireApprovalTools   []string
	AutoApproveTools       []string
	MaxRank                int                        // the ceiling, 1 to 4; 0 passes nothing
	Capped                 bool                       // there is a ceiling
	Tools                  map[string]map[string]bool // what the operator says of tools, by name
	OperatorEmail          string
	EmailAllowedRecipients []string
}

// A Decision is what becomes of a request.
type Decision struct {
	Pass   bool
	Reason Reason
	Detail string // the reason in a few plain words, of a pass alone
	// Tier is that of the riskiest call, "" of a halt, and Shown its word for
	// cards and metrics.
	Tier  Tier
	Shown string
	Calls []Verdict // in order; none of a halt
}

// A Verdict is what becomes of one call, and why.
type Verdict struct {
	Tool   string // as sent
	Risk   Risk
	Pass   bool
	Reason Reason
	Steps  []Step // those taken; the last one settled it
}

// A Step is one rule that was looked at.
type Step struct {
	Rule string // in the order of the package comment
	Says string // "", or "pass" or "ask" where it settled the call
	Note string // what was found, in plain words; a runtime's text in it is quoted
}

// Decide decides on a request by the operator's rules, nil where no policy fits.
// It changes neither, and may be called at any time from anywhere.
func Decide(q *approval.Request, p *Rules) Decision {
	if q.Kind == approval.Halt || len(q.Calls) == 0 {
		return Decision{Reason: IsHalt}
	}
	r := ruling{q: q, p: p}
	if p == nil {
		r.p = &Rules{}
	}
	r.none = p == nil
	d := Decision{Pass: true}
	r.prove()
	for i := range q.Calls {
		d.Calls = append(d.Calls, r.call(i))
	}
	d.settle(r.p)
	return d
}

// settle draws one decision from those of the calls.
func (d *Decision) settle(p *Rules) {
	top := 0
	for i, v := range d.Calls {
		if !v.Pass && d.Pass {
			d.Pass, d.Reason = false, v.Reason
		}
		if v.riskier(d.Calls[top]) {
			top = i
		}
	}
	risk := d.Calls[top].Risk
	d.Tier, d.Shown = risk.Tier, risk.Shown()
	if d.Pass {
		d.Reason = d.Calls[top].Reason
		d.Detail = d.Calls[top].detail(p)
		return
	}
	for i := range d.Calls {
		if v := &d.Calls[i]; v.Pass {
			v.Pass, v.Reason = false, BatchSibling
			v.Steps = append(v.Steps, Step{"several calls", "ask", "it would pass, but another call asks, and all are answered as one"})
		}
	}
}

// riskier orders calls; of two alike, unvetted comes first.
func (v Verdict) riskier(than Verdict) bool {
	if a, b := v.Risk.Tier.Rank(), than.Risk.Tier.Rank(); a != b {
		return a > b
	}
	return !v.Risk.Vetted && than.Risk.Vetted
}

// detail says why a call passes.
func (v Verdict) detail(p *Rules) string {
	switch v.Reason {
	case AutoNamed:
		return opening(v.Tool) + " is named"
	case RefinerSelf:
		return "mail to the operator's own address alone"
	case RefinerAllowed:
		return "mail to allowed addresses alone"
	}
	return fmt.Sprintf("%s ≤ %s", v.Risk.Shown(), ceilingWord(p.MaxRank))
}

// A ruling is the work on one request.
type ruling struct {
	q      *approval.Request
	p      *Rules
	none   bool // no policy fits
	proofs []proof
}

// A proof is what the refiner says of one call: proven, or why not. Both are empty
// where there is none.
type proof struct {
	reason Reason
	proven bool
}

// prove asks the refiner about every call. A name is proved only as a whole.
func (r *ruling) prove() {
	r.proofs = make([]proof, len(r.q.Calls))
	if r.q.Risk.Refiner == "" {
		return
	}
	unproven := map[string]bool{}
	for i, c := range r.q.Calls {
		r.proofs[i].reason, r.proofs[i].proven = refine(r.q.Risk.Refiner, c.Tool, c.Arguments, r.p)
		if !r.proofs[i].proven {
			unproven[guarding(c.Tool)] = true
		}
	}
	for i, c := range r.q.Calls {
		if r.proofs[i].proven && unproven[guarding(c.Tool)] {
			r.proofs[i] = proof{reason: BatchSibling}
		}
	}
}

// call goes through the rules for one call, up to the one that settles it.
func (r *ruling) call(i int) Verdict {
	c := r.q.Calls[i]
	v := Verdict{Tool: c.Tool, Risk: RiskOf(r.q.Risk.Facts, r.p.said(c.Tool))}
	for _, rule := range []func(*Verdict, proof) bool{
		r.name, r.effect, r.require, r.auto, r.pinned, r.refiner, r.destination, r.ceiling,
	} {
		if rule(&v, r.proofs[i]) {
			return v
		}
	}
	return v // not reached: the ceiling settles whatever is left
}

// said unites what the operator says of a tool, under every spelling of its name.
func (p *Rules) said(tool string) map[string]bool {
	said := map[string]bool{}
	for name, facts := range p.Tools {
		if guarding(name) != guarding(tool) {
			continue
		}
		for fact, holds := range facts {
			said[fact] = said[fact] || holds
		}
	}
	return said
}

// opening is a name that may let a call pass, guarding one that may hold it back.
func opening(name string) string { return strings.Trim(name, " ") }

func guarding(name string) string { return strings.TrimSpace(name) }

func (v *Verdict) ask(rule string, reason Reason, note string) bool {
	v.Reason = reason
	v.Steps = append(v.Steps, Step{rule, "ask", note})
	return true
}

func (v *Verdict) pass(rule string, reason Reason, note string) bool {
	v.Pass, v.Reason = true, reason
	v.Steps = append(v.Steps, Step{rule, "pass", note})
	return true
}

func (v *Verdict) on(rule, note string) bool {
	v.Steps = append(v.Steps, Step{rule, "", note})
	return false
}

func (r *ruling) name(v *Verdict, _ proof) bool {
	if guarding(v.Tool) == "" {
		return v.ask("name", EmptyName, "the tool has no name")
	}
	return v.on("name", "a call of a tool that has a name")
}

func (r *ruling) effect(v *Verdict, _ proof) bool {
	switch {
	case r.q.Effect != approval.Write:
		return v.ask("effect", EffectDestructive, "destructive always asks")
	case r.none:
		return v.ask("policy", NoPolicy, "no policy fits")
	}
	return v.on("effect", "write")
}

func (r *ruling) require(v *Verdict, _ proof) bool {
	const rule = "require_approval_tools"
	if slices.ContainsFunc(r.p.RequireApprovalTools, func(n string) bool { return guarding(n) == guarding(v.Tool) }) {
		return v.ask(rule, RequireNamed, "named")
	}
	return v.on(rule, "not named")
}

func (r *ruling) auto(v *Verdict, _ proof) bool {
	const rule = "auto_approve_tools"
	if slices.ContainsFunc(r.p.AutoApproveTools, func(n string) bool { return opening(n) == opening(v.Tool) }) {
		return v.pass(rule, AutoNamed, "named")
	}
	return v.on(rule, "not named")
}

func (r *ruling) pinned(v *Verdict, _ proof) bool {
	if r.q.Pinned {
		return v.ask("approval", Pinned, "pinned: only its name in auto_approve_tools would pass it")
	}
	return v.on("approval", "not pinned")
}

func (r *ruling) refiner(v *Verdict, p proof) bool {
	const rule = "refiner"
	switch {
	case r.q.Risk.Refiner == "":
		return v.on(rule, "none")
	case !v.Risk.Vetted:
		return v.on(rule, "not asked: the call is unvetted")
	case p.proven:
		return v.pass(rule, p.reason, "proved: "+string(p.reason))
	}
	return v.on(rule, "proves nothing: "+string(p.reason))
}

func (r *ruling) destination(v *Verdict, p proof) bool {
	if !v.Risk.Anywhere {
		return v.on(anywhere, "false or not declared")
	}
	reason := MCDNeverSilenced
	switch {
	case !v.Risk.Vetted && !r.within(v):
		reason = IsUnvetted
	case v.Risk.Vetted && p.reason != "":
		reason = p.reason
	}
	return v.ask(anywhere, reason, "true: no ceiling passes it")
}

func (r *ruling) within(v *Verdict) bool {
	return r.p.Capped && r.p.MaxRank >= 0 && r.p.MaxRank <= 4 && v.Risk.Tier.Rank() <= r.p.MaxRank
}

func (r *ruling) ceiling(v *Verdict, p proof) bool {
	const rule = "auto_approve_max_risk_rank"
	note := fmt.Sprintf("%s is rank %d, the ceiling is %d (%s)", v.Risk.Shown(), v.Risk.Tier.Rank(), r.p.MaxRank, ceilingWord(r.p.MaxRank))
	if !r.p.Capped {
		note = "no ceiling is set"
	}
	switch {
	case r.within(v):
		return v.pass(rule, Ceiling, note)
	case !v.Risk.Vetted:
		return v.ask(rule, IsUnvetted, note)
	case r.p.Capped:
		return v.ask(rule, AboveCeiling, note)
	case p.reason != "":
		return v.ask(rule, p.reason, note)
	}
	return v.ask(rule, NotListed, note)
}
