package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/simulator"
)

// TestCodingAgents runs the hook and the MCP server as programs against the whole
// bot, with a runtime's rights, while Ann taps and types.
func TestCodingAgents(t *testing.T) {
	w := newWorld(t)
	if w == nil {
		return
	}
	for name, test := range map[string]func(*testing.T, *world){
		"hook approved": hookApproved, "hook rejected": hookRejected, "hook stopped": hookStopped, "hook lapsed": hookLapsed,
		"hook that ran all the same": hookRanUnapproved,
		"permission prompt":          promptApproved, "request approval": approvalRequested,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// command is a command of the program, with a runtime's rights.
func (w *world) command(words ...string) *exec.Cmd {
	words = append(words, "--redis", w.runtime, "--namespace", w.ns)
	return exec.CommandContext(w.ctx, filepath.Join(w.dir, "countersign"), words...)
}

// A run is one run of the hook.
type run struct {
	cmd *exec.Cmd
	out bytes.Buffer // to be read after ends
}

// hook starts the hook on an event about a command.
func (w *world) hook(t *testing.T, event, command string, flags ...string) *run {
	t.Helper()
	return w.runs(t, w.command(append([]string{"hook", "claude-code"}, flags...)...), event, command)
}

// runs starts a command on an event about another.
func (w *world) runs(t *testing.T, cmd *exec.Cmd, event, command string) *run {
	t.Helper()
	r := &run{cmd: cmd}
	input, err := json.Marshal(map[string]any{
		"session_id": "s-1", "transcript_path": "/tmp/t.jsonl", "cwd": "/tmp", "permission_mode": "default", "hook_event_name": event,
		"tool_name": "Bash", "tool_input": map[string]any{"command": command}, "tool_use_id": "toolu_" + command,
		"tool_response": map[string]any{"stdout": "", "stderr": "", "interrupted": false},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = bytes.NewReader(input), &r.out, &r.out
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// ends waits for the hook's end, and returns the decision that it printed.
func (r *run) ends(t *testing.T) (decision, reason string) {
	t.Helper()
	if err := r.cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &r.out)
	}
	if r.out.Len() == 0 {
		return "", ""
	}
	var out struct {
		HookSpecificOutput struct {
			HookEventName, PermissionDecision, PermissionDecisionReason string
		}
	}
	if err := json.Unmarshal(r.out.Bytes(), &out); err != nil || out.HookSpecificOutput.HookEventName != "PreToolUse" {
		t.Fatalf("%v\n%s", err, &r.out)
	}
	return out.HookSpecificOutput.PermissionDecision, out.HookSpecificOutput.PermissionDecisionReason
}

// card waits for the card of a title, and until the bot knows it again.
func (w *world) card(t *testing.T, title string) simulator.Message {
	t.Helper()
	m, err := w.sim.WaitMessage(w.ctx, annID, func(m simulator.Message) bool {
		return strings.Contains(m.Text, title) && m.Keyboard() != nil
	})
	if err == nil {
		err = w.awaitRecord(m)
	}
	if err != nil {
		t.Fatalf("no card %q: %v", title, err)
	}
	return m
}

// says waits until a card says something.
func (w *world) says(t *testing.T, m simulator.Message, words string) {
	t.Helper()
	if _, err := w.sim.WaitEdit(w.ctx, m, func(m simulator.Message) bool { return strings.Contains(m.Text, words) }); err != nil {
		t.Fatalf("the card does not say %q: %v", words, err)
	}
}

// approves has Ann approve a card by its action and Yes.
func (w *world) approves(t *testing.T, m simulator.Message, action string) {
	t.Helper()
	err := w.tap(m, action, "")
	if err == nil {
		err = w.tap(m, "Yes", "Approved")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func hookApproved(t *testing.T, w *world) {
	before := w.hook(t, "PreToolUse", "rm -rf build-1")
	card := w.card(t, "Run: rm -rf build-1")
	w.approves(t, card, "Run it")
	if decision, reason := before.ends(t); decision != "allow" {
		t.Fatalf("decided %s: %s", decision, reason)
	}
	w.says(t, card, "Approved by Ann")
	after := w.hook(t, "PostToolUse", "rm -rf build-1")
	after.ends(t)
	w.says(t, card, "Done")
	// The same call again is the same approval, and is used up.
	if decision, reason := w.hook(t, "PreToolUse", "rm -rf build-1").ends(t); decision != "deny" || !strings.Contains(reason, "already_claimed") {
		t.Errorf("the second time %s: %s", decision, reason)
	}
}

func hookRejected(t *testing.T, w *world) {
	before := w.hook(t, "PreToolUse", "rm -rf build-2")
	w.ann.Reply(w.card(t, "Run: rm -rf build-2"), "reject not that folder")
	if decision, reason := before.ends(t); decision != "deny" || !strings.Contains(reason, "not that folder") {
		t.Errorf("decided %s: %s", decision, reason)
	}
}

func hookStopped(t *testing.T, w *world) {
	for name, by := range map[string]syscall.Signal{"stopped": syscall.SIGTERM, "interrupted": syscall.SIGINT, "hung up": syscall.SIGHUP} {
		before := w.hook(t, "PreToolUse", "rm -rf build-3 # "+name)
		card := w.card(t, "Run: rm -rf build-3 # "+name)
		if err := before.cmd.Process.Signal(by); err != nil {
			t.Fatal(err)
		}
		if decision, reason := before.ends(t); decision != "deny" {
			t.Errorf("%s: decided %s: %s", name, decision, reason)
		}
		w.says(t, card, "Withdrawn")
	}
}

func hookLapsed(t *testing.T, w *world) {
	before := w.hook(t, "PreToolUse", "rm -rf build-4", "--within", "5s", "--otherwise", "ask")
	card := w.card(t, "Run: rm -rf build-4")
	if decision, reason := before.ends(t); decision != "ask" || !strings.Contains(reason, "nobody answered this in time") {
		t.Errorf("decided %s: %s", decision, reason)
	}
	w.says(t, card, "Lapsed")
}

// A call that ran though nobody approved it alarms the owners.
func hookRanUnapproved(t *testing.T, w *world) {
	before := w.hook(t, "PreToolUse", "rm -rf build-5")
	card := w.card(t, "Run: rm -rf build-5")
	if err := w.tap(card, "Reject", "Rejected"); err != nil {
		t.Fatal(err)
	}
	before.ends(t)
	w.hook(t, "PostToolUse", "rm -rf build-5").ends(t)
	if _, err := w.sim.WaitMessage(w.ctx, annID, func(m simulator.Message) bool {
		return strings.Contains(m.Text, "was reported as executed, but it was not approved")
	}); err != nil {
		t.Errorf("no alarm: %v", err)
	}
}

// session connects the official library's client to the program's standard input
// and output.
func (w *world) session(t *testing.T) *mcp.ClientSession {
	t.Helper()
	return w.connects(t, w.command("mcp"))
}

func (w *world) connects(t *testing.T, cmd *exec.Cmd) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(w.ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server ended badly: %v", err)
		}
	})
	return session
}

// calls calls a tool in the background, and returns where its text comes.
func calls(ctx context.Context, session *mcp.ClientSession, tool, arguments string) <-chan string {
	done := make(chan string, 1)
	go func() {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err != nil || len(result.Content) != 1 {
			done <- fmt.Sprintf("%+v, %v", result, err)
			return
		}
		done <- result.Content[0].(*mcp.TextContent).Text
	}()
	return done
}

func promptApproved(t *testing.T, w *world) {
	answer := calls(w.ctx, w.session(t), "permission_prompt", `{"tool_name": "Bash", "input": {"command": "rm -rf build-6"}, "tool_use_id": "t-6"}`)
	w.approves(t, w.card(t, "Run: rm -rf build-6"), "Run it")
	if got := <-answer; got != `{"behavior":"allow","updatedInput":{"command":"rm -rf build-6"}}` {
		t.Errorf("answered %s", got)
	}
}

func approvalRequested(t *testing.T, w *world) {
	session := w.session(t)
	answer := calls(w.ctx, session, "request_approval",
		`{"title": "Trash 1 email, says MCP", "lines": ["Big sale"], "tool": "trash_email", "arguments": {"ids": ["m1"]}, "action": "Trash it"}`)
	card := w.card(t, "Trash 1 email, says MCP")
	w.approves(t, card, "Trash it")
	var got struct {
		Approved bool
		ID       string `json:"approval_id"`
	}
	if text := <-answer; json.Unmarshal([]byte(text), &got) != nil || !got.Approved {
		t.Fatalf("answered %s", text)
	}
	if text := <-calls(w.ctx, session, "report_outcome", `{"approval_id": "`+got.ID+`", "outcome": "executed"}`); text != "Reported." {
		t.Errorf("answered %s", text)
	}
	w.says(t, card, "Done")
}

const agentsFile = "../docs/coding-agents.md"

// fence is the one block of a kind in the document.
func fence(t *testing.T, kind string) string {
	t.Helper()
	text, err := os.ReadFile(agentsFile)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n```"+kind+"\n")
	block, _, closed := strings.Cut(after, "\n```\n")
	if !ok || !closed {
		t.Fatalf("%s has no block %s", agentsFile, kind)
	}
	return block + "\n"
}

// What the document shows is the example, and what it links to is there.
func TestCodingAgentsDocument(t *testing.T) {
	example, err := os.ReadFile("../examples/claude-code/settings.json")
	if err != nil || fence(t, "json settings") != string(example) {
		t.Errorf("%s shows other settings than the example (%v)", agentsFile, err)
	}
	text, err := os.ReadFile(agentsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\]\(([^):#]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join("../docs", m[1])); err != nil {
			t.Error(err)
		}
	}
}

// The commands that the document gives do what it says, as they stand there.
func TestCodingAgentsCommands(t *testing.T) {
	w := newWorld(t, "approvals") // none is named in them
	if w == nil {
		return
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	if err := json.Unmarshal([]byte(fence(t, "json settings")), &settings); err != nil {
		t.Fatal(err)
	}
	shell := func(event string) *exec.Cmd {
		cmd := exec.CommandContext(w.ctx, "sh", "-c", settings.Hooks[event][0].Hooks[0].Command)
		cmd.Env = []string{"PATH=" + w.dir + ":" + os.Getenv("PATH"), "COUNTERSIGN_REDIS_URL=" + w.runtime}
		return cmd
	}
	before := w.runs(t, shell("PreToolUse"), "PreToolUse", "rm -rf build-7")
	card := w.card(t, "Run: rm -rf build-7")
	w.approves(t, card, "Run it")
	if decision, reason := before.ends(t); decision != "allow" {
		t.Fatalf("decided %s: %s", decision, reason)
	}
	w.runs(t, shell("PostToolUse"), "PostToolUse", "rm -rf build-7").ends(t)
	w.says(t, card, "Done")

	_, line, ok := strings.Cut(strings.Split(fence(t, "sh mcp"), "\n")[0], " -- ")
	if !ok {
		t.Fatal("claude mcp add gives no command")
	}
	serve := exec.CommandContext(w.ctx, "sh", "-c", "exec "+line)
	serve.Env = shell("PreToolUse").Env
	answer := calls(w.ctx, w.connects(t, serve), "permission_prompt", `{"tool_name": "Bash", "input": {"command": "rm -rf build-8"}, "tool_use_id": "t-8"}`)
	w.approves(t, w.card(t, "Run: rm -rf build-8"), "Run it")
	if got := <-answer; !strings.HasPrefix(got, `{"behavior":"allow"`) {
		t.Errorf("answered %s", got)
	}
}
