package agents_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"countersign/agents"
	"countersign/approval"
	"countersign/policy"
	"countersign/queue"
)

var update = flag.Bool("update", false, "write what is drawn into the golden files")

// Each file holds one call, perhaps a file that is there, and what is asked of it.
func TestDescribe(t *testing.T) {
	files, err := filepath.Glob("testdata/cards/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var given struct {
				Tool, Dir string
				Input     json.RawMessage
			}
			if err := json.Unmarshal(archive.Files[0].Data, &given); err != nil {
				t.Fatal(err)
			}
			ask, err := agents.Describe(agents.Call{Tool: given.Tool, Dir: given.Dir, Input: given.Input}, disk(archive))
			if err != nil {
				t.Fatal(err)
			}
			got := shown(t, ask)
			last := &archive.Files[len(archive.Files)-1]
			if *update {
				if last.Name != "card" {
					archive.Files = append(archive.Files, txtar.File{Name: "card"})
					last = &archive.Files[len(archive.Files)-1]
				}
				last.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(last.Data), got); diff != "" || last.Name != "card" {
				t.Errorf("another card (-kept +drawn):\n%s", diff)
			}
		})
	}
}

// disk reads the files of an archive.
func disk(archive *txtar.Archive) agents.ReadFile {
	return func(path string) ([]byte, error) {
		for _, f := range archive.Files {
			switch f.Name {
			case "disk" + path:
				return f.Data, nil
			case "binary" + path:
				return []byte("\x7fELF\x00"), nil
			case "secret" + path:
				return nil, fmt.Errorf("open %s: %w", path, fs.ErrPermission)
			}
		}
		return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
	}
}

