package agents_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"countersign/agents"
	"countersign/approval"
	"countersign/queue"
	"countersign/store"
	"countersign/store/storetest"
)

func TestAskApproved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		o := newOffice(t, s, true)
		result := asking(func() agents.Result { return o.desk.AskCall(within(t), deletes("t-1")) })
		r := o.open()
		if q := r.Row.Request; q.Effect != approval.Destructive || q.Card.Title != "Run: rm -rf build" || q.Runtime != "claude-code" {
			t.Errorf("asked %+v", q)
		}
		o.decide(r, approval.DecisionApproved, "")
		if got := <-result; got.Verdict != agents.Allowed || got.By != "Ann" || got.Approval != r.Row.ID {
			t.Errorf("got %+v, want allowed", got)
		}
		o.becomes(r.Row.ID, approval.Claimed)
		// The same call once more is the same approval, and that is used up.
		if again := o.desk.AskCall(within(t), deletes("t-1")); again.Verdict != agents.Unanswered || !strings.Contains(again.Reason, "already_claimed") {
			t.Errorf("the second time %+v, want already claimed", again)
		}
		// Another call under its name is not asked.
		other := deletes("t-1")
		other.Input = []byte(`{"command": "rm -rf /"}`)
		if got := o.desk.AskCall(within(t), other); got.Verdict != agents.Unanswered || !strings.Contains(got.Reason, queue.ErrTaken.Error()) {
			t.Errorf("another call under the id: %+v, want taken", got)
		}
	})
}

func TestAskRejected(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storetest.Embedded(t), true)
	result := asking(func() agents.Result { return o.desk.AskCall(within(t), deletes("t-1")) })
	o.decide(o.open(), approval.DecisionRejected, "not the build folder")
	if got := <-result; got.Verdict != agents.Declined || !strings.Contains(got.Reason, "not the build folder") {
		t.Errorf("got %+v, want the owner's words", got)
	}
}

// Where a stream takes only ids of a form, each begins so, and its outcome is found.
func TestAskPrefixed(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"t-1", ""} {
		o := newOffice(t, storetest.Embedded(t), true)
		o.desk.Prefix = "iris."
		call := deletes(id)
		result := asking(func() agents.Result { return o.desk.AskCall(within(t), call) })
		r := o.open()
		o.decide(r, approval.DecisionApproved, "")
		if got := <-result; got.Verdict != agents.Allowed || !strings.HasPrefix(got.Approval, "iris.call-") || got.Approval != r.Row.ID {
			t.Errorf("%q: got %+v", id, got)
		}
		if id == "" {
			continue
		}
		if err := o.hook.After(within(t), event(t, "PostToolUse", "default", "")); err != nil {
			t.Fatal(err)
		}
		o.becomes(r.Row.ID, approval.Executed)
	}
}

// Two processes that ask about the same call at once are one approval, and one of
// them may run it.
func TestAskTwiceAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		o := newOffice(t, s, true)
		results := make(chan agents.Result, 2)
		for range 2 {
			go func() { results <- o.desk.AskCall(within(t), deletes("t-1")) }()
		}
		r := o.open()
		o.eventually("both have asked", func() bool {
			n, err := s.Client().XLen(t.Context(), s.Keys().Requests()).Result()
			return err == nil && n == 2
		})
		o.decide(r, approval.DecisionApproved, "")
		allowed := 0
		for range 2 {
			if got := <-results; got.Verdict == agents.Allowed {
				allowed++
			}
		}
		if allowed != 1 {
			t.Errorf("%d of two may run it, want one", allowed)
		}
	})
}

// Whoever stops waiting withdraws what it asked.
func TestAskGivenUp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		o := newOffice(t, s, true)
		ctx, stop := context.WithCancel(within(t))
		result := asking(func() agents.Result { return o.desk.AskCall(ctx, deletes("t-1")) })
		r := o.open()
		stop()
		if got := <-result; got.Verdict != agents.Unanswered {
			t.Errorf("got %+v, want unanswered", got)
		}
		o.becomes(r.Row.ID, approval.Withdrawn)
	})
}

// A request that was given up before the bot read it is withdrawn when it does.
func TestAskGivenUpUnread(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storetest.Embedded(t), false)
	ctx, stop := context.WithCancel(within(t))
	result := asking(func() agents.Result { return o.desk.AskCall(ctx, deletes("t-1")) })
	o.eventually("it is published", func() bool {
		n, err := o.Client().XLen(t.Context(), o.Keys().Requests()).Result()
		return err == nil && n == 1
	})
	stop()
	if got := <-result; got.Verdict != agents.Unanswered {
		t.Errorf("got %+v, want unanswered", got)
	}
	o.serve()
	o.becomes(deletes("t-1").ApprovalID("claude-code"), approval.Withdrawn)
}

