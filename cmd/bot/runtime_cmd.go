package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/config"
	"countersign/queue"
)

// The commands of a runtime: the same verbs as package queue, from a terminal.

type requestCmd struct {
	target
	File    string `short:"f" required:"" help:"The request, JSON; - for standard input." placeholder:"FILE"`
	Wait    bool   `help:"Wait for the answer and print it."`
	NoCheck bool   `help:"Publish whatever it is, whether or not a bot is there."`
	Stream  string `help:"The inbound stream; else the first that takes the runtime." placeholder:"KEY"`

	Key []string `sep:"none" help:"Public keys of which one must have signed the answer, PEM; else those of the configuration." placeholder:"PUB.pem"`
}

// Run publishes a request.
func (c *requestCmd) Run(s *shell) error {
	data, err := s.readFile(c.File)
	if err != nil {
		return err
	}
	rdb, cfg, err := c.open(s)
	if err != nil {
		return err
	}
	defer func() { _ = rdb.Close() }()
	keys, err := s.publicKeys(c.Key)
	if err == nil && keys == nil {
		keys, err = signingKeys(cfg)
	}
	if err != nil {
		return err
	}
	client := queue.NewClient(rdb, cfg.Redis.Namespace, queue.WithKeys(keys))
	pending, err := client.Request(s.ctx, queue.Request{Data: data, Stream: c.stream(cfg, data), NoCheck: c.NoCheck})
	if err != nil {
		return coded(err)
	}
	if !c.Wait {
		return s.print(pending)
	}
	answer, err := client.Await(s.ctx, pending)
	if err != nil {
		return coded(err)
	}
	fmt.Fprintf(s.stdout, "%s\n", answer.Data)
	switch answer.Decision {
	case approval.DecisionApproved:
		return nil
	case approval.DecisionRejected:
		return &failure{code: exitNotDone, err: errors.New(answer.Observation)}
	case approval.DecisionLapsed:
		return &failure{code: exitLapsed, err: errors.New(answer.Observation)}
	case approval.DecisionWithdrawn:
		return &failure{code: exitWithdrawn, err: errors.New(answer.Observation)}
	}
	return &failure{code: exitRefused, err: errors.New(answer.Observation)}
}

// stream is where a request goes: the first stream of the configuration that
// takes its runtime, else the namespace's own.
func (c *requestCmd) stream(cfg config.Config, data []byte) string {
	if c.Stream != "" || c.Redis != "" {
		return c.Stream
	}
	q, err := approval.Decode(data)
	if err != nil && q.ID == "" {
		return ""
	}
	if stream, ok := cfg.StreamFor(q.Runtime); ok {
		return stream.Key
	}
	return ""
}

// coded gives an error of the client its exit code.
func coded(err error) error {
	var invalid *approval.Invalid
	switch {
	case errors.As(err, &invalid), errors.Is(err, queue.ErrNotMine), errors.Is(err, queue.ErrTaken),
		errors.Is(err, queue.ErrBadSignature):
		return &failure{code: exitRefused, err: err}
	case errors.Is(err, queue.ErrUnavailable), errors.Is(err, queue.ErrUnknown):
		return &failure{code: exitUnavailable, err: err}
	}
	return settled(err)
}

// settled gives an error its exit code where a refusal means not done.
func settled(err error) error {
	var invalid *approval.Invalid
	var refused *queue.ClaimRefused
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return &failure{code: exitUsage, err: err}
	case errors.As(err, &refused), errors.Is(err, queue.ErrUnknown), errors.Is(err, queue.ErrNotMine):
		return &failure{code: exitNotDone, err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{code: exitNotDone, err: err}
	}
	return &failure{code: exitUnavailable, err: err}
}

