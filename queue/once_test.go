package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"countersign/approval"
	"countersign/queue"
	"countersign/store"
	"countersign/store/storetest"
)

// errCrash is the death of a process at a note.
var errCrash = errors.New("the process dies here")

// A dying ledger's process dies before or after a note is written, once.
type dying struct {
	queue.Ledger
	step  queue.Step
	after bool
}

func (d *dying) Add(ctx context.Context, id string, step queue.Step, note string) (bool, error) {
	if step != d.step {
		return d.Ledger.Add(ctx, id, step, note)
	}
	d.step = ""
	if d.after {
		if _, err := d.Ledger.Add(ctx, id, step, note); err != nil {
			return false, err
		}
	}
	return false, errCrash
}

// A once is a bench with a ledger, and a call that counts how often it ran.
type once struct {
	*bench
	ledger queue.Ledger
	ran    int
	fails  error
}

func newOnce(t *testing.T, s *storetest.Server) *once {
	t.Helper()
	b := newBench(t, s)
	b.serve()
	ledger, err := queue.NewFileLedger(t.TempDir())
	must(t, err)
	return &once{bench: b, ledger: ledger}
}

func ask(id string) queue.Ask {
	return queue.Ask{
		ID: id, Runtime: "iris", Tool: "trash", Arguments: []byte(`{"ids":["m1"]}`), Card: queue.AskCard{Title: "Trash 1 email"},
	}
}

// run asks with a ledger while the operator answers.
func (o *once) run(ctx context.Context, ledger queue.Ledger, a queue.Ask) (approval.Report, error) {
	runner := queue.Once{Client: o.client, Ledger: ledger, By: "worker"}
	return runner.Run(ctx, a, func(_ context.Context, calls []approval.Call) (approval.Report, error) {
		o.ran++
		if string(calls[0].Arguments) != `{"ids":["m1"]}` {
			o.t.Errorf("ran %s", calls[0].Arguments)
		}
		return approval.Report{Message: "done"}, o.fails
	})
}

// answering answers an approval as soon as it is open, once, in the background.
func (o *once) answering(ctx context.Context, id string, decision approval.Decision) (wait func()) {
	done := make(chan error, 1)
	go func() {
		for {
			if _, err := o.intake.Step(ctx); err != nil {
				done <- err
				return
			}
			r, err := o.store.Read(ctx, id)
			if err == nil && r.Row != nil {
				_, _, err = o.store.Decide(ctx, r, store.Attempt{
					Decision: decision, Guard: store.ByOperator, By: approval.By{Surface: approval.CLI, ID: "root", Name: "root"},
				})
				done <- err
				return
			}
			select {
			case <-ctx.Done():
				done <- ctx.Err()
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() { must(o.t, <-done) }
}

func TestOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		o := newOnce(t, s)
		ctx := within(t)
		wait := o.answering(ctx, "a1", approval.DecisionApproved)
		for range 2 {
			report, err := o.run(ctx, o.ledger, ask("a1"))
			if err != nil || report.Outcome != approval.Executed || report.Message != "done" || o.ran != 1 {
				t.Errorf("report is %+v (%v), ran %d times; want executed, once", report, err, o.ran)
			}
		}
		wait()
		o.step()
		if got := o.state("a1"); got != approval.Executed {
			t.Errorf("a1 is %s", got)
		}
		changed := ask("a1")
		changed.Arguments = []byte(`{"ids":["m2"]}`)
		if _, err := o.run(ctx, o.ledger, changed); !errors.Is(err, queue.ErrTaken) {
			t.Errorf("another call under the id: %v, want taken", err)
		}

		wait = o.answering(ctx, "a2", approval.DecisionRejected)
		_, err := o.run(ctx, o.ledger, ask("a2"))
		wait()
		var declined *queue.Declined
		if !errors.As(err, &declined) || declined.Answer.Decision != approval.DecisionRejected || o.ran != 1 {
			t.Errorf("a no is %v, ran %d times; want declined, not run", err, o.ran)
		}

		o.fails = errors.New("the mail server is away")
		wait = o.answering(ctx, "a3", approval.DecisionApproved)
		for range 2 {
			report, err := o.run(ctx, o.ledger, ask("a3"))
			if err == nil || err.Error() != o.fails.Error() || report.Outcome != approval.Failed || o.ran != 2 {
				t.Errorf("a failure is %+v (%v), ran %d times in all", report, err, o.ran)
			}
		}
		wait()
	})
}

