package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"countersign/simulator"
	"countersign/simulator/page"
)

// apiVisitor uses what the page's scripts use. It looks again after each change.
type apiVisitor struct {
	address      string
	demo         *demo
	person, chat int64
	callback     string // of the newest tap
}

// newAPIVisitor is Ann in her direct chat at first.
func newAPIVisitor(d *demo, address string) *apiVisitor {
	return &apiVisitor{demo: d, address: address, person: demoAnn, chat: demoAnn}
}

func (v *apiVisitor) under(ctx context.Context) context.Context { return ctx }

func (v *apiVisitor) be(_ context.Context, person, chat int64, _ int) error {
	v.person, v.chat = person, chat
	return nil
}

func (v *apiVisitor) press(ctx context.Context, sample string) error {
	return v.post(ctx, "/api/sample", map[string]any{"sample": sample}, nil)
}

func (v *apiVisitor) strike(ctx context.Context, fault string) error {
	snap, err := v.snapshot(ctx)
	if err != nil {
		return err
	}
	on := slices.ContainsFunc(snap.Board.Faults, func(f page.Fault) bool { return f.Name == fault && f.On })
	return v.post(ctx, "/api/fault", map[string]any{"fault": fault, "end": on}, nil)
}

func (v *apiVisitor) tap(ctx context.Context, card, button string) error {
	var found simulator.Message
	var key simulator.Button
	err := v.look(ctx, func(m simulator.Message) (ok bool) {
		found = m
		key, ok = m.Button(button)
		return ok && strings.Contains(m.Text, card)
	})
	if err != nil {
		return fmt.Errorf("wait for %q on %q: %w", button, card, err)
	}
	var answer struct{ Callback string }
	err = v.post(ctx, "/api/tap", map[string]any{"as": v.person, "chat": v.chat, "message": found.MessageID, "data": key.CallbackData}, &answer)
	v.callback = answer.Callback
	return err
}

func (v *apiVisitor) sees(ctx context.Context, text string) error {
	return v.look(ctx, has(text))
}

func (v *apiVisitor) asked(ctx context.Context, text string) error {
	return v.look(ctx, func(m simulator.Message) bool {
		_, asks := m.Button("Reject")
		return asks && strings.Contains(m.Text, text)
	})
}

func (v *apiVisitor) told(ctx context.Context, text string) error {
	answer, err := v.demo.sim.WaitAnswer(ctx, v.callback)
	if err == nil && !strings.Contains(answer.Text, text) {
		err = fmt.Errorf("told %q, not %q", answer.Text, text)
	}
	return err
}

// look waits until a message of the chat fits.
func (v *apiVisitor) look(ctx context.Context, fits func(simulator.Message) bool) error {
	var failed error
	err := v.demo.sim.Wait(ctx, func() bool {
		var snap page.Snapshot
		snap, failed = v.snapshot(ctx)
		return failed != nil || slices.ContainsFunc(snap.Chats, func(c simulator.ChatView) bool {
			return c.Chat.ID == v.chat && slices.ContainsFunc(c.Messages, fits)
		})
	})
	if failed != nil {
		return failed
	}
	return err
}

func (v *apiVisitor) decision(ctx context.Context, sample string) (string, error) {
	for {
		_, news := v.demo.runtimes.Log(0)
		snap, err := v.snapshot(ctx)
		if err != nil {
			return "", err
		}
		for _, e := range snap.Entries {
			if !step(sample, page.StepAnswered)(e) {
				continue
			}
			var answer struct{ Decision string }
			err := json.Unmarshal(e.Data, &answer)
			return answer.Decision, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

func (v *apiVisitor) part(ctx context.Context, name, state string) error {
	return v.board(ctx, func(b page.Board) bool {
		return slices.ContainsFunc(b.Parts, func(p page.Part) bool { return p.Name == name && strings.HasPrefix(p.State, state) })
	})
}

func (v *apiVisitor) happened(ctx context.Context, text string) error {
	return v.board(ctx, func(b page.Board) bool {
		return slices.ContainsFunc(b.Log, func(h page.Happening) bool { return strings.Contains(h.Text, text) })
	})
}

// board waits until the board fits.
func (v *apiVisitor) board(ctx context.Context, fits func(page.Board) bool) error {
	for {
		_, turned := v.demo.faults.Board()
		snap, err := v.snapshot(ctx)
		if err != nil || fits(snap.Board) {
			return err
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (v *apiVisitor) snapshot(ctx context.Context) (page.Snapshot, error) {
	var snap page.Snapshot
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/snapshot?as=%d", v.address, v.person), nil)
	if err != nil {
		return snap, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return snap, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return snap, fmt.Errorf("look: %s", answer.Status)
	}
	return snap, json.NewDecoder(answer.Body).Decode(&snap)
}

// post posts a body and reads the answer into result, unless that is nil.
func (v *apiVisitor) post(ctx context.Context, path string, body, result any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.address+path, strings.NewReader(string(data)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("POST %s: %s", path, answer.Status)
	}
	if result == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(result)
}
