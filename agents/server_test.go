package agents_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/agents"
	"countersign/approval"
	"countersign/store/storetest"
)

// A session is a client of the official library, connected to a server in an
// office.
type session struct {
	*office
	*mcp.ClientSession
	progress chan string
	gone     func() error // ends the client's side of pipes
	stop     func() error // stops the server, and returns what Run does
}

func newSession(t *testing.T, serve bool) *session { return connect(t, serve, false) }

// connect connects in memory, or by pipes, of which the client can let go.
func connect(t *testing.T, serve, piped bool) *session {
	t.Helper()
	s := &session{office: newOffice(t, storetest.Embedded(t), serve), progress: make(chan string, 100)}
	server := agents.NewServer(s.desk, "mcp-1", "test")
	server.SetProgress(5 * time.Millisecond)
	near, far := s.transports(piped)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, far) }()
	s.stop = sync.OnceValue(func() error { cancel(); return <-done })
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			select {
			case s.progress <- r.Params.Message:
			default:
			}
		},
	})
	var err error
	if s.ClientSession, err = client.Connect(within(t), near, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		cancel()
	})
	return s
}

func (s *session) transports(piped bool) (near, far mcp.Transport) {
	if !piped {
		return mcp.NewInMemoryTransports()
	}
	in, toServer := io.Pipe()
	out, toClient := io.Pipe()
	s.gone = toServer.Close
	return &mcp.IOTransport{Reader: out, Writer: toServer}, &mcp.IOTransport{Reader: in, Writer: toClient}
}

// call calls a tool with arguments as they stand.
func (s *session) call(ctx context.Context, tool, arguments string) (*mcp.CallToolResult, error) {
	p := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
	p.SetProgressToken("p-1")
	return s.CallTool(ctx, p)
}

// text is the one text of a result.
func text(t *testing.T, r *mcp.CallToolResult, err error) string {
	t.Helper()
	if err != nil || len(r.Content) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

type called struct {
	result *mcp.CallToolResult
	err    error
}

// calling calls in the background.
func (s *session) calling(ctx context.Context, tool, arguments string) <-chan called {
	return asking(func() called {
		r, err := s.call(ctx, tool, arguments)
		return called{r, err}
	})
}

const prompt = `{"tool_name": "Bash", "input": {"command": "rm -rf build", "n": 1.50}, "tool_use_id": "t-1"}`

func TestServerTools(t *testing.T) {
	s := newSession(t, false)
	list, err := s.ListTools(within(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"permission_prompt", "report_outcome", "request_approval"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestPermissionPrompt(t *testing.T) {
	for _, test := range []struct {
		decision approval.Decision
		reason   string
		want     string
	}{
		{approval.DecisionApproved, "", `{"behavior":"allow","updatedInput":{"command": "rm -rf build", "n": 1.50}}`},
		{approval.DecisionRejected, "not now", `{"behavior":"deny","message":"the owner rejected this: Run: rm -rf build (reason: not now); nothing was changed, sent or deleted"}`},
	} {
		t.Run(string(test.decision), func(t *testing.T) {
			t.Parallel()
			s := newSession(t, true)
			result := s.calling(within(t), agents.ToolPermission, prompt)
			r := s.open()
			for range 3 {
				if message := <-s.progress; message != "waiting for an owner's answer" {
					t.Errorf("progress says %q", message)
				}
			}
			s.decide(r, test.decision, test.reason)
			got := <-result
			if diff := cmp.Diff(value(t, []byte(test.want)), value(t, []byte(text(t, got.result, got.err)))); diff != "" {
				t.Errorf("(-want +answered):\n%s", diff)
			}
			if test.decision == approval.DecisionApproved {
				s.becomes(r.Row.ID, approval.Claimed)
			}
		})
	}
}

// Whatever goes wrong, a permission prompt says deny in the form that is expected.
func TestPermissionPromptDenies(t *testing.T) {
	for name, test := range map[string]struct {
		arguments, want string
		prepare         func(s *session)
	}{
		"nobody serves":      {prompt, "no bot is serving", func(s *session) { s.Advance(s.t, time.Minute) }},
		"Redis is away":      {prompt, "LOADING", func(s *session) { s.Fail("LOADING") }},
		"no tool":            {`{"input": {}}`, "tool_name must be a string", nil},
		"no input":           {`{"tool_name": "Bash"}`, "the tool's input", nil},
		"an input of text":   {`{"tool_name": "Bash", "input": "rm"}`, "must be a JSON object", nil},
		"a command twice":    {`{"tool_name": "Bash", "input": {"command": "rm", "command": "ls"}}`, "given twice", nil},
		"an id of numbers":   {`{"tool_name": "Bash", "input": {}, "tool_use_id": 7}`, "tool_use_id must be a string", nil},
		"an empty tool name": {`{"tool_name": "", "input": {}}`, "tool_name is missing", nil},
		"a list":             {`[]`, "must be a JSON object", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, false)
			if test.prepare != nil {
				test.prepare(s)
			}
			result, err := s.call(within(t), agents.ToolPermission, test.arguments)
			s.Fail("")
			var got struct{ Behavior, Message string }
			if err := json.Unmarshal([]byte(text(t, result, err)), &got); err != nil {
				t.Fatal(err)
			}
			if got.Behavior != "deny" || !strings.Contains(got.Message, test.want) {
				t.Errorf("answered %+v, want deny: %s", got, test.want)
			}
		})
	}
}

// A client that cancels its call withdraws what was asked.
func TestServerCancelled(t *testing.T) {
	for _, tool := range []string{agents.ToolPermission, agents.ToolApproval} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, true)
			ctx, cancel := context.WithCancel(within(t))
			arguments := prompt
			if tool == agents.ToolApproval {
				arguments = wanted
			}
			result := s.calling(ctx, tool, arguments)
			r := s.open()
			cancel()
			if got := <-result; got.err == nil {
				t.Errorf("answered %+v", got.result)
			}
			s.becomes(r.Row.ID, approval.Withdrawn)
		})
	}
}

