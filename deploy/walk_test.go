package deploy_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

var update = flag.Bool("update", false, "write the transcript anew")

const transcriptFile = "../docs/first-approval.txt"

// A transcript is what is seen on the way, without what differs from one time to the
// next.
type transcript struct {
	s    *site
	text strings.Builder
	code string
}

func (tr *transcript) note(format string, args ...any) { fmt.Fprintf(&tr.text, format+"\n", args...) }

// typed shows a command and what came of it.
func (tr *transcript) typed(command, came string) {
	tr.note("$ %s", command)
	if came = strings.TrimRight(came, "\n"); came != "" {
		tr.note("%s", came)
	}
}

// shell runs a command to its end at a terminal.
func (tr *transcript) shell(command string) {
	tr.s.t.Helper()
	w := opens(tr.s.t, tr.s.dir, tr.s.environ(), "sh", "-c", command)
	if code := w.ends(); code != 0 {
		tr.s.t.Fatalf("%s: exit code %d:\n%s", command, code, w.shown())
	}
	tr.typed(command, w.shown())
}

// environ is that of the shell. The ports that others may have are moved.
func (s *site) environ() []string {
	return []string{"NO_COLOR=1", "COUNTERSIGN_CONFIG=countersign.yaml", "COUNTERSIGN_HTTP_LISTEN=" + s.listen, "USER=ann", "LOGNAME=ann"}
}

// chat shows a message of the bot's.
func (tr *transcript) chat(m simulator.Message) {
	for line := range strings.Lines(m.Text) {
		tr.note("  | %s", strings.TrimRight(line, "\n"))
	}
	for _, row := range m.Keyboard() {
		var buttons []string
		for _, b := range row {
			buttons = append(buttons, "["+b.Text+"]")
		}
		tr.note("  | %s", strings.Join(buttons, " "))
	}
}

// steady is the text without what is different each time.
func (tr *transcript) steady() string {
	text := tr.text.String()
	for _, c := range []struct{ form, as string }{
		{regexp.QuoteMeta(tr.s.dir), "/home/ann/countersign"},
		{regexp.QuoteMeta(tr.code), "k7qf2xyz"},
		{regexp.QuoteMeta(strings.TrimSuffix(strings.TrimPrefix(tr.s.redis.URL(), "redis://"), "/0")), "127.0.0.1:6379"},
		{`(version |Redis )7\.[0-9.]+`, "${1}7.0.15"},
		{`#[A-Z0-9]{5}\b`, "#K7QF2"},
		{`/(approve|reject) [A-Z0-9]{5}\b`, "/$1 K7QF2"},
		{`"(at|until)":"[^"]+"`, `"$1":"2026-12-01T14:02:07.512Z"`},
		{`"message_id":\d+`, `"message_id":5`},
		{`\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC`, "1 Dec 2026 15:02 UTC"},
	} {
		text = regexp.MustCompile(c.form).ReplaceAllString(text, c.as)
	}
	return text
}

// From a checkout to a first approval, by what the README says. What is seen on the way
// is kept beside it; go test ./deploy -run TestFirstApproval -update writes it anew.
func TestFirstApproval(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if s == nil {
		return
	}
	binary, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "countersign"), binary, 0o755); err != nil {
		t.Fatal(err)
	}
	tr := &transcript{s: s}
	tr.note("# A first approval, as a test goes through it. What is typed stands after $ or a colon.\n")
	tr.note("# One terminal, in a checkout, with a redis-server running:\n")
	tr.typed("go build -o countersign ./cmd/bot", "") // the image's steps did

	w := opens(t, s.dir, s.environ(), "./countersign", "init", "--api-url", s.url)
	w.answers("Token (it is not shown): ", token)
	tr.code = code(w)
	w.sees("Waiting for the code")
	s.ann.Send(annID, "/start "+tr.code)
	w.answers("[Y/n]: ", "")
	w.answers("Address [redis://127.0.0.1:6379/0]: ", s.redis.URL())
	w.answers("Write the configuration to [countersign.yaml]: ", "")
	if code := w.ends(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, w.shown())
	}
	tr.typed("./countersign init", w.shown())

	bot := opens(t, s.dir, s.environ(), "sh", "-c", "exec ./countersign run --config countersign.yaml 2>bot.log")
	bot.sees("is ready")
	tr.typed("./countersign run --config countersign.yaml 2>bot.log", "countersign is ready: namespace approvals")

	tr.note("\n# Another terminal, beside the first:\n")
	tr.typed("export COUNTERSIGN_CONFIG=countersign.yaml", "")
	request := `{"approval_id": "mail-1", "tool": "trash_email", "arguments": {"ids": ["m1", "m2"]}, "card": {"title": "Trash 2 emails", "lines": ["Big sale", "Last chance"]}}`
	tr.shell("echo '" + request + "' > request.json")
	const asks = "./countersign request -f request.json --wait"
	asking := opens(t, s.dir, s.environ(), "sh", "-c", asks)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	sees := func(m simulator.Message, err error) simulator.Message {
		t.Helper()
		if err != nil {
			log, _ := os.ReadFile(filepath.Join(s.dir, "bot.log"))
			t.Fatalf("%v; the bot says\n%s\nand the runtime\n%s", err, log, asking.shown())
		}
		return m
	}
	card := sees(s.sim.WaitMessage(ctx, annID, func(m simulator.Message) bool { return strings.Contains(m.Text, "Trash 2 emails") }))
	var chat transcript
	chat.chat(card)
	chat.note("Ann taps [Trash 2 emails].")
	s.ann.Tap(card, "Trash 2 emails")
	question := sees(s.sim.WaitEdit(ctx, card, func(m simulator.Message) bool { _, ok := m.Button("Yes"); return ok }))
	chat.chat(question)
	chat.note("Ann taps [Yes].")
	for answered := ""; answered != "Approved."; { // as soon as it counts
		a, err := s.ann.TapWait(ctx, question, "Yes")
		if err != nil {
			t.Fatal(err)
		}
		answered = a.Text
	}
	if code := asking.ends(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, asking.shown())
	}
	tr.note("$ %s", asks)
	tr.note("\n# Meanwhile in Telegram, in the chat with @countersign_bot:\n")
	tr.text.WriteString(chat.text.String())
	tr.note("\n# And so in the second terminal:\n")
	tr.note("%s", strings.TrimRight(asking.shown(), "\n"))
	pin := regexp.MustCompile(`"pin":\s*"(sha256:[0-9a-f]+)"`).FindStringSubmatch(asking.shown())
	if pin == nil {
		t.Fatalf("no pin in the answer:\n%s", asking.shown())
	}
	tr.shell("./countersign claim mail-1 --pin " + pin[1])
	tr.shell(`echo '{"outcome": "executed", "message": "2 emails are in the bin"}' | ./countersign report mail-1 -f -`)
	last := sees(s.sim.WaitEdit(ctx, question, func(m simulator.Message) bool { return strings.Contains(m.Text, "2 emails are in the bin") }))
	tr.note("\n# And in Telegram:\n")
	tr.chat(last)
	if err := bot.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := bot.ends(); code != 0 {
		t.Errorf("the bot: exit code %d", code)
	}

	if *update {
		if err := os.WriteFile(transcriptFile, []byte(tr.steady()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(transcriptFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), tr.steady()); diff != "" {
		t.Errorf("docs/first-approval.txt shows something else (-kept +seen):\n%s", diff)
	}
	if refused := s.sim.Refusals(); len(refused) > 0 {
		t.Errorf("Telegram refused %v", refused)
	}
}
