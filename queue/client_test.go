package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/queue"
	"countersign/store"
	"countersign/store/storetest"
)

// A runtime asks, waits, claims, runs and reports, while a bot serves it.
func TestEndToEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.serve()
		ctx := within(t)
		running, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- b.intake.Run(running) }()
		defer func() {
			stop()
			must(t, <-done)
		}()

		p, err := b.client.Request(ctx, queue.Request{Data: storetest.Request("a1", storetest.WithUndo(7))})
		must(t, err)
		b.eventually(ctx, func() bool { return b.state("a1") == approval.Open })
		storetest.Approve(t, b.store, "a1")
		answer, err := b.client.Await(ctx, p)
		must(t, err)
		if answer.Decision != approval.DecisionApproved || string(answer.Context) != `{"wait":"w-1"}` || len(answer.Calls) != 1 {
			t.Fatalf("answer is %+v, want approved with context and call", answer)
		}
		again, err := queue.NewClient(s.Client(), s.Namespace()).Await(ctx, p) // a restarted runtime
		if diff := cmp.Diff(answer, again); diff != "" || err != nil {
			t.Errorf("the answer again (%v; -first +again):\n%s", err, diff)
		}

		must(t, b.client.Claim(ctx, "a1", p.Pin, "worker", p.Stream))
		b.eventually(ctx, func() bool { return b.state("a1") == approval.Claimed })
		must(t, b.client.Report(ctx, approval.Report{
			ID: "a1", Outcome: approval.Partial, Results: []approval.Result{{Line: 1, OK: true}, {Line: 2, Detail: "gone"}},
		}))
		b.eventually(ctx, func() bool { return b.state("a1") == approval.Partial })
		row, err := b.client.Row(ctx, "a1")
		must(t, err)
		if row.State != approval.Partial || len(row.Ref) != 5 || string(row.Answer) != string(answer.Data) ||
			row.Stream != p.Stream || len(row.Report) == 0 || row.ExpiresAt.Sub(row.OpenedAt) < 59*time.Minute {
			t.Errorf("row is %+v", row)
		}

		p, err = b.client.Request(ctx, queue.Request{Data: storetest.Request("a2")})
		must(t, err)
		b.eventually(ctx, func() bool { return b.state("a2") == approval.Open })
		must(t, b.client.Withdraw(ctx, "a2", "not needed"))
		if answer, err = b.client.Await(ctx, p); err != nil || answer.Decision != approval.DecisionWithdrawn {
			t.Errorf("answer is %+v (%v), want withdrawn", answer, err)
		}
	})
}

// A request is refused before it is sent if it breaks a rule or nobody would
// read it.
func TestRequestRefusedBeforehand(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		ctx := t.Context()
		good, bad := storetest.Request("a1"), storetest.Request("a1", storetest.With("tool", nil))
		if _, err := b.client.Request(ctx, queue.Request{Data: good}); !errors.Is(err, queue.ErrUnavailable) {
			t.Errorf("with no bot alive the error is %v, want unavailable", err)
		}
		b.serve(s.Keys().Prefix() + "mail")
		if _, err := b.client.Request(ctx, queue.Request{Data: good}); !errors.Is(err, queue.ErrUnavailable) {
			t.Errorf("with nobody on the stream the error is %v, want unavailable", err)
		}
		b.serve()
		var rule *approval.Invalid
		if _, err := b.client.Request(ctx, queue.Request{Data: bad}); !errors.As(err, &rule) || rule.Field != "tool" {
			t.Errorf("the error of a bad request is %v, want that of tool", err)
		}
		if n, err := s.Client().Exists(ctx, s.Keys().Requests()).Result(); n != 0 || err != nil {
			t.Fatalf("something was sent (%v)", err)
		}
		p, err := b.client.Request(ctx, queue.Request{Data: bad, NoCheck: true})
		must(t, err)
		b.step()
		answer, err := b.client.Await(within(t), p)
		if err != nil || answer.Decision != approval.DecisionRefused {
			t.Errorf("answer is %+v (%v), want a refusal that is mine", answer, err)
		}
	})
}

