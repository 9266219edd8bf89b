package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/approval"
	"countersign/queue"
)

const approvalInput = `{
	"type": "object",
	"properties": {
		"title": {"type": "string", "maxLength": 200, "description": "The action named, e.g. Trash 3 emails."},
		"lines": {"type": "array", "maxItems": 5000, "items": {"type": "string", "maxLength": 1000}, "description": "One line for each item that it concerns."},
		"tool": {"type": "string", "maxLength": 200, "description": "What will be called once it is approved."},
		"arguments": {"type": "object", "description": "With exactly these arguments, which are pinned."},
		"action": {"type": "string", "maxLength": 60, "description": "The text of the button, e.g. Trash them."},
		"request": {"type": "string", "maxLength": 2000, "description": "What the owner asked for, in the owner's words."},
		"expires_in": {"type": "number", "minimum": 5, "description": "How many seconds the owner has to answer."}
	},
	"required": ["title", "tool", "arguments"],
	"additionalProperties": false
}`

const approvalOutput = `{
	"type": "object",
	"properties": {
		"approved": {"type": "boolean", "description": "True only if this very call was approved and may run now, once."},
		"decision": {"enum": ["approved", "rejected", "lapsed", "withdrawn", "refused", "unanswered"]},
		"observation": {"type": "string", "description": "What happened, in a sentence."},
		"approval_id": {"type": "string"},
		"by": {"type": "string", "description": "Who answered."},
		"tool": {"type": "string"},
		"arguments": {"type": "object", "description": "What was approved: run this, and nothing else."}
	},
	"required": ["approved", "decision", "observation"]
}`

// requestApproval is the tool by which an agent asks by itself.
var requestApproval = tool{
	title: "Request approval",
	description: "Asks the owner in Telegram to approve one call before it is made, and waits for the answer. " +
		"Go on only if approved is true.",
	input: approvalInput, output: approvalOutput, reads: true,
}

// An approvalResult is what it returns.
type approvalResult struct {
	Approved    bool            `json:"approved"`
	Decision    string          `json:"decision"`
	Observation string          `json:"observation"`
	Approval    string          `json:"approval_id,omitempty"`
	By          string          `json:"by,omitempty"`
	Tool        string          `json:"tool,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty"`
}

// approval asks for what an agent describes itself. What it says of the risk would
// be the model's word, so it says nothing: the request counts as destructive and
// unvetted, and no policy passes it.
func (s *Server) approval(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ask, err := s.readApproval(req.Params.Arguments)
	if err != nil {
		return wrong(err), nil
	}
	stop := s.progress(ctx, req)
	res := s.desk.Ask(ctx, ask)
	stop()
	out := approvalResult{
		Decision: string(res.Decision), Observation: res.Reason, Approval: res.Approval, By: res.By,
		Approved: res.Verdict == Allowed,
	}
	switch {
	case out.Approved:
		out.Tool, out.Arguments = ask.Tool, ask.Arguments
		s.mu.Lock()
		s.owed[res.Approval] = true
		s.mu.Unlock()
	case out.Decision == "" || out.Decision == string(approval.DecisionApproved):
		out.Decision = string(Unanswered) // also approved, but not to be run
	}
	result := saying(out)
	result.StructuredContent = out
	return result, nil
}

// readApproval reads the arguments of a request. The rules of an event are checked
// before it is published.
func (s *Server) readApproval(arguments json.RawMessage) (queue.Ask, error) {
	m, err := object(arguments)
	if err != nil {
		return queue.Ask{}, fmt.Errorf("the arguments: %w", err)
	}
	ask := queue.Ask{
		Session: s.session, Effect: approval.Destructive, Arguments: m["arguments"],
		ExpiresIn: s.desk.Within.Seconds(),
	}
	delete(m, "arguments")
	if err := decoded(m, map[string]any{
		"title": &ask.Card.Title, "lines": &ask.Card.Lines, "tool": &ask.Tool, "action": &ask.Card.Action,
		"request": &ask.Card.Request, "expires_in": &ask.ExpiresIn,
	}); err != nil {
		return ask, err
	}
	switch {
	case ask.Arguments == nil:
		return ask, errors.New("arguments: required")
	case ask.ExpiresIn > s.desk.Within.Seconds():
		return ask, fmt.Errorf("expires_in: at most %g seconds here", s.desk.Within.Seconds())
	case ask.ExpiresIn < leastWait.Seconds():
		return ask, fmt.Errorf("expires_in: at least %g seconds", leastWait.Seconds())
	}
	return ask, nil
}

// leastWait is the shortest time that a request can give an owner.
const leastWait = 5 * time.Second

// decoded reads fields by their exact names, and refuses any other.
func decoded(m members, into map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		to, known := into[name]
		if !known {
			return fmt.Errorf("%.40q: there is no such argument", name)
		}
		if err := json.Unmarshal(m[name], to); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

const reportInput = `{
	"type": "object",
	"properties": {
		"approval_id": {"type": "string", "description": "From the result of request_approval."},
		"outcome": {"enum": ["executed", "failed", "partial"]},
		"message": {"type": "string", "maxLength": 2000, "description": "What the owner should know of it."}
	},
	"required": ["approval_id", "outcome"],
	"additionalProperties": false
}`

// reportOutcome is the tool by which an agent says what came of its call.
var reportOutcome = tool{
	title:       "Report outcome",
	description: "Says what came of a call that was approved with request_approval, so that the owner's card shows it.",
	input:       reportInput,
}

// report reports on an approval that this server asked for.
func (s *Server) report(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	m, err := object(req.Params.Arguments)
	if err != nil {
		return wrong(fmt.Errorf("the arguments: %w", err)), nil
	}
	var report approval.Report
	if err := decoded(m, map[string]any{
		"approval_id": &report.ID, "outcome": &report.Outcome, "message": &report.Message,
	}); err != nil {
		return wrong(err), nil
	}
	s.mu.Lock()
	owed := s.owed[report.ID]
	s.mu.Unlock()
	switch {
	case !owed:
		return wrong(fmt.Errorf("approval_id: %.40q was not approved in this session", report.ID)), nil
	case !slices.Contains([]approval.State{approval.Executed, approval.Failed, approval.Partial}, report.Outcome):
		return wrong(errors.New("outcome: want executed, failed or partial")), nil
	}
	bounded, cancel := context.WithTimeout(ctx, Grace)
	defer cancel()
	if err := s.desk.Client.Report(bounded, report); err != nil {
		return wrong(fmt.Errorf("not reported: %w", err)), nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Reported."}}}, nil
}
