package main

// What docs/go.md shows of Go, as it stands there.

import (
	"context"
	"errors"

	"countersign/approval"
	"countersign/queue"
)

// cleanUp asks before it deletes, and deletes only what was approved.
func cleanUp(ctx context.Context, client *queue.Client, remove func(queue.Answer) error) error {
	request, err := queue.Ask{
		ID: "mail-3", Runtime: "mail-script", Tool: "trash_email", Arguments: []byte(`{"ids":["m5","m6"]}`),
		Card: queue.AskCard{
			Title: "Trash 2 emails", Lines: []string{"Big sale", "Last chance"},
			UndoTool: "restore_email", UndoDays: 30,
		},
	}.Request()
	if err != nil {
		return err
	}
	pending, err := client.Request(ctx, request)
	if err != nil {
		return err // nobody would be asked
	}
	answer, err := client.Await(ctx, pending)
	if err != nil {
		return err
	}
	if answer.Decision != approval.DecisionApproved {
		return errors.New(answer.Observation) // one plain sentence for the model
	}
	if err := client.Claim(ctx, pending.ID, pending.Pin, "worker-1"); err != nil {
		return err // somebody else runs it
	}
	if err := remove(answer); err != nil {
		return errors.Join(err, client.Report(ctx, approval.Report{ID: pending.ID, Outcome: approval.Failed}))
	}
	return client.Report(ctx, approval.Report{ID: pending.ID, Outcome: approval.Executed})
}

// putBack waits until an owner taps Undo, which may never be: ctx says for how long.
func putBack(ctx context.Context, client *queue.Client, id string, restore func(queue.Undo) error) error {
	undo, err := client.AwaitUndo(ctx, id)
	if err != nil {
		return err
	}
	if err := restore(undo); err != nil {
		return err
	}
	return client.Report(ctx, approval.Report{ID: id, Outcome: approval.Undone})
}