// A client that goes, or a server that is stopped, leaves no card that asks.
func TestServerEnds(t *testing.T) {
	for name, end := range map[string]func(s *session){
		"the client goes":       func(s *session) { _ = s.gone() },
		"the server is stopped": func(s *session) { _ = s.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, true, true)
			result := s.calling(within(t), agents.ToolPermission, prompt)
			r := s.open()
			end(s)
			if got := <-result; got.err == nil && !strings.Contains(text(t, got.result, nil), "deny") {
				t.Errorf("answered %+v", got.result)
			}
			s.becomes(r.Row.ID, approval.Withdrawn)
			if err := s.stop(); err != nil {
				t.Errorf("the server ended with %v", err)
			}
		})
	}
}

// wanted asks for what an agent describes itself.
const wanted = `{"title": "Trash 2 emails", "lines": ["Big sale", "Last chance"], "tool": "trash_email",
	"arguments": {"ids": ["m1", "m2"]}, "action": "Trash them", "request": "Tidy my mail", "expires_in": 30}`

func TestRequestApproval(t *testing.T) {
	t.Parallel()
	s := newSession(t, true)
	result := s.calling(within(t), agents.ToolApproval, wanted)
	r := s.open()
	q := r.Row.Request
	if q.Effect != approval.Destructive || q.Risk.Facts != nil || q.Card.Title != "Trash 2 emails" || len(q.Card.Lines) != 2 ||
		q.Card.Action != "Trash them" || q.Card.Request != "Tidy my mail" || q.Expiry.In != 30*time.Second || q.Session != "mcp-1" {
		t.Errorf("asked %+v", q)
	}
	s.decide(r, approval.DecisionApproved, "")
	got := <-result
	want := `{"approved": true, "decision": "approved", "observation": "this was approved: Trash 2 emails", "approval_id": "` + r.Row.ID + `",
		"by": "Ann", "tool": "trash_email", "arguments": {"ids": ["m1", "m2"]}}`
	if diff := cmp.Diff(value(t, []byte(want)), value(t, []byte(text(t, got.result, got.err)))); diff != "" {
		t.Errorf("(-want +answered):\n%s", diff)
	}
	if diff := cmp.Diff(value(t, []byte(want)), got.result.StructuredContent); diff != "" {
		t.Errorf("(-want +structured):\n%s", diff)
	}
	s.becomes(r.Row.ID, approval.Claimed)

	done, err := s.call(within(t), agents.ToolReport, `{"approval_id": "`+r.Row.ID+`", "outcome": "partial", "message": "One was gone."}`)
	if got := text(t, done, err); got != "Reported." || done.IsError {
		t.Errorf("answered %q", got)
	}
	s.becomes(r.Row.ID, approval.Partial)
}

