package approval_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"countersign/approval"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A fate is what became of a request in a golden file.
type fate struct {
	Decision  approval.Decision `json:"decision"`
	Reason    string            `json:"reason"`
	By        approval.By       `json:"by"`
	Approvals []approval.By     `json:"approvals"`
	Shown     *approval.Shown   `json:"shown"`
	At        time.Time         `json:"at"`
	Undo      bool              `json:"undo"` // the event is an undo request
}

// Each archive in testdata/answers holds request.json, fate.json and the
// event's data, answer.json, byte for byte.
func TestAnswerGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := answerOf(t, part(t, archive, "request.json"), part(t, archive, "fate.json"))
			if *update {
				setPart(archive, "answer.json", got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(part(t, archive, "answer.json")), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !json.Valid(got) {
				t.Error("not JSON")
			}
		})
	}
}

// answerOf encodes the answer to a request, good or not.
func answerOf(t *testing.T, request, fateText []byte) []byte {
	t.Helper()
	var f fate
	if err := json.Unmarshal(fateText, &f); err != nil {
		t.Fatal(err)
	}
	r, err := approval.Decode(request)
	title, reason := r.Card.Title, f.Reason
	if err != nil {
		title, reason = r.ID, err.Error()
	}
	var pin string
	if r.Calls != nil {
		if pin, err = approval.PinOf(r.Calls); err != nil {
			t.Fatal(err)
		}
	}
	if f.Undo {
		u := approval.UndoRequested{ID: r.ID, UndoTool: r.Card.UndoTool, Calls: r.Calls, Context: r.Context, By: f.By, At: f.At}
		out, err := u.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	a := approval.Answer{
		ID: r.ID, Runtime: r.Runtime, RunID: r.RunID, Decision: f.Decision,
		Terms: approval.TermsOrRaw(request), Pin: pin, Calls: r.Calls, Context: r.Context,
		Reason: reason, Observation: approval.Observation(f.Decision, title, reason),
		By: f.By, Approvals: f.Approvals, Shown: f.Shown, At: f.At,
	}
	out, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := approval.DecodeAnswer(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, *back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	return out
}

func part(t *testing.T, a *txtar.Archive, name string) []byte {
	t.Helper()
	for _, f := range a.Files {
		if f.Name == name {
			return bytes.TrimSuffix(f.Data, []byte("\n"))
		}
	}
	t.Fatalf("no %s", name)
	return nil
}

func setPart(a *txtar.Archive, name string, data []byte) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = append(data, '\n')
		}
	}
}

