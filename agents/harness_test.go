package agents_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"countersign/agents"
	"countersign/approval"
	"countersign/queue"
	"countersign/store"
	"countersign/store/storetest"
)

// An office is a queue that is served, and a desk in front of it.
type office struct {
	*storetest.Server
	t     *testing.T
	store *store.Store
	desk  *agents.Desk
	hook  *agents.Hook
}

// newOffice opens an office; with serve a bot's intake works in it.
func newOffice(t *testing.T, s *storetest.Server, serve bool) *office {
	t.Helper()
	o := &office{Server: s, t: t, store: storetest.NewStore(t, s)}
	o.desk = &agents.Desk{
		Client:  queue.NewClient(s.Client(), s.Namespace(), queue.WithStream(s.Keys().Requests())),
		Runtime: "claude-code", By: "a test", Stream: s.Keys().Requests(), Within: time.Minute,
		NewID: func() (string, error) { return "call-" + rand.Text(), nil },
	}
	o.hook = &agents.Hook{Desk: o.desk, Pass: agents.Passed(), Otherwise: agents.Deny}
	if err := o.store.Alive(t.Context(), []string{s.Keys().Requests()}); err != nil {
		t.Fatal(err)
	}
	if serve {
		o.serve()
	}
	return o
}

// serve takes requests until the test ends.
func (o *office) serve() {
	o.t.Helper()
	intake, err := queue.NewIntake(queue.IntakeConfig{
		Redis: o.Client(), Store: o.store, Namespace: o.Namespace(), Consumer: "one",
		Router:    func() queue.Router { return direct{} },
		Durations: func() approval.Durations { return approval.Durations{ToolCall: time.Hour, Max: 24 * time.Hour} },
		Remind:    func() time.Duration { return 0 },
		Owners:    func() []int64 { return []int64{storetest.Ann} },
		Glob:      func(string, string) bool { return true },
		Retention: storetest.Retention, Log: zerolog.Nop(),
	})
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(o.t.Context()))
	done := make(chan error, 1)
	go func() { done <- intake.Run(ctx) }()
	o.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			o.t.Errorf("intake: %v", err)
		}
	})
}

// direct routes everything to Ann.
type direct struct{}

func (direct) Route(*approval.Request, string) queue.Route {
	return queue.Route{Chats: []approval.Chat{{ID: storetest.Ann}}, Owners: []int64{storetest.Ann}, Quorum: 1}
}

// within bounds what a broken program would wait for without end.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until a condition holds.
func (o *office) eventually(what string, holds func() bool) {
	o.t.Helper()
	ctx := within(o.t)
	for !holds() {
		select {
		case <-ctx.Done():
			o.t.Fatalf("gave up waiting until %s", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// open waits for an approval to be open, and reads it.
func (o *office) open() *store.Reading {
	o.t.Helper()
	var id string
	o.eventually("something is asked", func() bool {
		ids, _, err := o.store.OpenIDs(o.t.Context(), 10)
		if err != nil {
			o.t.Fatal(err)
		}
		if len(ids) > 0 {
			id = ids[0]
		}
		return id != ""
	})
	return storetest.Read(o.t, o.store, id)
}

// decide answers as the operator.
func (o *office) decide(r *store.Reading, d approval.Decision, reason string) {
	o.t.Helper()
	status, _, err := o.store.Decide(o.t.Context(), r, store.Attempt{
		Decision: d, Guard: store.ByOperator, Reason: reason,
		By: approval.By{Surface: approval.CLI, ID: "ann", Name: "Ann"},
	})
	if err != nil || status != store.Done {
		o.t.Fatalf("decide: %v, %v", status, err)
	}
}

// becomes waits until an approval is in a state.
func (o *office) becomes(id string, want approval.State) {
	o.t.Helper()
	o.eventually(id+" is "+string(want), func() bool {
		r, err := o.store.Read(o.t.Context(), id)
		return err == nil && r.Row != nil && r.Row.State == want
	})
}

// asking asks in the background, and returns where the result comes.
func asking[T any](ask func() T) <-chan T {
	done := make(chan T, 1)
	go func() { done <- ask() }()
	return done
}

// deletes is a call that deletes something.
func deletes(id string) agents.Call {
	return agents.Call{
		Tool: "Bash", Input: []byte(`{"command": "rm -rf build", "description": "Tidy up"}`), ID: id, Session: "s-1", Dir: "/home/ann/shop",
	}
}
