package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"countersign/approval"
	"countersign/cards"
	"countersign/config"
	"countersign/policy"
)

type policyCmd struct {
	Explain policyExplainCmd `cmd:"" help:"Say what the policies make of a request, step by step; publishes nothing."`
}

type policyExplainCmd struct {
	File string `short:"f" required:"" help:"The request's data, a JSON file; - for standard input." placeholder:"FILE"`
}

// Run explains a decision. Neither Redis nor the files of secrets are needed.
func (c *policyExplainCmd) Run(s *shell) error {
	cfg, err := s.parse()
	if err != nil {
		return err
	}
	data, err := s.readFile(c.File)
	if err != nil {
		return err
	}
	q, err := approval.Decode(data)
	if err != nil {
		var rule *approval.Invalid
		if errors.As(err, &rule) && rule.ID == "" {
			return fail(exitNotDone, "this would be set aside, without an answer: %w", err)
		}
		return fail(exitNotDone, "this would be refused: %w", err)
	}
	return explain(s.stdout, &cfg, &q)
}

// parse reads the configuration without the files of secrets.
func (s *shell) parse() (config.Config, error) {
	var data []byte
	if s.config != "" {
		var err error
		if data, err = s.readFile(s.config); err != nil {
			return config.Config{}, err
		}
	}
	cfg, err := config.Parse(s.config, data, s.environ)
	if err != nil {
		return cfg, &failure{code: exitUsage, err: err}
	}
	return cfg, nil
}

// explain prints which policy a request falls under, each step, and the decision.
func explain(w io.Writer, cfg *config.Config, q *approval.Request) error {
	d, p, name := decide(cfg, q)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cells ...string) {
		for i := range cells {
			cells[i] = cards.Neutral(cells[i])
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	line("request", q.ID)
	if name == "" {
		line("policy", "none fits")
	} else {
		line("policy", name+", for "+policy.Policy{Match: matched(p.Match)}.Title())
	}
	for i, v := range d.Calls {
		fmt.Fprintln(t)
		line(fmt.Sprintf("call %d", i+1), v.Tool)
		line("risk", risk(v.Risk))
		for _, step := range v.Steps {
			line("  "+step.Rule, cmp.Or(step.Says, "go on"), step.Note)
		}
	}
	fmt.Fprintln(t)
	line("decision", decided(d, p))
	return t.Flush()
}

// risk says what the facts of a call come to.
func risk(r policy.Risk) string {
	if !r.Vetted {
		return fmt.Sprintf("%s, rank %d: %s", r.Shown(), r.Tier.Rank(), r.Fault)
	}
	facts := "none of the declared facts holds"
	if len(r.True) > 0 {
		facts = strings.Join(r.True, ", ")
	}
	return fmt.Sprintf("%s, rank %d: %s", r.Shown(), r.Tier.Rank(), facts)
}

// decided is the decision in one line.
func decided(d policy.Decision, p config.Policy) string {
	if !d.Pass {
		return "ask (" + string(d.Reason) + ")"
	}
	card := "a finished card, without sound"
	if p.Notify == config.NotifyNone {
		card = "no card"
	}
	return fmt.Sprintf("pass (%s: %s), %s", d.Reason, d.Detail, card)
}
