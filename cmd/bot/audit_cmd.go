package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"countersign/approval"
	"countersign/store"
)

type auditCmd struct {
	Verify auditVerifyCmd `cmd:"" help:"Go over the whole audit, and say what is wrong with it."`
	Export auditExportCmd `cmd:"" help:"Print the audit, one JSON object a line."`
}

// An anchor is SEQ:HASH, as the bot logs it.
type anchor approval.Anchor

// UnmarshalText reads an anchor.
func (a *anchor) UnmarshalText(text []byte) error {
	number, hash, _ := strings.Cut(string(text), ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil || seq < 0 || len(hash) != len(approval.ChainStart) {
		return fmt.Errorf("want SEQ:HASH as the bot logs it, e.g. 17:%s", approval.ChainStart)
	}
	*a = anchor{Seq: seq, Hash: strings.ToLower(hash)}
	return nil
}

type auditVerifyCmd struct {
	target
	Anchor []anchor `sep:"none" help:"A place of the chain that was seen before; may be given again." placeholder:"SEQ:HASH"`
	Key    []string `sep:"none" help:"Public keys that are trusted, PEM, beside those of the configuration; may be given again." placeholder:"PUB.pem"`
}

// faultsTold bounds how many faults are printed.
const faultsTold = 20

// Run goes over the chain. Where Redis trims it meanwhile it begins again.
func (c *auditVerifyCmd) Run(s *shell) error {
	rdb, cfg, err := c.open(s)
	if err != nil {
		return err
	}
	defer func() { _ = rdb.Close() }()
	st, err := newStore(rdb, cfg)
	if err != nil {
		return err
	}
	trusted, err := s.publicKeys(c.Key)
	if err != nil {
		return err
	}
	if trusted == nil {
		if trusted, err = signingKeys(cfg); err != nil {
			return &failure{code: exitUsage, err: err}
		}
	}
	for {
		before, err := st.AuditHead(s.ctx)
		if err != nil {
			return unreached(err)
		}
		check := approval.ChainCheck{Base: before.Base, Keys: trusted, SignedFrom: before.SignedFrom}
		for _, a := range c.Anchor {
			check.Anchors = append(check.Anchors, approval.Anchor(a))
		}
		if c.Redis == "" { // else it is not known how long the audit is kept
			now, err := st.Now(s.ctx)
			if err != nil {
				return unreached(err)
			}
			check.Oldest = now.Add(-cfg.Retention + time.Minute)
		}
		if err := st.AuditEntries(s.ctx, func(e approval.Entry) error { check.Take(e); return nil }); err != nil {
			return unreached(err)
		}
		after, err := st.AuditHead(s.ctx)
		if err != nil {
			return unreached(err)
		}
		if before.Base != after.Base {
			continue
		}
		return c.tell(s, &check, before, after)
	}
}

func (c *auditVerifyCmd) tell(s *shell, check *approval.ChainCheck, before, after store.AuditHead) error {
	faults := check.Done(before.End, after.End)
	for i, f := range faults {
		switch {
		case i == faultsTold:
			fmt.Fprintf(s.stdout, "and %d faults more\n", len(faults)-faultsTold)
		case i > faultsTold:
		case f.Seq == 0:
			fmt.Fprintf(s.stdout, "FAULT: %s\n", f.What)
		default:
			fmt.Fprintf(s.stdout, "FAULT: entry %d %s\n", f.Seq, f.What)
		}
	}
	fmt.Fprintf(s.stdout, "%d entries, %d with a good signature; the chain ends at %d:%s\n", check.Entries, check.Signed, after.End.Seq, after.End.Prev())
	if check.Base.Seq > 0 {
		fmt.Fprintf(s.stdout, "entries up to %d were trimmed by their retention\n", check.Base.Seq)
	}
	if after.Unchained > 0 {
		fmt.Fprintf(s.stdout, "%d transitions are not chained yet\n", after.Unchained)
	}
	for _, a := range check.Anchors {
		if check.Trimmed(a) {
			fmt.Fprintf(s.stdout, "the anchor %d says nothing: its entry was trimmed\n", a.Seq)
		}
	}
	if len(faults) > 0 {
		return fail(exitNotDone, "the audit is not as the bot wrote it: %d faults", len(faults))
	}
	return nil
}

type auditExportCmd struct{ target }

// An exported entry is one line of the export.
type exported struct {
	Seq  json.Number     `json:"seq"`
	Prev string          `json:"prev"`
	Hash string          `json:"hash"`
	Sig  string          `json:"sig,omitempty"`
	Data json.RawMessage `json:"data"`
}

// Run prints the chain.
func (c *auditExportCmd) Run(s *shell) error {
	st, done, err := c.store(s)
	if err != nil {
		return err
	}
	defer done()
	err = st.AuditEntries(s.ctx, func(e approval.Entry) error {
		line := exported{Seq: json.Number(e.Seq), Prev: e.Prev, Hash: e.Hash, Sig: e.Sig, Data: json.RawMessage(e.Data)}
		if err := s.print(line); err != nil {
			return fail(exitNotDone, "entry %q cannot be exported: %w", e.Seq, err)
		}
		return nil
	})
	if _, ours := errors.AsType[*failure](err); err != nil && !ours {
		return unreached(err)
	}
	return err
}