func anAnswer() *rapid.Generator[approval.Answer] {
	return rapid.Custom(func(t *rapid.T) approval.Answer {
		by := rapid.Custom(func(t *rapid.T) approval.By {
			return approval.By{
				Surface: rapid.SampledFrom([]approval.Surface{
					approval.Telegram, approval.CLI, approval.Policy, approval.Sweeper, approval.Runtime, approval.Intake,
				}).Draw(t, "surface"),
				ID:      rapid.StringN(1, 50, -1).Draw(t, "id"),
				Name:    rapid.String().Draw(t, "name"),
				Chat:    rapid.Int64Range(-1<<52, 1<<52).Draw(t, "chat"),
				Message: rapid.IntRange(0, 1<<31-1).Draw(t, "message"),
				Method:  rapid.SampledFrom([]string{"", approval.Button, approval.Typed}).Draw(t, "method"),
			}
		})
		raw := func(v any) json.RawMessage {
			out, err := json.MarshalIndent(v, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		a := approval.Answer{
			ID:      rapid.StringMatching(`[A-Za-z0-9._:-]{1,128}`).Draw(t, "id"),
			Runtime: rapid.StringN(0, 200, -1).Draw(t, "runtime"),
			RunID:   rapid.StringN(0, 200, -1).Draw(t, "run_id"),
			Decision: rapid.SampledFrom([]approval.Decision{
				approval.DecisionApproved, approval.DecisionRejected, approval.DecisionLapsed,
				approval.DecisionWithdrawn, approval.DecisionRefused,
			}).Draw(t, "decision"),
			Terms:       rapid.SampledFrom([]string{"", "sha256:aa"}).Draw(t, "terms"),
			Pin:         rapid.SampledFrom([]string{"", "sha256:bb"}).Draw(t, "pin"),
			Reason:      rapid.String().Draw(t, "reason"),
			Observation: rapid.String().Draw(t, "observation"),
			By:          by.Draw(t, "by"),
			At:          time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at")).UTC(),
		}
		if rapid.Bool().Draw(t, "has calls") {
			a.Calls = []approval.Call{}
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				a.Calls = append(a.Calls, approval.Call{
					Tool:      rapid.StringN(1, 200, -1).Draw(t, "tool"),
					Arguments: raw(map[string]any{"<&>": rapid.String().Draw(t, "argument")}),
					CallID:    rapid.StringN(0, 200, -1).Draw(t, "call_id"),
				})
			}
		}
		if rapid.Bool().Draw(t, "has context") {
			a.Context = raw([]any{rapid.String().Draw(t, "context"), nil})
		}
		if rapid.Bool().Draw(t, "has approvals") {
			a.Approvals = rapid.SliceOfN(by, 1, 3).Draw(t, "approvals")
		}
		if rapid.Bool().Draw(t, "has shown") {
			a.Shown = &approval.Shown{
				Lines: rapid.IntRange(0, 5000).Draw(t, "lines"), Of: rapid.IntRange(0, 5000).Draw(t, "of"),
			}
		}
		return a
	})
}

func TestAnswerRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anAnswer().Draw(t, "answer")
		data, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range a.Calls {
			if !bytes.Contains(data, raw.Arguments) {
				t.Errorf("%s is not in %s byte for byte", raw.Arguments, data)
			}
		}
		back, err := approval.DecodeAnswer(data)
		if err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if diff := cmp.Diff(a, *back); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestEncodeRefuses(t *testing.T) {
	by := approval.By{Surface: approval.CLI, ID: "ann"}
	call := func(raw string) []approval.Call {
		return []approval.Call{{Tool: "t", Arguments: json.RawMessage(raw)}}
	}
	for name, a := range map[string]approval.Answer{
		"nobody":             {},
		"no surface":         {By: approval.By{ID: "ann"}},
		"no id":              {By: approval.By{Surface: approval.CLI}},
		"nobody among many":  {By: by, Approvals: []approval.By{by, {}}},
		"no arguments":       {By: by, Calls: []approval.Call{{Tool: "t"}}},
		"broken arguments":   {By: by, Calls: call(`{`)},
		"arguments that add": {By: by, Calls: call(`{},"tool":"other"`)},
		"broken context":     {By: by, Context: json.RawMessage(`1,"approved":true`)},
		"empty context":      {By: by, Context: json.RawMessage{}},
	} {
		if data, err := a.Encode(); err == nil {
			t.Errorf("%s: %s, want an error", name, data)
		}
		u := approval.UndoRequested{By: a.By, Calls: a.Calls, Context: a.Context}
		if data, err := u.Encode(); err == nil && a.Approvals == nil {
			t.Errorf("%s: %s, want an error", name, data)
		}
	}
}

func TestDecodeAnswerRefuses(t *testing.T) {
	const good = `{"approval_id":"a1","decision":"rejected","approved":false,"observation":"o",` +
		`"by":{"surface":"cli","id":"ann","name":""},"at":"2026-12-01T12:00:00.000Z"}`
	if _, err := approval.DecodeAnswer([]byte(good)); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ old, with, want string }{
		{`"a1"`, `"a b"`, "invalid: approval_id: must be 1-128 of A-Za-z0-9._:-"},
		{`false`, `true`, "invalid: approved: must be true for approved, else false"},
		{`false`, `"false"`, "invalid: approved: must be true or false"},
		{`"approved":false,`, ``, "invalid: approved: must be true for approved, else false"},
		{`"rejected"`, `"approved"`, "invalid: approved: must be true for approved, else false"},
		{`"rejected"`, `"yes"`, "invalid: decision: must be approved, rejected, lapsed, withdrawn or refused"},
		{`"decision":"rejected",`, ``, "invalid: decision: required"},
		{`"cli"`, `"email"`, "invalid: by.surface: must be telegram, cli, policy, sweeper, runtime or intake"},
		{`"surface":"cli",`, ``, "invalid: by.surface: required"},
		{`"ann"`, `""`, "invalid: by.id: required"},
		{`"name":""`, `"chat_id":"x"`, "invalid: by.chat_id: must be an integer"},
		{`"name":""`, `"method":"voice"`, "invalid: by.method: must be button or typed"},
		{`.000Z`, ``, "invalid: at: must be RFC 3339 with an offset"},
		{`"observation":"o"`, `"calls":[{"tool":"t"}]`, "invalid: calls[0].arguments: required"},
		{`"observation":"o"`, `"calls":[1]`, "invalid: calls[0]: must be an object"},
		{`"observation":"o"`, `"decision":"approved"`, "invalid: decision: given twice"},
		{`"observation":"o"`, `"shown":{"lines":-1,"of":0}`, "invalid: shown.lines: must be from 0 to 5,000"},
		{`"o"`, `"` + strings.Repeat("o", 1<<20) + `"`, "too_large: data: over 1 MiB"},
	}
	for _, tt := range tests {
		data := strings.Replace(good, tt.old, tt.with, 1)
		if a, err := approval.DecodeAnswer([]byte(data)); err == nil || err.Error() != tt.want {
			t.Errorf("%.200s: %v, %v, want %s", data, a, err, tt.want)
		}
	}
}

// The deepest arguments a request may have still fit into its answer.
func TestAnswerNesting(t *testing.T) {
	r, err := approval.Decode(valid(draft{"arguments": `{"a":` + nested(30) + `}`}))
	if err != nil {
		t.Fatal(err)
	}
	a := approval.Answer{
		ID: "a1", Decision: approval.DecisionLapsed, Calls: r.Calls,
		By: approval.By{Surface: approval.Sweeper, ID: "sweeper"}, At: time.UnixMilli(0).UTC(),
	}
	data, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := approval.DecodeAnswer(data); err != nil {
		t.Error(err)
	}
}