func TestAwaitErrors(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.serve()
		ctx := within(t)
		ask := func(id string, options ...storetest.Option) queue.Pending {
			t.Helper()
			p, err := b.client.Request(ctx, queue.Request{Data: storetest.Request(id, options...)})
			must(t, err)
			return p
		}
		first, second := ask("a1"), ask("a1", storetest.With("tool", "other"))
		overdue := ask("overdue", storetest.With("expires_in", 5))
		b.step()
		if _, err := b.client.Await(ctx, second); !errors.Is(err, queue.ErrNotMine) {
			t.Errorf("while another's row is open the error is %v, want not mine", err)
		}
		storetest.Approve(t, b.store, "a1")
		if _, err := b.client.Await(ctx, second); !errors.Is(err, queue.ErrNotMine) {
			t.Errorf("the error of another's answer is %v, want not mine", err)
		}
		other := first
		other.Pin = second.Pin
		if _, err := b.client.Await(ctx, other); !errors.Is(err, queue.ErrNotMine) {
			t.Errorf("the error of an answer with another pin is %v, want not mine", err)
		}

		// The answer's stream was lost, the row was not.
		must(t, s.Client().Del(ctx, s.Keys().Answer("a1")).Err())
		if answer, err := b.client.Await(ctx, first); err != nil || answer.Decision != approval.DecisionApproved {
			t.Errorf("answer is %+v (%v), want the row's", answer, err)
		}

		unread := ask("unread")
		short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		defer cancel()
		if _, err := b.client.Await(short, unread); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("just published, the error is %v, want to be waiting still", err)
		}
		unread.Entry = ago(b, 31*time.Second)
		if _, err := b.client.Await(ctx, unread); !errors.Is(err, queue.ErrUnknown) {
			t.Errorf("half a minute later the error is %v, want unknown", err)
		}
		s.Advance(t, 20*time.Second)
		short, cancel = context.WithTimeout(ctx, 30*time.Millisecond)
		defer cancel()
		if _, err := b.client.Await(short, overdue); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("shortly past the deadline the error is %v, want to be waiting still", err)
		}
		s.Advance(t, 16*time.Second)
		if _, err := b.client.Await(ctx, overdue); !errors.Is(err, queue.ErrUnavailable) {
			t.Errorf("half a minute past the deadline the error is %v, want unavailable", err)
		}
		if _, err := b.client.Await(ctx, queue.Pending{}); !errors.Is(err, queue.ErrUnknown) {
			t.Errorf("the error of no request at all is %v, want unknown", err)
		}
	})
}

// A refusal that could not read the request is a no for whoever asked; one that
// could is a no for whoever asked just that.
func TestWhoseRefusal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.add("type", "approval.requested", "data", `{"approval_id":"a1","tool":"x","tool":"y"}`)
		b.request("a2", storetest.With("tool", nil))
		b.step()
		b.serve()
		for id, want := range map[string]error{"a1": nil, "a2": queue.ErrNotMine} {
			if _, err := b.client.Request(t.Context(), queue.Request{Data: storetest.Request(id)}); !errors.Is(err, queue.ErrTaken) {
				t.Errorf("%s: the error of asking is %v, want taken", id, err)
			}
			p, err := b.client.Request(t.Context(), queue.Request{Data: storetest.Request(id), NoCheck: true})
			must(t, err)
			b.step()
			answer, err := b.client.Await(within(t), p)
			if !errors.Is(err, want) || err == nil && answer.Decision != approval.DecisionRefused {
				t.Errorf("%s: answer is %+v (%v), want refused or %v", id, answer, err, want)
			}
		}
	})
}

// The wish to undo reaches whoever waits for it, also after a restart; where
// there is no approval nobody waits for ever.
func TestAwaitUndo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.serve()
		b.request("a1", storetest.WithUndo(30))
		b.step()
		storetest.Approve(t, b.store, "a1")
		must(t, b.client.Report(t.Context(), approval.Report{ID: "a1", Outcome: approval.Executed}))
		b.step()
		r, err := b.store.Read(t.Context(), "a1")
		must(t, err)
		by := approval.By{Surface: approval.Telegram, ID: "1001", Name: "Ann"}
		if status, _, err := b.store.Undo(t.Context(), r, storetest.Ann, by); status != store.Done || err != nil {
			t.Fatalf("undo: %s, %v", status, err)
		}
		for range 2 {
			u, err := b.client.AwaitUndo(within(t), "a1")
			if err != nil || u.ID != "a1" || u.UndoTool != "untrash_emails" || u.By.Name != "Ann" || len(u.Calls) == 0 {
				t.Errorf("undo is %+v (%v)", u, err)
			}
		}
		row, err := b.client.Row(t.Context(), "a1")
		if err != nil || len(row.Undo) == 0 {
			t.Errorf("the row says of the undo %q (%v)", row.Undo, err)
		}
		if _, err := b.client.AwaitUndo(within(t), "a2"); !errors.Is(err, queue.ErrUnknown) {
			t.Errorf("the undo of no approval: %v, want unknown", err)
		}
	})
}

