package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/config"
	"countersign/queue"
	"countersign/simulator/page"
)

// demoWork is how long the runtimes pretend to work, so that each state of a card can be
// seen.
const demoWork = 1500 * time.Millisecond

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
}

func newDemoRuntimes(rdb redis.UniversalClient, c config.Redis, now func() time.Time) *demoRuntimes {
	return &demoRuntimes{
		demoJournal: newDemoJournal(now),
		client:      queue.NewClient(rdb, c.Namespace), rdb: rdb, shell: newDemoShell(c),
		samples: demoSamples(), tasks: make(chan func(context.Context)), work: demoWork, asked: map[string]demoSample{},
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
	r.mu.Unlock()
	data, err := s.data(id)
	if err != nil {
		return queue.Pending{}, err
	}
	p, err := r.client.Request(ctx, queue.Request{Data: data, NoCheck: s.malformed})
	if err != nil {
		return p, err
	}
	r.note(s, id, page.StepPublished, "The runtime asks.", data, r.shell.publish("approval.requested", data))
	return p, nil
}

// follow waits for the answer, and does what a runtime does then.
func (r *demoRuntimes) follow(ctx context.Context, s demoSample, p queue.Pending) {
	r.note(s, p.ID, page.StepWaiting, "It waits for the answer, and does nothing until then.", nil, r.shell.await(p.ID))
	answer, err := r.client.Await(ctx, p)
	if err != nil {
		r.failed(ctx, s, p.ID, err)
		return
	}
	note := answer.Observation
	if note == "" {
		note = "It may run the call."
	}
	r.note(s, p.ID, page.StepAnswered, note, answer.Data, r.shell.await(p.ID))
	if answer.Decision != approval.DecisionApproved {
		return
	}
	if err := r.client.Claim(ctx, p.ID, p.Pin, s.runtime); err != nil {
		r.failed(ctx, s, p.ID, err)
		return
	}
	r.note(s, p.ID, page.StepClaimed, "It takes the right to run the call, which can be taken once.", nil, r.shell.claim(p.ID, p.Pin, s.runtime))
	if wait(ctx, r.work) {
		r.report(ctx, s, s.outcome(p.ID))
	}
}

// report says what happened.
func (r *demoRuntimes) report(ctx context.Context, s demoSample, report approval.Report) {
	data, err := json.Marshal(report)
	if err == nil {
		err = r.client.Report(ctx, report)
	}
	if err != nil {
		r.failed(ctx, s, report.ID, err)
		return
	}
	r.note(s, report.ID, page.StepReported, "It reports: "+string(report.Outcome)+".", data, r.shell.publish("approval.reported", data))
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
	r.note(s, request.ID, page.StepUndo, "The owner wants it undone, with "+request.Tool+".", data, r.shell.follow())
	if wait(ctx, r.work) {
		r.report(ctx, s, approval.Report{ID: request.ID, Outcome: approval.Undone})
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
