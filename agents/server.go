package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools of a [Server].
const (
	ToolPermission = "permission_prompt" // in the form of Claude Code's --permission-prompt-tool
	ToolApproval   = "request_approval"
	ToolReport     = "report_outcome"
)

// progressEvery is how often a call that waits says that it does.
const progressEvery = 5 * time.Second

// A Server is an MCP server by which an agent asks. Calls wait side by side; the
// end of the connection, a cancellation by the client and the end of Run's context
// withdraw what they asked.
type Server struct {
	desk    *Desk
	session string // of this server's process, where a client names none
	every   time.Duration
	mcp     *mcp.Server

	mu    sync.Mutex
	owed  map[string]bool // approvals that were allowed here, whose outcome may be reported
	calls sync.WaitGroup
}

// NewServer returns a server. The session is a name that no other process has;
// version is the program's.
func NewServer(desk *Desk, session, version string) *Server {
	s := &Server{desk: desk, session: session, every: progressEvery, owed: map[string]bool{}}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "countersign", Title: "Countersign", Version: version}, &mcp.ServerOptions{
		Instructions: "Ask with " + ToolApproval + " before you do something that the owner should decide. " +
			"Do it only where the result says approved: true, exactly as asked, and once; then tell with " + ToolReport + " what came of it.",
		Capabilities: &mcp.ServerCapabilities{},
	})
	s.add(ToolPermission, permissionPrompt, s.permission)
	s.add(ToolApproval, requestApproval, s.approval)
	s.add(ToolReport, reportOutcome, s.report)
	return s
}

// Run serves one client until it goes or ctx ends, and waits until everything that
// was asked is withdrawn or answered. The end of ctx is no error.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error {
	serving, stop := context.WithCancel(ctx)
	s.mcp.AddReceivingMiddleware(until(serving))
	err := s.mcp.Run(serving, t)
	stop()
	s.calls.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// until ends every call with ctx: the library leaves calls alone when a server is
// stopped, and waits for them.
func until(ctx context.Context) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(call context.Context, method string, req mcp.Request) (mcp.Result, error) {
			call, cancel := context.WithCancelCause(call)
			defer cancel(nil)
			defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
			return next(call, method, req)
		}
	}
}

// A tool is what is published of one.
type tool struct {
	title, description string
	input, output      string // JSON schemas
	reads              bool   // it changes nothing by itself
}

// add adds a tool whose arguments are read here, byte for byte.
func (s *Server) add(name string, t tool, do func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
	published := &mcp.Tool{
		Name: name, Title: t.title, Description: t.description, InputSchema: json.RawMessage(t.input),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.reads, DestructiveHint: new(bool)},
	}
	if t.output != "" {
		published.OutputSchema = json.RawMessage(t.output)
	}
	s.mcp.AddTool(published, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.calls.Add(1)
		defer s.calls.Done()
		return do(ctx, req)
	})
}

const permissionInput = `{
	"type": "object",
	"properties": {
		"tool_name": {"type": "string", "description": "The tool that is to be called."},
		"input": {"type": "object", "description": "Its input, which is pinned as it is."},
		"tool_use_id": {"type": "string", "description": "The call's own id."}
	},
	"required": ["tool_name", "input"]
}`

// permissionPrompt is the tool that Claude Code calls where it would ask.
var permissionPrompt = tool{
	title:       "Permission prompt",
	description: "Asks an owner in Telegram whether a tool may be called. For the flag --permission-prompt-tool; nothing is run here.",
	input:       permissionInput,
	reads:       true,
}

// permission answers a permission prompt. Whatever goes wrong is a deny.
func (s *Server) permission(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	call, err := s.readPermission(req.Params.Arguments)
	if err != nil {
		return saying(permission{Behaviour: "deny", Message: unanswered("", err).Reason}), nil
	}
	defer s.progress(ctx, req)()
	res := s.desk.AskCall(ctx, call)
	if res.Verdict == Allowed {
		return saying(permission{Behaviour: "allow", Input: call.Input}), nil
	}
	return saying(permission{Behaviour: "deny", Message: res.Reason}), nil
}

// readPermission reads the arguments of a permission prompt.
func (s *Server) readPermission(arguments json.RawMessage) (Call, error) {
	m, err := object(arguments)
	if err != nil {
		return Call{}, fmt.Errorf("the arguments: %w", err)
	}
	call := Call{Session: s.session, Input: m["input"]}
	var ok bool
	if call.Tool, ok = m.text(fieldTool); !ok {
		return call, errors.New("the arguments: tool_name must be a string")
	}
	if raw := m[fieldCallID]; raw != nil && string(raw) != "null" {
		if call.ID, ok = m.text(fieldCallID); !ok {
			return call, errors.New("the arguments: tool_use_id must be a string")
		}
	}
	return newCall(call)
}

// progress tells the client, if it asked to be told, that its call waits. The
// function that it returns ends that.
func (s *Server) progress(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(s.every)
		defer ticker.Stop()
		for n := 0; ; n++ {
			// A client that cannot be told is one whose call ends soon.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(n), Message: "waiting for an owner's answer",
			})
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() { cancel(); <-done }
}

// saying is a result whose text is JSON.
func saying(value any) *mcp.CallToolResult {
	text := encoded(value)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text[:len(text)-1])}}}
}

// wrong is a result that says what is wrong with a call.
func wrong(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
}
