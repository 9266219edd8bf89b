package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"countersign/approval"
	"countersign/queue"
)

// longestError is how much of an error a report repeats, in characters.
const longestError = 500

// Reports reports whether an event tells what became of a call.
func (e Event) Reports() bool { return e.Name == afterCall || e.Name == afterFailure }

// After reports what became of a call that was asked. A call that ran without an
// approval is reported too, which alarms every owner, unless whoever sits at the
// agent may have been asked instead. Of a call that was never asked there is
// nothing to say.
func (h *Hook) After(ctx context.Context, e Event) error {
	id := h.Desk.id(e.Call)
	if id == "" {
		return nil
	}
	row, err := h.Desk.Client.Row(ctx, id)
	switch {
	case errors.Is(err, queue.ErrUnknown):
		return nil
	case err != nil:
		return err
	case !row.State.WasApproved() && h.Otherwise == Ask:
		return nil
	}
	report := e.outcome(id)
	if pin, err := e.Call.pin(); err != nil || pin != row.Pin {
		report.Message = strings.TrimSpace("The agent tells of other arguments than were approved. " + report.Message)
	}
	if !row.State.WasApproved() && report.Outcome == approval.Failed {
		return nil // it did not run, and nobody had said that it may
	}
	return h.Desk.Client.Report(ctx, report)
}

// outcome is the report that an event makes.
func (e Event) outcome(id string) approval.Report {
	r := approval.Report{ID: id, Outcome: approval.Executed}
	switch interrupted, _ := e.response.flag("interrupted"); {
	case e.interrupted || interrupted:
		r.Outcome, r.Message = approval.Partial, "It was interrupted."
	case e.Name == afterFailure:
		r.Outcome, r.Message = approval.Failed, cut(e.failure)
	case string(e.response["success"]) == "false":
		r.Outcome = approval.Failed
	case len(e.response["backgroundTaskId"]) > 0 && string(e.response["backgroundTaskId"]) != "null":
		r.Message = "It was started, and goes on in the background."
	}
	return r
}

// cut is the beginning of an error.
func cut(text string) string {
	runes := []rune(strings.TrimSpace(text))
	if len(runes) <= longestError {
		return string(runes)
	}
	return fmt.Sprintf("%s… (%d characters more)", string(runes[:longestError]), len(runes)-longestError)
}