// Await does not end while Redis is away.
func TestAwaitOutlastsOutage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.serve()
		p, err := b.client.Request(t.Context(), queue.Request{Data: storetest.Request("a1")})
		must(t, err)
		b.step()
		away := &severed{command: "xread"}
		s.Client().AddHook(away)
		away.on.Store(true)
		ctx := within(t)
		got := make(chan error, 1)
		go func() {
			_, err := b.client.Await(ctx, p)
			got <- err
		}()
		b.eventually(ctx, func() bool { return away.refused.Load() > 2 })
		storetest.Approve(t, b.store, "a1")
		away.on.Store(false)
		if err := <-got; err != nil {
			t.Errorf("await gave %v, want the answer", err)
		}
	})
}

func TestUnknownVerbs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		ctx := t.Context()
		_, rowErr := b.client.Row(ctx, "none")
		for name, err := range map[string]error{
			"row":      rowErr,
			"withdraw": b.client.Withdraw(ctx, "none", ""),
			"report":   b.client.Report(ctx, approval.Report{ID: "none", Outcome: approval.Executed}),
		} {
			if !errors.Is(err, queue.ErrUnknown) {
				t.Errorf("%s: the error is %v, want unknown", name, err)
			}
		}
		// A runtime that knows its stream may withdraw what was not read yet.
		own := queue.NewClient(s.Client(), s.Namespace(), queue.WithStream(s.Keys().Requests()))
		must(t, own.Withdraw(ctx, "a1", "changed my mind"))
		b.request("a1")
		b.step()
		if got := b.state("a1"); got != approval.Withdrawn {
			t.Errorf("a1 is %q, want withdrawn", got)
		}
	})
}

// A bad report or withdrawal is an error before it is sent.
func TestVerbsCheckFirst(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		for name, err := range map[string]error{
			"report":   b.client.Report(t.Context(), approval.Report{ID: "a1", Outcome: approval.Open}),
			"withdraw": b.client.Withdraw(t.Context(), "a b", ""),
			"claim":    b.client.Claim(t.Context(), "a1", "", "me"),
		} {
			var rule *approval.Invalid
			if !errors.As(err, &rule) {
				t.Errorf("%s: the error is %v, want a rule", name, err)
			}
		}
	})
}

func TestAskBuildsRequest(t *testing.T) {
	r, err := queue.Ask{
		ID: "a1", Runtime: "iris", Effect: approval.Write, Approval: "pinned",
		Calls: []queue.AskCall{{Tool: "send", Arguments: []byte(`{"to":"<me>"}`), CallID: "c1"}},
		Card:  queue.AskCard{Title: "Send 1 email", UndoDays: 3}, ExpiresIn: 7.5,
		Risk: &queue.AskRisk{Facts: map[string]bool{"comms_send": true}},
	}.Request()
	must(t, err)
	q, err := approval.Decode(r.Data)
	must(t, err)
	if q.ID != "a1" || !q.Pinned || q.Effect != approval.Write || q.Expiry.In != 7500*time.Millisecond ||
		len(q.Calls) != 1 || q.Calls[0].CallID != "c1" || q.Card.UndoDays != 3 || len(q.Risk.Facts) == 0 {
		t.Errorf("decoded %+v", q)
	}
	pin, err := approval.PinOf(q.Calls)
	must(t, err)
	want, err := approval.PinOf([]approval.Call{{Tool: "send", Arguments: []byte(`{ "to": "<me>" }`)}})
	must(t, err)
	if pin != want {
		t.Errorf("pin is %s, want that of the arguments as given, %s", pin, want)
	}
}