// Wherever a process dies, the call runs once, or is not known to have run.
func TestOnceAfterCrash(t *testing.T) {
	tests := []struct {
		name   string
		step   queue.Step
		after  bool
		first  int // how often it ran before the crash
		ran    int // and in all
		unsure bool
	}{
		{"asked, not noted", queue.StepAsked, false, 0, 1, false},
		{"asked", queue.StepAsked, true, 0, 1, false},
		{"claimed", queue.StepStarted, false, 0, 1, false},
		{"about to run", queue.StepStarted, true, 0, 0, true},
		{"ran, not noted", queue.StepDone, false, 1, 1, true},
		{"ran", queue.StepDone, true, 1, 1, false},
		{"reported, not noted", queue.StepReported, false, 1, 1, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, s *storetest.Server) {
				o := newOnce(t, s)
				ctx := within(t)
				wait := o.answering(ctx, "a1", approval.DecisionApproved)
				if _, err := o.run(ctx, &dying{o.ledger, test.step, test.after}, ask("a1")); !errors.Is(err, errCrash) {
					t.Fatalf("%v, want to have died", err)
				}
				if o.ran != test.first {
					t.Errorf("ran %d times before, want %d", o.ran, test.first)
				}
				for range 2 {
					_, err := o.run(ctx, o.ledger, ask("a1"))
					if errors.Is(err, queue.ErrUnsure) != test.unsure || err != nil && !test.unsure {
						t.Errorf("afterwards: %v, want unsure: %v", err, test.unsure)
					}
				}
				wait()
				if o.ran != test.ran {
					t.Errorf("ran %d times in all, want %d", o.ran, test.ran)
				}
				want := approval.Executed
				if test.unsure {
					want = approval.Partial
				}
				o.step()
				if got := o.state("a1"); got != want {
					t.Errorf("a1 is %s, want %s", got, want)
				}
			})
		})
	}
}

// What another runtime claimed is not run.
func TestOnceOfAnother(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		o := newOnce(t, s)
		ctx := within(t)
		wait := o.answering(ctx, "a1", approval.DecisionApproved)
		_, err := o.run(ctx, o.ledger, ask("a1"))
		must(t, err)
		wait()
		other, err := queue.NewFileLedger(t.TempDir())
		must(t, err)
		var refused *queue.ClaimRefused
		if _, err := o.run(ctx, other, ask("a1")); !errors.As(err, &refused) || refused.Status != queue.ClaimTaken || o.ran != 1 {
			t.Errorf("another ledger: %v, ran %d times; want already claimed, once", err, o.ran)
		}
	})
}

// Whoever asks while the call is still running elsewhere does not know how it ends.
// What it came to is reported all the same, and stays.
func TestOnceStillRunning(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		o := newOnce(t, s)
		ctx := within(t)
		wait := o.answering(ctx, "a1", approval.DecisionApproved)
		runner := queue.Once{Client: o.client, Ledger: o.ledger, By: "worker"}
		report, err := runner.Run(ctx, ask("a1"), func(ctx context.Context, _ []approval.Call) (approval.Report, error) {
			for range 2 {
				if _, err := o.run(ctx, o.ledger, ask("a1")); !errors.Is(err, queue.ErrUnsure) || o.ran != 0 {
					t.Errorf("asked meanwhile: %v, ran %d times more", err, o.ran)
				}
			}
			return approval.Report{Message: "done"}, nil
		})
		wait()
		if err != nil || report.Outcome != approval.Executed {
			t.Errorf("report is %+v (%v), want executed", report, err)
		}
		o.step()
		if got := o.state("a1"); got != approval.Executed {
			t.Errorf("a1 is %s, want executed", got)
		}
	})
}

// A late ledger is one in which the call is found done at the second look.
type late struct {
	queue.Ledger
	looked bool
}

func (l *late) Read(ctx context.Context, id string, step queue.Step) (string, bool, error) {
	if step == queue.StepDone && !l.looked {
		l.looked = true
		return "", false, nil
	}
	return l.Ledger.Read(ctx, id, step)
}

// A call that ends and is reported just as another process takes it for broken off is
// shown as what it came to.
func TestOnceEndsMeanwhile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		o := newOnce(t, s)
		ctx := within(t)
		wait := o.answering(ctx, "a1", approval.DecisionApproved)
		_, err := o.run(ctx, o.ledger, ask("a1"))
		must(t, err)
		wait()
		report, err := o.run(ctx, &late{Ledger: o.ledger}, ask("a1"))
		if err != nil || report.Outcome != approval.Executed || o.ran != 1 {
			t.Errorf("report is %+v (%v), ran %d times; want executed, once", report, err, o.ran)
		}
		o.step()
		if got := o.state("a1"); got != approval.Executed {
			t.Errorf("a1 is %s, want executed", got)
		}
	})
}