// shown writes an ask for people to read.
func shown(t *testing.T, ask queue.Ask) string {
	t.Helper()
	q := decoded(t, ask)
	tier := "unvetted"
	if len(q.Risk.Facts) > 0 {
		tier = string(policy.Decide(&q, nil).Tier)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n[%s] %s, %s\n", q.Card.Title, q.Card.Action, q.Effect, tier)
	for _, line := range q.Card.Lines {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// decoded reads an ask as the intake would, which must take it.
func decoded(t testing.TB, ask queue.Ask) approval.Request {
	t.Helper()
	ask.ID, ask.Runtime, ask.ExpiresIn = "a1", strings.Repeat("r", approval.MaxName), 3600
	r, err := ask.Request()
	if err != nil {
		t.Fatal(err)
	}
	q, err := approval.Decode(r.Data)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// What a card cannot hold it says, and the call is asked whole.
func TestDescribeTooLong(t *testing.T) {
	for name, content := range map[string]string{
		"lines": strings.Repeat("x\n", approval.MaxLines+10),
		"bytes": strings.Repeat(strings.Repeat("<", 100)+"\n", 1500),
	} {
		t.Run(name, func(t *testing.T) {
			input := writes(t, content)
			call := agents.Call{Tool: "Write", Input: input, Dir: "/home/ann"}
			ask, err := agents.Describe(call, nil)
			if err != nil {
				t.Fatal(err)
			}
			q := decoded(t, ask)
			if !strings.HasSuffix(q.Card.Title, "(not shown in full)") || !strings.HasPrefix(q.Card.Lines[0], "NOT SHOWN IN FULL: ") {
				t.Errorf("%q begins with %q", q.Card.Title, q.Card.Lines[0])
			}
			if last := q.Card.Lines[len(q.Card.Lines)-1]; last != "in /home/ann" { // which the exact call does not say
				t.Errorf("the last line is %q", last)
			}
			if len(q.Card.Lines) < 100 && name == "bytes" || name == "lines" && len(q.Card.Lines) != approval.MaxLines {
				t.Errorf("%d lines are shown", len(q.Card.Lines))
			}
			whole, err := approval.PinOf([]approval.Call{{Tool: "Write", Arguments: input}})
			if err != nil {
				t.Fatal(err)
			}
			if pin, err := approval.PinOf(q.Calls); err != nil || pin != whole {
				t.Errorf("the call is pinned as %s, want %s (%v)", pin, whole, err)
			}
		})
	}
	// A page of markup is no longer than it is.
	ask, err := agents.Describe(agents.Call{Tool: "Write", Input: writes(t, strings.Repeat(strings.Repeat("<", 100)+"\n", 1000))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if q := decoded(t, ask); strings.Contains(q.Card.Title, "not shown in full") {
		t.Errorf("100 kB of markup: %q", q.Card.Title)
	}
	_, err = agents.Describe(agents.Call{Tool: "X", Input: []byte(`{"a":"` + strings.Repeat("x", approval.MaxData-4096) + `"}`)}, nil)
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a call of nearly 256 KiB: %v", err)
	}
	// Drawing megabytes would take a minute, in which nothing could stop it.
	_, err = agents.Describe(agents.Call{
		Tool: "Write", Input: []byte(`{"file_path": "/a", "content": "` + strings.Repeat("x", 4<<20) + `"}`),
	}, func(string) ([]byte, error) { t.Error("it was drawn"); return nil, fs.ErrNotExist })
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a call of 4 MiB: %v", err)
	}
}

// writes is the input of a call that writes a file, as an agent sends it.
func writes(t *testing.T, content string) []byte {
	t.Helper()
	var input bytes.Buffer
	e := json.NewEncoder(&input)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]string{"file_path": "/a", "content": content}); err != nil {
		t.Fatal(err)
	}
	return input.Bytes()
}

// A long line goes on, and loses nothing.
func TestDescribeLongLine(t *testing.T) {
	command := strings.Repeat("äöü ", 1000) + "; rm -rf /"
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	ask, err := agents.Describe(agents.Call{Tool: "Bash", Input: input}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for i, line := range decoded(t, ask).Card.Lines {
		mark := "↪ "
		if i == 0 {
			mark = "$ "
		}
		text, ok := strings.CutPrefix(line, mark)
		if !ok {
			t.Errorf("line %d begins %.10q, want %q", i+1, line, mark)
		}
		all.WriteString(text)
	}
	if all.String() != command {
		t.Error("the lines are not the command")
	}
}

// Whatever an agent says, what is asked is a request that the intake takes, it pins
// the call as it came, and every text in the input is on the card or the card says
// that it is not.
func TestDescribeAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.SampledFrom([]string{
			"command", "Command", "description", "file_path", "content", "old_string", "new_string", "replace_all",
			"edits", "notebook_path", "new_source", "edit_mode", "url", "prompt", "$ ls", "", "a\nb",
		})
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a\nb", "\r", "\u202e", "$ x\n> y", "true"}))
		value := rapid.OneOf(
			rapid.Map(text, func(s string) any { return strings.ToValidUTF8(s, "?") }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.IntRange(-9, 9), func(n int) any { return n }),
			rapid.Just[any](nil),
			rapid.Just[any](map[string]any{"a": []any{1, "x"}}),
			rapid.Just[any]([]any{map[string]any{"old_string": "q1", "new_string": "q2"}}),
		)
		input, err := json.Marshal(rapid.MapOfN(field, value, 0, 6).Draw(t, "input"))
		if err != nil {
			t.Fatal(err)
		}
		call := agents.Call{
			Tool:  rapid.SampledFrom([]string{"Bash", "Edit", "MultiEdit", "Write", "NotebookEdit", "WebFetch", "mcp__a__b", "mcp__", "X\n"}).Draw(t, "tool"),
			Input: input, Dir: rapid.SampledFrom([]string{"", "/a"}).Draw(t, "dir"),
		}
		read := func(string) ([]byte, error) { return nil, errors.New("not here") }
		ask, err := agents.Describe(call, read)
		if err != nil {
			t.Fatal(err)
		}
		ask.ID = "a1"
		r, err := ask.Request()
		if err != nil {
			t.Fatal(err)
		}
		q, err := approval.Decode(r.Data)
		if err != nil {
			t.Fatal(err)
		}
		var whole map[string]any
		if err := json.Unmarshal(input, &whole); err != nil {
			t.Fatal(err)
		}
		card := q.Card.Title + "\n" + strings.Join(q.Card.Lines, "\n")
		for name, v := range whole {
			s, ok := v.(string)
			if !ok {
				continue
			}
			quoted, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if quoted, err = approval.Canonical(quoted); err == nil && strings.Contains(card, ": "+string(quoted)) {
				continue // as JSON
			}
			for part := range strings.SplitSeq(s, "\n") {
				if utf8.RuneCountInString(part) < 900 && !strings.Contains(card, part) && whole["old_string"] != whole["new_string"] {
					t.Fatalf("%s: %q is not on the card\n%s", name, part, card)
				}
			}
		}
	})
}

// No text is drawn as a value of another type would be.
func TestDescribeTellsTypesApart(t *testing.T) {
	lines := func(t *rapid.T, value any) []string {
		input, err := json.Marshal(map[string]any{"a": value})
		if err != nil {
			t.Fatal(err)
		}
		ask, err := agents.Describe(agents.Call{Tool: "Teleport", Input: input}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return ask.Card.Lines
	}
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom([]string{"", " ", "\t", "\r"})
		value := rapid.SampledFrom([]any{
			true, false, nil, 0, -7, 1.5e300, "", "true", `"true"`, []any{}, []any{1, "x"}, map[string]any{"a<b": nil},
		}).Draw(t, "value")
		text := space.Draw(t, "before") + lines(t, value)[0][len("a: "):] + space.Draw(t, "after")
		if value == text {
			return
		}
		if got, was := lines(t, text), lines(t, value); cmp.Equal(got, was) {
			t.Fatalf("%#v and %#v are both drawn as %q", value, text, got)
		}
	})
}