// Nothing is believed but an answer to what was asked, and nothing is asked that
// nobody would read.
func TestAskUnanswered(t *testing.T) {
	t.Parallel()
	id := deletes("t-1").ApprovalID("claude-code")
	for name, test := range map[string]struct {
		prepare func(o *office)
		call    agents.Call
		want    string
	}{
		"nobody serves": {
			prepare: func(o *office) { o.Advance(o.t, time.Minute) }, call: deletes("t-1"), want: queue.ErrUnavailable.Error(),
		},
		"Redis is away": {
			prepare: func(o *office) { o.Fail("LOADING Redis is loading the dataset in memory") }, call: deletes("t-1"), want: "LOADING",
		},
		"another's row": {
			prepare: func(o *office) {
				r := storetest.Open(o.t, o.store, storetest.Request(id))
				o.decide(r, approval.DecisionApproved, "")
			},
			call: deletes("t-1"), want: queue.ErrTaken.Error(),
		},
		"too large": {
			call: agents.Call{Tool: "Bash", Input: []byte(`{"command": "` + strings.Repeat("x", approval.MaxData) + `"}`)}, want: "too large",
		},
		"a key twice": {
			call: agents.Call{Tool: "Bash", Input: []byte(`{"command": "rm", "command": "ls"}`)}, want: "given twice",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, storetest.Embedded(t), false)
			if test.prepare != nil {
				test.prepare(o)
			}
			got := o.desk.AskCall(within(t), test.call)
			o.Fail("")
			if got.Verdict != agents.Unanswered || !strings.Contains(got.Reason, test.want) {
				t.Errorf("got %+v, want unanswered: %s", got, test.want)
			}
			if n := o.Client().XLen(t.Context(), o.Keys().Requests()).Val(); n != 0 {
				t.Errorf("%d entries were published", n)
			}
			if n := o.Client().Exists(t.Context(), o.Keys().Claim(id)).Val(); n != 0 {
				t.Error("it was claimed")
			}
		})
	}
}

// A row with other terms that appears while the request waits is another's: its
// approval allows nothing, and it is not withdrawn either.
func TestAskNotMine(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storetest.Embedded(t), false)
	id := deletes("t-1").ApprovalID("claude-code")
	result := asking(func() agents.Result { return o.desk.AskCall(within(t), deletes("t-1")) })
	o.eventually("it is published", func() bool { return o.Client().XLen(t.Context(), o.Keys().Requests()).Val() == 1 })
	r := storetest.Open(t, o.store, storetest.Request(id))
	o.decide(r, approval.DecisionApproved, "")
	if got := <-result; got.Verdict != agents.Unanswered || !strings.Contains(got.Reason, queue.ErrNotMine.Error()) {
		t.Errorf("got %+v, want not mine", got)
	}
	if n := o.Client().XLen(t.Context(), o.Keys().Requests()).Val(); n != 1 {
		t.Errorf("%d entries, want the request alone", n)
	}
}

// A claim that fails is no right to run, and the card says that nothing was run.
func TestAskUnclaimed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storetest.Embedded(t), true)
	id := deletes("t-1").ApprovalID("claude-code")
	// A claim of another pin stands there: that is nobody's, and stops ours.
	result := asking(func() agents.Result { return o.desk.AskCall(within(t), deletes("t-1")) })
	r := o.open()
	if err := o.Client().Set(t.Context(), o.Keys().Claim(id), "no hash", 0).Err(); err != nil {
		t.Fatal(err)
	}
	o.decide(r, approval.DecisionApproved, "")
	if got := <-result; got.Verdict != agents.Unanswered || !strings.Contains(got.Reason, "not to be run") {
		t.Errorf("got %+v, want unanswered", got)
	}
	o.becomes(id, approval.Failed)
}

func TestAskPanics(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storetest.Embedded(t), false)
	o.desk.NewID = func() (string, error) { panic("no randomness") }
	call := deletes("")
	if got := o.desk.AskCall(within(t), call); got.Verdict != agents.Unanswered || !strings.Contains(got.Reason, "no randomness") {
		t.Errorf("got %+v, want unanswered", got)
	}
	o.desk.NewID = func() (string, error) { return "", errors.New("no id") }
	if got := o.desk.AskCall(within(t), call); got.Verdict != agents.Unanswered || !strings.Contains(got.Reason, "no id") {
		t.Errorf("got %+v, want unanswered", got)
	}
}

// A deadline that passes is a lapse, and no person's no.
func TestAskLapsed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storetest.Embedded(t), true)
	result := asking(func() agents.Result { return o.desk.AskCall(within(t), deletes("t-1")) })
	r := o.open()
	o.Advance(t, 2*time.Minute)
	status, _, err := o.store.Decide(t.Context(), r, store.Attempt{
		Decision: approval.DecisionLapsed, Guard: store.ByDeadline, By: approval.By{Surface: approval.Sweeper, ID: "sweeper"},
	})
	if err != nil || status != store.Done {
		t.Fatalf("lapse: %v, %v", status, err)
	}
	if got := <-result; got.Verdict != agents.Unanswered || got.Decision != approval.DecisionLapsed {
		t.Errorf("got %+v, want lapsed", got)
	}
}
