package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"countersign/simulator"
	"countersign/simulator/page"
)

// apiVisitor uses what the page's scripts use. It looks again after each change.
type apiVisitor struct {
	address string
	demo    *demo
}

func (v *apiVisitor) press(ctx context.Context, sample string) error {
	return v.post(ctx, "/api/sample", map[string]any{"sample": sample})
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
	return v.post(ctx, "/api/tap", map[string]any{"as": demoAnn, "chat": demoAnn, "message": found.MessageID, "data": key.CallbackData})
}

func (v *apiVisitor) sees(ctx context.Context, text string) error {
	return v.look(ctx, has(text))
}

// look waits until a message of Ann's direct chat fits.
func (v *apiVisitor) look(ctx context.Context, fits func(simulator.Message) bool) error {
	var failed error
	err := v.demo.sim.Wait(ctx, func() bool {
		var snap page.Snapshot
		snap, failed = v.snapshot(ctx)
		return failed != nil || slices.ContainsFunc(snap.Chats[0].Messages, fits)
	})
	return errors.Join(failed, err)
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

func (v *apiVisitor) picture(context.Context, string) error { return nil } // nothing is drawn

func (v *apiVisitor) snapshot(ctx context.Context) (page.Snapshot, error) {
	var snap page.Snapshot
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.address+"/api/snapshot", nil)
	if err != nil {
		return snap, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return snap, err
	}
	defer func() { _ = answer.Body.Close() }()
	return snap, json.NewDecoder(answer.Body).Decode(&snap)
}

func (v *apiVisitor) post(ctx context.Context, path string, body any) error {
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
	return nil
}
