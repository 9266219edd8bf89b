package agents_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/agents"
	"countersign/approval"
	"countersign/store/storetest"
)

// input is what Claude Code gives a hook, in the shape that its documentation shows.
const input = `{
	"session_id": "s-1", "transcript_path": "/home/ann/.claude/t.jsonl", "cwd": "/home/ann/shop",
	"permission_mode": %q, "hook_event_name": %q, "tool_name": "Bash",
	"tool_input": {"command": "rm -rf build", "description": "Tidy up"}, "tool_use_id": "t-1"%s
}`

func event(t *testing.T, name, mode, more string) agents.Event {
	t.Helper()
	e, err := agents.ReadEvent(fmt.Appendf(nil, input, mode, name, more))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What a hook prints in each event for each verdict. Nothing but an allowed call
// is allowed.
func TestSay(t *testing.T) {
	const pinned = `{"command": "rm -rf build", "description": "Tidy up"}`
	for _, test := range []struct {
		event, mode string
		verdict     agents.Verdict
		otherwise   agents.Fallback
		want        string
	}{
		{"PreToolUse", "default", agents.Allowed, agents.Deny, `{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"why","updatedInput":` + pinned + `}`},
		{"PreToolUse", "default", agents.Declined, agents.Deny, `{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}`},
		{"PreToolUse", "default", agents.Declined, agents.Ask, `{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}`},
		{"PreToolUse", "default", agents.Unanswered, agents.Deny, `{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}`},
		{"PreToolUse", "default", agents.Unanswered, agents.Ask, `{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why"}`},
		{"PreToolUse", "", agents.Unanswered, agents.Ask, `{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why"}`},
		{"PreToolUse", "bypassPermissions", agents.Unanswered, agents.Ask, `{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}`},
		{"PreToolUse", "dontAsk", agents.Unanswered, agents.Ask, `{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}`},
		{"PreToolUse", "default", "", "", `{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}`},
		{"PermissionRequest", "default", agents.Allowed, agents.Deny, `{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":` + pinned + `}}`},
		{"PermissionRequest", "default", agents.Declined, agents.Ask, `{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"why"}}`},
		{"PermissionRequest", "default", agents.Unanswered, agents.Deny, `{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"why"}}`},
		{"PermissionRequest", "default", agents.Unanswered, agents.Ask, ``},
	} {
		hook := &agents.Hook{Otherwise: test.otherwise}
		got := hook.Say(event(t, test.event, test.mode, ""), agents.Result{Verdict: test.verdict, Reason: "why"})
		if test.want == "" {
			if len(got) != 0 {
				t.Errorf("%+v: printed %s", test, got)
			}
			continue
		}
		if diff := cmp.Diff(value(t, []byte(`{"hookSpecificOutput":`+test.want+`}`)), value(t, got)); diff != "" {
			t.Errorf("%+v (-want +printed):\n%s", test, diff)
		}
	}
}

func value(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// What is no event is an error, and never a decision.
func TestReadEventRefuses(t *testing.T) {
	good := fmt.Sprintf(input, "default", "PreToolUse", "")
	if _, err := agents.ReadEvent([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ data, want string }{
		"nothing":           {"", "not JSON"},
		"a list":            {"[]", "must be a JSON object"},
		"two values":        {good + good, "one JSON value"},
		"cut short":         {good[:len(good)-5], "not JSON"},
		"no event":          {strings.Replace(good, "hook_event_name", "event", 1), "hook_event_name is missing"},
		"another event":     {strings.Replace(good, "PreToolUse", "Stop", 1), "no hook for"},
		"no tool":           {strings.Replace(good, "tool_name", "tool", 1), "tool_name is missing"},
		"an empty tool":     {strings.Replace(good, `"Bash"`, `""`, 1), "tool_name is missing"},
		"a long tool":       {strings.Replace(good, "Bash", strings.Repeat("x", 201), 1), "over 200"},
		"a tool of numbers": {strings.Replace(good, `"Bash"`, `7`, 1), "tool_name must be a string"},
		"another name":      {strings.Replace(good, `"tool_name"`, `"Tool_Name"`, 1), "tool_name is missing"},
		"a tool twice":      {strings.Replace(good, `"tool_name"`, `"tool_name": "Read", "tool_name"`, 1), "given twice"},
		"an input twice":    {strings.Replace(good, `"command"`, `"command": "ls", "command"`, 1), "given twice"},
		"no input":          {strings.Replace(good, "tool_input", "input", 1), "not JSON"},
		"an input of text":  {strings.Replace(good, `{"command": "rm -rf build", "description": "Tidy up"}`, `"rm"`, 1), "must be a JSON object"},
		"half a character":  {strings.Replace(good, "Tidy up", `\ud83d`, 1), "surrogate"},
		"an id of numbers":  {strings.Replace(good, `"t-1"`, `1`, 1), "tool_use_id must be a string"},
		"too deep":          {strings.Replace(good, `"Tidy up"`, strings.Repeat("[", 40)+strings.Repeat("]", 40), 1), "nested"},
		"too much":          {strings.Replace(good, "Tidy up", strings.Repeat("x", agents.MaxEvent), 1), "over 8 MiB"},
	} {
		if _, err := agents.ReadEvent([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
	}
}

// A hook leaves alone exactly what it is told to.
func TestPasses(t *testing.T) {
	hook := &agents.Hook{Pass: append(agents.Passed(), "mcp__docs__read")}
	for tool, want := range map[string]bool{
		"Read": true, "Glob": true, "AskUserQuestion": true, "mcp__docs__read": true,
		"Bash": false, "Write": false, "read": false, "Read ": false, "mcp__docs__read_all": false, "": false,
	} {
		if got := hook.Passes(agents.Event{Call: agents.Call{Tool: tool}}); got != want {
			t.Errorf("%q passes: %v, want %v", tool, got, want)
		}
	}
}

// The whole way of a hook: asked, approved, claimed, run, reported.
func TestHookReports(t *testing.T) {
	for name, test := range map[string]struct {
		event, more string
		want        approval.State
		message     string
	}{
		"ran":            {"PostToolUse", `, "tool_response": {"stdout": "", "stderr": "", "interrupted": false}`, approval.Executed, ""},
		"ran, in words":  {"PostToolUse", `, "tool_response": "done"`, approval.Executed, ""},
		"interrupted":    {"PostToolUse", `, "tool_response": {"interrupted": true}`, approval.Partial, "It was interrupted."},
		"goes on":        {"PostToolUse", `, "tool_response": {"backgroundTaskId": "b1"}`, approval.Executed, "It was started, and goes on in the background."},
		"said no":        {"PostToolUse", `, "tool_response": {"success": false}`, approval.Failed, ""},
		"failed":         {"PostToolUseFailure", `, "error": "Exit code 1\nno such file", "is_interrupt": false`, approval.Failed, "Exit code 1\nno such file"},
		"was broken off": {"PostToolUseFailure", `, "error": "x", "is_interrupt": true`, approval.Partial, "It was interrupted."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, storetest.Embedded(t), true)
			printed := asking(func() []byte { return o.hook.Before(within(t), event(t, "PreToolUse", "default", "")) })
			r := o.open()
			o.decide(r, approval.DecisionApproved, "")
			if got := string(<-printed); !strings.Contains(got, `"permissionDecision":"allow"`) {
				t.Fatalf("printed %s", got)
			}
			if err := o.hook.After(within(t), event(t, test.event, "default", test.more)); err != nil {
				t.Fatal(err)
			}
			o.becomes(r.Row.ID, test.want)
			if got := storetest.Read(t, o.store, r.Row.ID).Row.Report; got == nil || got.Message != test.message {
				t.Errorf("reported %+v, want %q", got, test.message)
			}
		})
	}
}

// What ran otherwise than it was approved is said.
func TestHookReportsOtherArguments(t *testing.T) {
	o := newOffice(t, storetest.Embedded(t), true)
	printed := asking(func() []byte { return o.hook.Before(within(t), event(t, "PreToolUse", "default", "")) })
	r := o.open()
	o.decide(r, approval.DecisionApproved, "")
	<-printed
	e := event(t, "PostToolUse", "default", "")
	e.Call.Input = []byte(`{"command": "rm -rf /"}`)
	if err := o.hook.After(within(t), e); err != nil {
		t.Fatal(err)
	}
	o.becomes(r.Row.ID, approval.Executed)
	if got := storetest.Read(t, o.store, r.Row.ID).Row.Report.Message; !strings.Contains(got, "other arguments than were approved") {
		t.Errorf("reported %q", got)
	}
}

// A call that ran all the same is reported, for the owners to be alarmed; where the
// person at the agent may have been asked, it is not.
func TestHookReportsUnapproved(t *testing.T) {
	for _, test := range []struct {
		otherwise agents.Fallback
		event     string
		published int64
	}{{agents.Deny, "PostToolUse", 1}, {agents.Ask, "PostToolUse", 0}, {agents.Deny, "PostToolUseFailure", 0}} {
		o := newOffice(t, storetest.Embedded(t), false)
		o.hook.Otherwise = test.otherwise
		id := deletes("t-1").ApprovalID("claude-code")
		o.decide(storetest.Open(t, o.store, storetest.Request(id)), approval.DecisionRejected, "")
		if err := o.hook.After(within(t), event(t, test.event, "default", "")); err != nil {
			t.Fatal(err)
		}
		entries, err := o.Client().XRange(t.Context(), o.Keys().Requests(), "-", "+").Result()
		if err != nil || int64(len(entries)) != test.published {
			t.Errorf("%+v: %d entries (%v)", test, len(entries), err)
		}
		if len(entries) == 1 && entries[0].Values["type"] != "approval.reported" {
			t.Errorf("%+v: published %v", test, entries[0].Values)
		}
	}
}

// Of a call that was never asked there is nothing to report, nor of one without a
// name.
func TestHookReportsNothing(t *testing.T) {
	o := newOffice(t, storetest.Embedded(t), false)
	for _, id := range []string{"t-1", ""} {
		e := event(t, "PostToolUse", "default", "")
		e.Call.ID = id
		if err := o.hook.After(within(t), e); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	if n := o.Client().XLen(t.Context(), o.Keys().Requests()).Val(); n != 0 {
		t.Errorf("%d entries were published", n)
	}
	o.Fail("LOADING Redis is loading the dataset in memory")
	defer o.Fail("")
	if err := o.hook.After(within(t), event(t, "PostToolUse", "default", "")); err == nil {
		t.Error("Redis was away, and nobody said so")
	}
}

func FuzzReadEvent(f *testing.F) {
	f.Add(fmt.Appendf(nil, input, "default", "PreToolUse", ""))
	f.Add(fmt.Appendf(nil, input, "plan", "PostToolUse", `, "tool_response": {"interrupted": true}`))
	f.Add([]byte(`{"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": "/a", "old_string": "", "new_string": "\u202e"}}`))
	f.Add([]byte(`{"hook_event_name": "PreToolUse", "tool_name": "MultiEdit", "tool_input": {"file_path": "", "edits": [{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := agents.ReadEvent(data)
		if err != nil {
			return
		}
		// Whatever is read can be asked, or says why not; a decision on it is JSON.
		ask, err := agents.Describe(e.Call, nil)
		if err != nil {
			return
		}
		decoded(t, ask)
		for _, verdict := range []agents.Verdict{agents.Allowed, agents.Unanswered} {
			if out := (&agents.Hook{}).Say(e, agents.Result{Verdict: verdict}); !json.Valid(out) {
				t.Errorf("printed %s", out)
			}
		}
	})
}