// print writes a value as JSON.
func (s *shell) print(v any) error {
	e := json.NewEncoder(s.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// shownWithin is how long a command waits for the row to show what it asked.
const shownWithin = 5 * time.Second

// shown waits until a row fits, for up to five seconds.
func (s *shell) shown(client *queue.Client, id string, fits func(queue.Row) bool) (queue.Row, bool, error) {
	ctx, cancel := s.within(shownWithin)
	defer cancel()
	for {
		row, err := client.Row(ctx, id)
		switch {
		case err == nil && fits(row):
			return row, true, nil
		case err != nil && !errors.Is(err, queue.ErrUnknown) && ctx.Err() == nil:
			return row, false, err
		}
		if !wait(ctx, 50*time.Millisecond) {
			return row, false, nil
		}
	}
}

type withdrawCmd struct {
	target
	ID     string `arg:"" help:"The approval's id."`
	Reason string `help:"Why."`
	JSON   bool   `help:"Print the row as JSON."`
}

// Run withdraws a request.
func (c *withdrawCmd) Run(s *shell) error {
	return c.client(s, func(client *queue.Client) error {
		row, err := client.Row(s.ctx, c.ID)
		if err != nil {
			return settled(err)
		}
		if row.State == approval.Open {
			if err := client.Withdraw(s.ctx, c.ID, c.Reason); err != nil {
				return settled(err)
			}
			if row, _, err = s.shown(client, c.ID, func(r queue.Row) bool { return r.State != approval.Open }); err != nil {
				return settled(err)
			}
		}
		if row.State != approval.Withdrawn {
			return fail(exitNotDone, "%s is %s, not withdrawn", c.ID, row.State)
		}
		return s.row(row, c.JSON)
	})
}

type claimCmd struct {
	target
	ID   string `arg:"" help:"The approval's id."`
	Pin  string `required:"" help:"The pin of the call about to run." placeholder:"PIN"`
	By   string `help:"Who claims; else the operating system's user." placeholder:"NAME"`
	JSON bool   `help:"Print the row as JSON."`
}

// Run claims an approved call.
func (c *claimCmd) Run(s *shell) error {
	return c.client(s, func(client *queue.Client) error {
		by := c.By
		if by == "" {
			by = osUser()
		}
		if err := client.Claim(s.ctx, c.ID, c.Pin, by); err != nil {
			return settled(err)
		}
		row, _, err := s.shown(client, c.ID, func(r queue.Row) bool { return r.State != approval.Approved })
		if err != nil {
			return settled(err)
		}
		return s.row(row, c.JSON)
	})
}

type reportCmd struct {
	target
	ID   string `arg:"" help:"The approval's id."`
	File string `short:"f" required:"" help:"The report, JSON without approval_id; - for standard input." placeholder:"FILE"`
	JSON bool   `help:"Print the row as JSON."`
}

// Run reports what happened.
func (c *reportCmd) Run(s *shell) error {
	data, err := s.readFile(c.File)
	if err != nil {
		return err
	}
	report, err := reportFor(c.ID, data)
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	return c.client(s, func(client *queue.Client) error {
		before, err := client.Row(s.ctx, c.ID)
		if err != nil {
			return settled(err)
		}
		if err := client.Report(s.ctx, report); err != nil {
			return settled(err)
		}
		row, ok, err := s.shown(client, c.ID, func(r queue.Row) bool { return string(r.Report) != string(before.Report) })
		if err != nil {
			return settled(err)
		}
		switch {
		case ok || row.State == report.Outcome:
		case row.State.WasApproved() && row.State != approval.Undone:
			return fail(exitNotDone, "the report is published, but no bot has taken it yet; %s is %s", c.ID, row.State)
		default:
			return fail(exitNotDone, "the report is not taken: %s is %s", c.ID, row.State)
		}
		return s.row(row, c.JSON)
	})
}

// reportFor reads a report for an approval; an approval_id in it must be that
// one.
func reportFor(id string, data []byte) (approval.Report, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return approval.Report{}, fmt.Errorf("report: want a JSON object: %w", err)
	}
	own, err := json.Marshal(id)
	if err != nil {
		return approval.Report{}, err
	}
	if given, ok := fields["approval_id"]; ok && string(given) != string(own) {
		return approval.Report{}, fmt.Errorf("report: approval_id is %s, but the command says %s", given, id)
	}
	fields["approval_id"] = own
	if data, err = json.Marshal(fields); err != nil {
		return approval.Report{}, err
	}
	return approval.DecodeReport(data)
}

// client runs a command against the queue.
func (t target) client(s *shell, do func(*queue.Client) error) error {
	rdb, cfg, err := t.open(s)
	if err != nil {
		return err
	}
	defer func(rdb redis.UniversalClient) { _ = rdb.Close() }(rdb)
	return do(queue.NewClient(rdb, cfg.Redis.Namespace))
}

// row prints a row, as JSON or as a few lines.
func (s *shell) row(r queue.Row, asJSON bool) error {
	if asJSON {
		return s.print(r)
	}
	fmt.Fprintf(s.stdout, "%s  #%s  %s\n", r.ID, r.Ref, r.State)
	return nil
}

// osUser is the operating system's user.
func osUser() string {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "unknown user"
	}
	return u.Username
}
