package approval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A draft is a request's top-level fields as JSON texts.
type draft map[string]string

// valid is the smallest good request, with some fields put in its place; an
// empty text takes the field away.
func valid(fields draft) []byte {
	d := draft{
		"approval_id": `"a1"`, "tool": `"trash_emails"`, "arguments": `{"ids":["m1"]}`, "card": `{"title":"Trash 1 email"}`,
	}
	for name, text := range fields {
		d[name] = text
	}
	var out []string
	for name, text := range d {
		if text != "" {
			out = append(out, fmt.Sprintf("%q:%s", name, text))
		}
	}
	slices.Sort(out)
	return []byte("{" + strings.Join(out, ",") + "}")
}

func card(rest string) draft { return draft{"card": `{"title":"T",` + rest + `}`} }

func chars(n int) string { return `"` + strings.Repeat("é", n) + `"` }

func list(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

func TestDecodeWhole(t *testing.T) {
	got, err := approval.Decode([]byte(`{
		"approval_id": "iris.2026-01:7", "kind": "tool_call", "runtime": "iris", "run_id": "r1", "session": "s1",
		"calls": [
			{"tool": "trash", "arguments": {"ids": [1, 2]}, "call_id": "c1", "extra": 1},
			{"tool": "send", "arguments": { }}
		],
		"effect": "write", "approval": "pinned",
		"context": {"wait": "<&>\u0041", "n": [ 1 ]},
		"card": {
			"title": "Trash <2> emails", "action": "Trash", "lines": ["one\ntwo", "😀"],
			"undo_tool": "untrash", "undo_window_days": 30, "request": "clean up", "summary": "why"
		},
		"expires_in": 90,
		"risk": {"facts": {"mutating": true}, "refiner": "send_email_recipient@v2", "tier": "observe"},
		"Runtime": "another", "unknown": {"a": 1}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := approval.Request{
		ID: "iris.2026-01:7", Kind: approval.ToolCall, Runtime: "iris", RunID: "r1", Session: "s1",
		Calls: []approval.Call{
			{Tool: "trash", Arguments: json.RawMessage(`{"ids": [1, 2]}`), CallID: "c1"},
			{Tool: "send", Arguments: json.RawMessage(`{ }`)},
		},
		Listed: true, Effect: approval.Write, Pinned: true,
		Context: json.RawMessage(`{"wait": "<&>\u0041", "n": [ 1 ]}`),
		Card: approval.Card{
			Title: "Trash <2> emails", Action: "Trash", Lines: []string{"one\ntwo", "😀"},
			UndoTool: "untrash", UndoDays: 30, Request: "clean up", Summary: "why",
		},
		Expiry: approval.Expiry{In: 90 * time.Second},
		Risk:   approval.Risk{Facts: json.RawMessage(`{"mutating": true}`), Refiner: "send_email_recipient@v2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecodeDefaults(t *testing.T) {
	got, err := approval.Decode(valid(draft{
		"kind": "null", "runtime": "null", "calls": "null", "effect": "null", "risk": "null", "context": "null",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := approval.Request{
		ID: "a1", Kind: approval.ToolCall, Effect: approval.Destructive,
		Calls:   []approval.Call{{Tool: "trash_emails", Arguments: json.RawMessage(`{"ids":["m1"]}`)}},
		Context: json.RawMessage("null"), // any JSON, and this is what was sent
		Card:    approval.Card{Title: "Trash 1 email"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	halt, err := approval.Decode([]byte(`{"approval_id":"h","kind":"halt","card":{"title":"Stopped"}}`))
	if err != nil || halt.Calls == nil || len(halt.Calls) != 0 {
		t.Errorf("a halt pins an empty list of calls, got %v, %v", halt.Calls, err)
	}
}

// Everything here is at its limit and passes.
func TestDecodeAccepts(t *testing.T) {
	for name, fields := range map[string]draft{
		"longest id":        {"approval_id": `"` + strings.Repeat("A", 128) + `"`},
		"names":             {"runtime": chars(200), "run_id": chars(200), "session": chars(200), "tool": chars(200)},
		"title":             {"card": `{"title":` + chars(200) + `}`},
		"astral title":      {"card": `{"title":"` + strings.Repeat(`\ud83d\ude00`, 200) + `"}`},
		"action":            card(`"action":` + chars(60)),
		"no lines":          card(`"lines":[]`),
		"most lines":        card(`"lines":` + list(5000, `"x"`)),
		"longest line":      card(`"lines":[` + chars(1000) + `]`),
		"texts":             card(`"request":` + chars(2000) + `,"summary":` + chars(2000)),
		"undo days":         card(`"undo_tool":"u","undo_window_days":3650`),
		"most calls":        {"tool": "", "arguments": "", "calls": list(50, `{"tool":"t","arguments":{},"call_id":`+chars(200)+`}`)},
		"call id null":      {"tool": "", "arguments": "", "calls": `[{"tool":"t","arguments":{},"call_id":null}]`},
		"largest context":   {"context": `"` + strings.Repeat("x", 16<<10-2) + `"`},
		"context nesting":   {"context": nested(31)},
		"expires_in":        {"expires_in": "5"},
		"expires_in part":   {"expires_in": "5.25"},
		"expires_in exp":    {"expires_in": "1e3"},
		"risk a string":     {"risk": `"none"`},
		"facts a string":    {"risk": `{"facts":"none","refiner":3}`},
		"unknown fields":    {"calls2": "1", "card2": "null"},
		"keys mind case":    {"Kind": `"x"`, "Card": "1"},
		"largest data":      {"pad": `"` + strings.Repeat("x", approval.MaxData-len(valid(draft{"pad": `""`}))) + `"`},
		"undo without tool": card(`"undo_window_days":1`),
	} {
		if _, err := approval.Decode(valid(fields)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		fields draft
		want   string
	}{
		{draft{"kind": `"stop"`}, "invalid: kind: must be tool_call or halt"},
		{draft{"kind": `1`}, "invalid: kind: must be tool_call or halt"},
		{draft{"kind": `""`}, "invalid: kind: must be tool_call or halt"},
		{draft{"runtime": chars(201)}, "invalid: runtime: over 200 characters"},
		{draft{"runtime": `["iris"]`}, "invalid: runtime: must be a string"},
		{draft{"run_id": `7`}, "invalid: run_id: must be a string"},
		{draft{"session": chars(201)}, "invalid: session: over 200 characters"},
		{draft{"tool": ""}, "invalid: tool: required"},
		{draft{"tool": "null"}, "invalid: tool: required"},
		{draft{"tool": `""`}, "invalid: tool: required"},
		{draft{"tool": "true"}, "invalid: tool: must be a string"},
		{draft{"tool": chars(201)}, "invalid: tool: over 200 characters"},
		{draft{"arguments": ""}, "invalid: arguments: required"},
		{draft{"arguments": "null"}, "invalid: arguments: must be an object"},
		{draft{"arguments": `"{}"`}, "invalid: arguments: must be an object"},
		{draft{"arguments": `[]`}, "invalid: arguments: must be an object"},
		{draft{"calls": `[]`}, "invalid: calls: not allowed beside tool"},
		{draft{"tool": "", "calls": `[]`}, "invalid: calls: not allowed beside arguments"},
		{draft{"tool": "", "arguments": "", "calls": `[]`}, "invalid: calls: must have at least 1 item"},
		{draft{"tool": "", "arguments": "", "calls": `{}`}, "invalid: calls: must be a list"},
		{draft{"tool": "", "arguments": "", "calls": `[3,{}]`}, "invalid: calls[0]: must be an object"},
		{draft{"tool": "", "arguments": "", "calls": list(51, `{"tool":"t","arguments":{}}`)}, "invalid: calls: over 50 items"},
		{draft{"tool": "", "arguments": "", "calls": `[{"tool":"t","arguments":{}},{"tool":"t"}]`}, "invalid: calls[1].arguments: required"},
		{draft{"tool": "", "arguments": "", "calls": `[{"tool":"t","arguments":{},"call_id":7}]`}, "invalid: calls[0].call_id: must be a string"},
		{draft{"tool": "", "arguments": "", "calls": `[{"tool":"t","arguments":{},"call_id":` + chars(201) + `}]`}, "invalid: calls[0].call_id: over 200 characters"},
		{draft{"kind": `"halt"`}, "invalid: tool: not allowed: a halt pins no call"},
		{draft{"kind": `"halt"`, "tool": ""}, "invalid: arguments: not allowed: a halt pins no call"},
		{draft{"kind": `"halt"`, "tool": "", "arguments": "", "calls": "[]"}, "invalid: calls: not allowed: a halt pins no call"},
		{draft{"effect": `"read"`}, "invalid: effect: must be destructive or write"},
		{draft{"effect": `false`}, "invalid: effect: must be destructive or write"},
		{draft{"approval": `"auto"`}, "invalid: approval: must be pinned or absent"},
		{draft{"approval": `null`}, "invalid: approval: must be pinned or absent"},
		{draft{"approval": `true`}, "invalid: approval: must be pinned or absent"},
		{draft{"context": `"` + strings.Repeat("x", 16<<10-1) + `"`}, "invalid: context: over 16 KiB"},
		{draft{"card": ""}, "invalid: card.title: required"},
		{draft{"card": `"Trash"`}, "invalid: card: must be an object"},
		{draft{"card": `{}`}, "invalid: card.title: required"},
		{draft{"card": `{"title":null}`}, "invalid: card.title: required"},
		{draft{"card": `{"title":" \n"}`}, "invalid: card.title: required"},
		{draft{"card": `{"title":["T"]}`}, "invalid: card.title: must be a string"},
		{draft{"card": `{"title":` + chars(201) + `}`}, "invalid: card.title: over 200 characters"},
		{card(`"action":` + chars(61)), "invalid: card.action: over 60 characters"},
		{card(`"lines":"one"`), "invalid: card.lines: must be a list"},
		{card(`"lines":["one",2]`), "invalid: card.lines[1]: must be a string"},
		{card(`"lines":["one",null]`), "invalid: card.lines[1]: must be a string"},
		{card(`"lines":[` + chars(1001) + `]`), "invalid: card.lines[0]: over 1,000 characters"},
		{card(`"lines":` + list(5001, `"x"`)), "invalid: card.lines: over 5,000 items"},
		{card(`"lines":` + list(10000, `"x"`)), "invalid: card.lines: over 5,000 items"},
		{card(`"undo_tool":{}`), "invalid: card.undo_tool: must be a string"},
		{card(`"undo_window_days":0`), "invalid: card.undo_window_days: must be from 1 to 3,650"},
		{card(`"undo_window_days":-1`), "invalid: card.undo_window_days: must be from 1 to 3,650"},
		{card(`"undo_window_days":3651`), "invalid: card.undo_window_days: must be from 1 to 3,650"},
		{card(`"undo_window_days":1.5`), "invalid: card.undo_window_days: must be an integer"},
		{card(`"undo_window_days":"30"`), "invalid: card.undo_window_days: must be an integer"},
		{card(`"request":` + chars(2001)), "invalid: card.request: over 2,000 characters"},
		{card(`"summary":` + chars(2001)), "invalid: card.summary: over 2,000 characters"},
		{draft{"expires_in": "4.999"}, "invalid: expires_in: must be at least 5 seconds"},
		{draft{"expires_in": "0"}, "invalid: expires_in: must be at least 5 seconds"},
		{draft{"expires_in": "-3600"}, "invalid: expires_in: must be at least 5 seconds"},
		{draft{"expires_in": "null"}, "invalid: expires_in: must be a number of seconds"},
		{draft{"expires_in": `"60"`}, "invalid: expires_in: must be a number of seconds"},
		{draft{"expires_in": "1e300"}, "invalid: expires_in: too far ahead"},
		{draft{"expires_in": "60", "expires_at": `"2027-01-01T00:00:00Z"`}, "invalid: expires_at: not allowed beside expires_in"},
		// Broken I-JSON around an id that can be read.
		{draft{"x": `"\ud800"`}, "invalid: x: holds a lone surrogate"},
		{draft{"x": "\"\xff\""}, "invalid: x: is not UTF-8"},
		{draft{"x": "1e999"}, "invalid: x: must be finite as a double"},
		{draft{"arguments": `{"ids":[1,2,3,9007199254740992]}`}, "invalid: arguments.ids[3]: must be within ±(2^53-1)"},
		{draft{"arguments": `{"a":1,"a":2}`}, "invalid: arguments.a: given twice"},
		{draft{"arguments": nested(32)}, "invalid: arguments" + strings.Repeat("[0]", 31) + ": nested deeper than 32"},
		{draft{"x": nested(1000)}, "invalid: x" + strings.Repeat("[0]", 31) + ": nested deeper than 32"},
		{draft{"x": `1,"tool":"other"`}, "invalid: tool: given twice"},
		{draft{"x": `"` + strings.Repeat("y", 256<<10) + `"`}, "too_large: data: over 256 KiB"},
		{draft{"x": `"` + strings.Repeat("y", 1<<20) + `"`}, "too_large: data: over 256 KiB"},
		{draft{"x": nested(1 << 20)}, "too_large: data: over 256 KiB"},
	}
	for _, tt := range tests {
		data := valid(tt.fields)
		r, err := approval.Decode(data)
		var invalid *approval.Invalid
		if !errors.As(err, &invalid) {
			t.Errorf("%.100s: error %v, want %s", data, err, tt.want)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("%.100s:\n got %s\nwant %s", data, err, tt.want)
		}
		if invalid.ID != "a1" || r.ID != "a1" {
			t.Errorf("%.100s: id %q in the error and %q in the request, want a1", data, invalid.ID, r.ID)
		}
	}
}

// Without a usable id there is nobody to answer.
func TestDecodeDead(t *testing.T) {
	const rule = "invalid: approval_id: must be 1-128 of A-Za-z0-9._:-"
	pad := func(n int) string { return `,"x":"` + strings.Repeat("y", n) + `"}` }
	tests := []struct{ data, want string }{
		{`{`, "invalid: data: is not JSON at byte 1"},
		{``, "invalid: data: is not JSON at byte 0"},
		{`null`, "invalid: data: must be a JSON object"},
		{`[{"approval_id":"a1"}]`, "invalid: data: must be a JSON object"},
		{`"a1"`, "invalid: data: must be a JSON object"},
		{`{}`, "invalid: approval_id: required"},
		{`{"Approval_ID":"a1"}`, "invalid: approval_id: required"},
		{`{"card":{"approval_id":"a1"}}`, "invalid: approval_id: required"},
		{`{"approval_id":null}`, "invalid: approval_id: must be a string"},
		{`{"approval_id":1}`, "invalid: approval_id: must be a string"},
		{`{"approval_id":["a1"]}`, "invalid: approval_id: must be a string"},
		{`{"approval_id":""}`, rule},
		{`{"approval_id":"a b"}`, rule},
		{`{"approval_id":"a/b"}`, rule},
		{`{"approval_id":"é"}`, rule},
		{`{"approval_id":"a\u0000"}`, rule},
		{`{"approval_id":"\ud800"}`, rule},
		{`{"approval_id":"` + strings.Repeat("a", 129) + `"}`, rule},
		{`{"approval_id":"a1","approval_id":"a1"}`, "invalid: approval_id: given twice"},
		{`{"approval_id":"a1","x":"\ud800","approval\u005fid":"a2"}`, "invalid: approval_id: given twice"},
		{`{"approval_id":"a1"}{"approval_id":"a2"}`, "invalid: data: must be one JSON value"},
		{`{"approval_id":"a1"} x`, "invalid: data: must be one JSON value"},
		{`{"approval_id":"a1","tool":"t","card":{"title":"T"`, "invalid: data: is not JSON at byte 50"},
		{`{"approval_id":"a1","approval_id":"a1"` + pad(1<<20), "too_large: data: over 256 KiB"},
		{`{"approval_id":"a b"` + pad(1<<20), "too_large: data: over 256 KiB"},
		{strings.Repeat("x", 1<<20), "too_large: data: over 256 KiB"},
		{`{"approval_id":"a1"` + pad(1<<20) + "{}", "too_large: data: over 256 KiB"},
		{`{"approval_id":"a1"` + pad(8<<20), "too_large: data: over 256 KiB"},
	}
	for _, tt := range tests {
		r, err := approval.Decode([]byte(tt.data))
		var invalid *approval.Invalid
		if !errors.As(err, &invalid) || err.Error() != tt.want {
			t.Errorf("%.80s: %v, want %s", tt.data, err, tt.want)
			continue
		}
		if invalid.ID != "" || r.ID != "" {
			t.Errorf("%.80s: id %q and %q, want none", tt.data, invalid.ID, r.ID)
		}
	}
}

// A refusal repeats what was asked, as far as it could be read.
func TestDecodeKeepsWhatIsGood(t *testing.T) {
	r, err := approval.Decode(valid(draft{"runtime": `"iris"`, "run_id": `"r1"`, "context": `[1]`, "effect": `"x"`, "card": `{}`}))
	if err == nil || err.Error() != "invalid: effect: must be destructive or write" {
		t.Fatalf("error %v", err)
	}
	if r.Runtime != "iris" || r.RunID != "r1" || string(r.Context) != "[1]" || len(r.Calls) != 1 {
		t.Errorf("got %+v", r)
	}
	r, _ = approval.Decode(valid(draft{"tool": "", "arguments": "", "calls": `[{"tool":"t","arguments":{}},{}]`}))
	if r.Calls != nil {
		t.Errorf("calls %v of which one is bad", r.Calls)
	}
}

// What was decoded does not change when the bytes are used again.
func TestDecodeSharesNothing(t *testing.T) {
	data := valid(draft{"context": `{"a":"b"}`, "risk": `{"facts":{"mutating":true}}`})
	got, err := approval.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := approval.Decode(slices.Clone(data))
	for i := range data {
		data[i] = 'x'
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestValidID(t *testing.T) {
	for _, id := range []string{"a", "-", "A-Z.a_z:0", strings.Repeat("x", 128)} {
		if !approval.ValidID(id) {
			t.Errorf("%q refused", id)
		}
	}
	for _, id := range []string{"", " ", "a b", "a\n", "a{b}", "ａ", "a\x00", strings.Repeat("x", 129)} {
		if approval.ValidID(id) {
			t.Errorf("%q accepted", id)
		}
	}
}
