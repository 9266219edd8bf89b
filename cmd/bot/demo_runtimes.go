package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/config"
	"countersign/queue"
	"countersign/simulator/page"
)

// demoRuntimes are programs that ask for approval as any other would: through the queue,
// with the client that runtimes use. They implement [page.Runtimes] and are safe for
// concurrent use.
type demoRuntimes struct {
	*demoJournal
	client  *queue.Client
	rdb     redis.UniversalClient
	shell   demoShell
	samples []demoSample
	tasks   chan func(context.Context) // from Press to Run
	work    time.Duration

	mu      sync.Mutex // guards everything below
	pressed int
	asked   map[string]demoSample // by approval id
	ids     []string              // of asked, oldest first
}

func newDemoRuntimes(rdb redis.UniversalClient, c config.Redis, now func() time.Time, pace demoPace) *demoRuntimes {
	return &demoRuntimes{
		demoJournal: newDemoJournal(now),
		client:      queue.NewClient(rdb, c.Namespace), rdb: rdb, shell: newDemoShell(c),
		samples: demoSamples(pace.brief), tasks: make(chan func(context.Context)), work: pace.work, asked: map[string]demoSample{},
	}
}

// People implements [page.Runtimes].
func (r *demoRuntimes) People() []page.Person { return demoPeople() }

// Samples implements [page.Runtimes].
func (r *demoRuntimes) Samples() []page.Sample {
	list := make([]page.Sample, len(r.samples))
	for i, s := range r.samples {
		list[i] = s.Sample
	}
	return list
}

// Press implements [page.Runtimes]: it publishes a sample and leaves the rest to Run.
func (r *demoRuntimes) Press(ctx context.Context, name string) error {
	for _, s := range r.samples {
		if s.Name != name {
			continue
		}
		p, err := r.publish(ctx, s)
		if err != nil {
			return err
		}
		select {
		case r.tasks <- func(ctx context.Context) { r.follow(ctx, s, p) }:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("no sample is called %q", name)
}

// Run lets the runtimes wait, work and report until ctx ends.
func (r *demoRuntimes) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { r.watchUndo(ctx) })
	for {
		select {
		case <-ctx.Done():
			return nil
		case task := <-r.tasks:
			running.Go(func() { task(ctx) })
		}
	}
}

// publish sends the request of a sample.
func (r *demoRuntimes) publish(ctx context.Context, s demoSample) (queue.Pending, error) {
	r.mu.Lock()
	r.pressed++
	id := demoID(s.Name, r.pressed)
	r.asked[id] = s
	r.ids = append(r.ids, id)
	r.mu.Unlock()
	data, err := s.data(id)
	if err != nil {
		return queue.Pending{}, err
	}
	p, err := r.client.Request(ctx, queue.Request{Data: data, NoCheck: s.malformed})
	switch {
	case errors.Is(err, queue.ErrUnavailable):
		return p, errors.New("no bot has given a sign of life for a while, so the runtime does not even ask")
	case err != nil:
		return p, fmt.Errorf("the runtime cannot ask: %w", err)
	}
	r.note(s, id, page.StepPublished, "It adds one event to a stream in Redis, and runs nothing.", data, r.shell.publish("approval.requested", data))
	return p, nil
}

// recentlyAsked is how many approvals are looked at when it is measured what waits.
const recentlyAsked = 40

// recent returns the ids of what was asked of late.
func (r *demoRuntimes) recent() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.ids[max(0, len(r.ids)-recentlyAsked):]...)
}

// follow waits for the answer, and does what a runtime does then.
func (r *demoRuntimes) follow(ctx context.Context, s demoSample, p queue.Pending) {
	r.note(s, p.ID, page.StepWaiting, "It reads the stream of its own answer, which blocks until there is one.", nil, r.shell.await(p.ID))
	answer, err := r.client.Await(ctx, p)
	if err != nil {
		r.failed(ctx, s, p.ID, err)
		return
	}
	r.note(s, p.ID, page.StepAnswered, answered(answer), answer.Data, r.shell.await(p.ID))
	if answer.Decision != approval.DecisionApproved {
		return
	}
	if r.claim(ctx, s, p) && wait(ctx, r.work) {
		r.report(ctx, s, s.outcome(p.ID), "It ran the call, and reports what came of it.")
	}
}

