package main

import (
	"crypto/rand"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/cards"
	"countersign/config"
	"countersign/queue"
	"countersign/store"
)

// The commands of the operator, and those for looking.

type pendingCmd struct {
	target
	JSON bool `help:"Print the list as JSON."`
}

// pendingLimit is how many open approvals are listed.
const pendingLimit = 10_000

// A pendingRow is one line of the list.
type pendingRow struct {
	ID        string    `json:"approval_id"`
	Ref       string    `json:"ref"`
	Title     string    `json:"title"`
	Runtime   string    `json:"runtime,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Run lists what is open.
func (c *pendingCmd) Run(s *shell) error {
	st, done, err := c.store(s)
	if err != nil {
		return err
	}
	defer done()
	ids, total, err := st.OpenIDs(s.ctx, pendingLimit)
	if err != nil {
		return &failure{code: exitUnavailable, err: err}
	}
	readings, err := st.Readings(s.ctx, ids)
	if err != nil {
		return &failure{code: exitUnavailable, err: err}
	}
	rows := []pendingRow{}
	for _, r := range readings {
		if r.Row == nil || r.Row.State != approval.Open {
			continue
		}
		rows = append(rows, pendingRow{
			ID: r.ID, Ref: r.Row.Ref, Title: r.Row.Title(), Runtime: runtimeOf(r.Row), ExpiresAt: r.Row.ExpiresAt,
		})
	}
	if c.JSON {
		return s.print(rows)
	}
	t := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(t, "#%s\t%s\t%s\tuntil %s\n", r.Ref, cards.Neutral(r.ID), cards.Neutral(r.Title), r.ExpiresAt.Format(time.RFC3339))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "%d open\n", total)
	return nil
}

// runtimeOf is who asks, "" where nobody can vouch for that.
func runtimeOf(row *approval.Row) string {
	if row.Request == nil || !row.Seal.Good() {
		return ""
	}
	return row.Request.Runtime
}

type showCmd struct {
	target
	ID   string `arg:"" help:"The approval's id."`
	JSON bool   `help:"Print the row as JSON."`
}

// Run shows one approval.
func (c *showCmd) Run(s *shell) error {
	return c.client(s, func(client *queue.Client) error {
		row, err := client.Row(s.ctx, c.ID)
		if err != nil {
			return settled(err)
		}
		if c.JSON {
			return s.print(row)
		}
		return s.describe(row)
	})
}

// describe prints a row for a person.
func (s *shell) describe(r queue.Row) error {
	t := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, cards.Neutral(value))
		}
	}
	line("approval", r.ID)
	line("state", string(r.State))
	line("reference", r.Ref)
	if q, err := approval.Decode(r.Request); err == nil {
		line("title", q.Card.Title)
		line("runtime", q.Runtime)
		for i, l := range q.Card.Lines {
			line(fmt.Sprintf("line %d", i+1), l)
		}
		for _, call := range q.Calls {
			line("call", call.Tool+" "+string(call.Arguments))
		}
	}
	line("stream", r.Stream)
	line("pin", r.Pin)
	line("opened", r.OpenedAt.Format(time.RFC3339))
	line("deadline", r.ExpiresAt.Format(time.RFC3339))
	if a, err := approval.DecodeAnswer(r.Answer); err == nil {
		line("answer", a.Observation)
		line("by", fmt.Sprintf("%s %s (%s)", a.By.Surface, a.By.ID, a.By.Name))
		line("reason", a.Reason)
	}
	line("report", string(r.Report))
	return t.Flush()
}

type answerCmd struct {
	ID       string `arg:"" help:"The approval's id."`
	Decision string `arg:"" enum:"approve,reject" help:"approve or reject."`
	Reason   string `help:"Why, for a rejection." placeholder:"TEXT"`
	JSON     bool   `help:"Print the answer as JSON."`
}

// Run answers an approval as the operator; under a quorum this answer is whole.
func (c *answerCmd) Run(s *shell) error {
	decision := approval.DecisionApproved
	if c.Decision == "reject" {
		decision = approval.DecisionRejected
	} else if c.Reason != "" {
		return fail(exitUsage, "--reason belongs to reject")
	}
	// The answer is written under the configuration's retention, so an address
	// alone does not do.
	st, done, err := target{configured: true}.store(s)
	if err != nil {
		return err
	}
	defer done()
	r, err := st.Read(s.ctx, c.ID)
	if err != nil {
		return &failure{code: exitUnavailable, err: err}
	}
	name := osUser()
	status, r, err := st.Decide(s.ctx, r, store.Attempt{
		Decision: decision, Guard: store.ByOperator, Reason: c.Reason,
		By: approval.By{Surface: approval.CLI, ID: name, Name: name},
	})
	if err != nil {
		return unreached(err)
	}
	if r == nil { // it is answered now
		if r, err = st.Read(s.ctx, c.ID); err != nil {
			return unreached(fmt.Errorf("it was answered, and cannot be read: %w", err))
		}
	}
	if status != store.Done {
		return fail(exitNotDone, "%s: %s", c.ID, refusal(status, r))
	}
	if c.JSON {
		data, err := r.Row.Answer.Encode()
		if err != nil {
			return err
		}
		fmt.Fprintf(s.stdout, "%s\n", data)
		return nil
	}
	fmt.Fprintf(s.stdout, "%s  #%s  %s  %s\n", r.ID, r.Row.Ref, r.Row.State, cards.Neutral(r.Row.Title()))
	return nil
}

// refusal says why an operator's answer did not count.
func refusal(status store.Status, r *store.Reading) string {
	switch status {
	case store.Unknown:
		return "no such approval"
	case store.NotOpen:
		return cards.Already(r.Row, r.Now, cards.Settings{})
	case store.Late:
		return cards.Late(r.Row, r.Now, cards.Settings{})
	case store.Meddled:
		return "it was refused: " + r.Row.Answer.Reason
	}
	return string(status)
}

// store opens the queue's memory.
func (t target) store(s *shell) (*store.Store, func(), error) {
	rdb, cfg, err := t.open(s)
	if err != nil {
		return nil, nil, err
	}
	st, err := newStore(rdb, cfg)
	if err != nil {
		_ = rdb.Close()
		return nil, nil, err
	}
	return st, func() { _ = rdb.Close() }, nil
}

func newStore(rdb redis.UniversalClient, cfg config.Config) (*store.Store, error) {
	keys, err := signingKeys(cfg)
	if err != nil {
		return nil, &failure{code: exitUsage, err: err}
	}
	return store.New(rdb, store.Options{
		Namespace: cfg.Redis.Namespace, Retention: cfg.Retention, Random: rand.Reader, Signing: keys,
		Owners: func() []int64 { return owners(&cfg) },
	})
}