func TestRequestApprovalDeclined(t *testing.T) {
	t.Parallel()
	s := newSession(t, true)
	result := s.calling(within(t), agents.ToolApproval, wanted)
	r := s.open()
	s.decide(r, approval.DecisionRejected, "keep them")
	got := <-result
	var answer struct {
		Approved              bool
		Decision, Observation string
		Arguments             json.RawMessage
	}
	if err := json.Unmarshal([]byte(text(t, got.result, got.err)), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Approved || answer.Decision != "rejected" || !strings.Contains(answer.Observation, "keep them") || answer.Arguments != nil {
		t.Errorf("answered %+v", answer)
	}
	// What was not approved has no outcome to report.
	refused, err := s.call(within(t), agents.ToolReport, `{"approval_id": "`+r.Row.ID+`", "outcome": "executed"}`)
	if got := text(t, refused, err); !refused.IsError || !strings.Contains(got, "was not approved in this session") {
		t.Errorf("answered %q", got)
	}
}

// Approved is true of nothing that was not both approved and claimed.
func TestRequestApprovalUnclaimed(t *testing.T) {
	t.Parallel()
	s := newSession(t, true)
	result := s.calling(within(t), agents.ToolApproval, wanted)
	r := s.open()
	if err := s.Client().Set(t.Context(), s.Keys().Claim(r.Row.ID), "no hash", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.decide(r, approval.DecisionApproved, "")
	got := <-result
	answer := text(t, got.result, got.err)
	if !strings.Contains(answer, `"approved":false`) || !strings.Contains(answer, `"decision":"unanswered"`) || strings.Contains(answer, "m1") {
		t.Errorf("answered %s", answer)
	}
}

func TestServerRefuses(t *testing.T) {
	s := newSession(t, false)
	for _, test := range []struct{ tool, arguments, want string }{
		{agents.ToolApproval, `{"title": "T", "tool": "x"}`, "arguments: required"},
		{agents.ToolApproval, `{"title": "T", "tool": "x", "arguments": {}, "effect": "write"}`, "no such argument"},
		{agents.ToolApproval, `{"title": "T", "tool": "x", "arguments": {}, "approval_id": "a1"}`, "no such argument"},
		{agents.ToolApproval, `{"title": "T", "title": "U", "tool": "x", "arguments": {}}`, "given twice"},
		{agents.ToolApproval, `{"title": 7, "tool": "x", "arguments": {}}`, "title"},
		{agents.ToolApproval, `{"title": "T", "tool": "x", "arguments": {}, "lines": "one"}`, "lines"},
		{agents.ToolApproval, `{"title": "T", "tool": "x", "arguments": {}, "expires_in": 3600}`, "at most 60 seconds"},
		{agents.ToolApproval, `{"title": "T", "tool": "x", "arguments": {}, "expires_in": 0}`, "at least 5 seconds"},
		{agents.ToolApproval, `{"title": "T", "tool": "x", "arguments": {}, "expires_in": -1}`, "at least 5 seconds"},
		{agents.ToolReport, `{"outcome": "executed"}`, "was not approved"},
		{agents.ToolReport, `{"approval_id": "a1", "outcome": "executed", "results": []}`, "no such argument"},
		{agents.ToolReport, `7`, "must be a JSON object"},
	} {
		r, err := s.call(within(t), test.tool, test.arguments)
		if got := text(t, r, err); !r.IsError || !strings.Contains(got, test.want) {
			t.Errorf("%s %s: answered %q, want %q", test.tool, test.arguments, got, test.want)
		}
	}
	// What only the rules of an event forbid is found before anything is published.
	r, err := s.call(within(t), agents.ToolApproval, `{"title": "", "tool": "x", "arguments": {"a": 1}}`)
	if got := text(t, r, err); !strings.Contains(got, `"approved":false`) || !strings.Contains(got, "card.title") {
		t.Errorf("answered %q", got)
	}
	if n := s.Client().XLen(t.Context(), s.Keys().Requests()).Val(); n != 0 {
		t.Errorf("%d entries were published", n)
	}
}