// answered says what an answer is about: its observation, as a sentence.
func answered(a queue.Answer) string {
	if a.Observation == "" {
		return "The answer is there."
	}
	first, size := utf8.DecodeRuneInString(a.Observation)
	return string(unicode.ToUpper(first)) + a.Observation[size:] + "."
}

// claim takes the right to run the call, and reports whether it has it.
func (r *demoRuntimes) claim(ctx context.Context, s demoSample, p queue.Pending) bool {
	event, err := json.Marshal(map[string]string{"approval_id": p.ID, "pin": p.Pin, "by": s.runtime})
	if err == nil {
		err = r.client.Claim(ctx, p.ID, p.Pin, s.runtime)
	}
	if err != nil {
		r.failed(ctx, s, p.ID, fmt.Errorf("it does not run the call: %w", err))
		return false
	}
	r.note(s, p.ID, page.StepClaimed, "It takes the right to run the call: once, and only as it was pinned.", event,
		r.shell.claim(p.ID, p.Pin, s.runtime, event))
	return true
}

// reportAgain is how long a runtime waits before it reports once more.
const reportAgain = 500 * time.Millisecond

// report says what happened. While Redis is away it tries again: a report that comes
// twice does no harm.
func (r *demoRuntimes) report(ctx context.Context, s demoSample, report approval.Report, note string) {
	data, err := json.Marshal(report)
	if err != nil {
		r.failed(ctx, s, report.ID, err)
		return
	}
	for {
		err := r.client.Report(ctx, report)
		if err == nil {
			break
		}
		if errors.Is(err, queue.ErrUnknown) || !wait(ctx, reportAgain) {
			r.failed(ctx, s, report.ID, err)
			return
		}
	}
	r.note(s, report.ID, page.StepReported, note, data, r.shell.publish("approval.reported", data))
}

// watchUndo follows the answers for requests to undo, which come long after.
func (r *demoRuntimes) watchUndo(ctx context.Context) {
	for last := "0"; ctx.Err() == nil; {
		read, err := r.rdb.XRead(ctx, &redis.XReadArgs{Streams: []string{r.shell.keys.Answers(), last}, Block: time.Second}).Result()
		if err != nil && !errors.Is(err, redis.Nil) && !wait(ctx, time.Second) {
			return
		}
		for _, stream := range read {
			for _, m := range stream.Messages {
				last = m.ID
				if data, ok := m.Values["data"].(string); ok && m.Values["type"] == "approval.undo_requested" {
					r.undo(ctx, []byte(data))
				}
			}
		}
	}
}

// undo does what an owner asked to be undone.
func (r *demoRuntimes) undo(ctx context.Context, data []byte) {
	var request struct {
		ID   string `json:"approval_id"`
		Tool string `json:"undo_tool"`
	}
	if err := json.Unmarshal(data, &request); err != nil {
		return // written by the bot, so it is JSON; without an id there is nobody to tell
	}
	r.mu.Lock()
	s, ok := r.asked[request.ID]
	r.mu.Unlock()
	if !ok {
		return // asked by another program
	}
	r.note(s, request.ID, page.StepUndo, "The owner wants it undone, with "+request.Tool+".", data, r.shell.await(request.ID))
	if wait(ctx, r.work) {
		r.report(ctx, s, approval.Report{ID: request.ID, Outcome: approval.Undone}, "It ran "+request.Tool+", and reports that.")
	}
}

// note keeps a step.
func (r *demoRuntimes) note(s demoSample, id, step, note string, data []byte, command string) {
	r.add(page.Entry{Sample: s.Title, ID: id, Step: step, Note: note, Data: data, Command: command})
}

// failed keeps the step at which a runtime gave up, unless the demo ends.
func (r *demoRuntimes) failed(ctx context.Context, s demoSample, id string, err error) {
	if ctx.Err() == nil {
		r.note(s, id, page.StepFailed, err.Error(), nil, "")
	}
}
