package approval_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
)

// FuzzDecode holds what every request obeys, whatever is sent.
func FuzzDecode(f *testing.F) {
	for _, seed := range [][]byte{
		valid(nil),
		valid(draft{"context": `{"a":[1,"\ud83d\ude00"]}`, "expires_in": "60.5", "risk": `{"facts":{"mutating":true}}`}),
		valid(draft{"tool": "", "arguments": "", "calls": `[{"tool":"t","arguments":{},"call_id":"c"}]`}),
		valid(draft{"x": `"\ud800"`, "expires_at": `"2027-01-01T00:00:00.5+01:00"`}),
		[]byte(`{"approval_id":"h","kind":"halt","card":{"title":"T","lines":["a"],"undo_window_days":3}}`),
		[]byte(`{"approval_id":"a1","approval\u005fid":"a2"}`),
		[]byte(`{"approval_id":"a1"} {}`),
		[]byte(`{"approval_id":"a1","x":` + nested(40) + `}`),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := approval.Decode(data)
		if err != nil {
			refused(t, data, r, err)
			return
		}
		if !json.Valid(data) || !approval.ValidID(r.ID) || r.Card.Title == "" {
			t.Errorf("accepted %q", data)
		}
		if r.Kind == approval.ToolCall && len(r.Calls) == 0 || r.Kind == approval.Halt && len(r.Calls) > 0 {
			t.Errorf("a %s with %d calls", r.Kind, len(r.Calls))
		}
		for _, c := range r.Calls {
			if !bytes.Contains(data, c.Arguments) {
				t.Errorf("arguments %q are not as sent", c.Arguments)
			}
		}
		pin, err := approval.PinOf(r.Calls)
		if err != nil {
			t.Fatal(err)
		}
		digest, err := approval.Terms(data)
		if err != nil {
			t.Fatal(err)
		}
		answer := approval.Answer{
			ID: r.ID, Runtime: r.Runtime, RunID: r.RunID, Decision: approval.DecisionApproved,
			Terms: digest, Pin: pin, Calls: r.Calls, Context: r.Context,
			Observation: approval.Observation(approval.DecisionApproved, r.Card.Title, ""),
			By:          approval.By{Surface: approval.CLI, ID: "ann"}, At: time.UnixMilli(0).UTC(),
		}
		out, err := answer.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := approval.DecodeAnswer(out)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if diff := cmp.Diff(answer, *back); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// refused checks that an id beside an error is the one id of an object, by the
// word of another parser.
func refused(t *testing.T, data []byte, r approval.Request, err error) {
	var invalid *approval.Invalid
	if !errors.As(err, &invalid) {
		t.Fatalf("error %T", err)
	}
	if invalid.Code == "" || invalid.Field == "" || invalid.Rule == "" || invalid.ID != r.ID {
		t.Errorf("%+v beside id %q", invalid, r.ID)
	}
	if invalid.ID == "" || len(data) > 4096 { // the other parser gives up at 10,000 levels
		return
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatalf("id %q out of %q: %v", invalid.ID, data, err)
	}
	var id string
	if err := json.Unmarshal(fields["approval_id"], &id); err != nil || id != invalid.ID {
		t.Errorf("id %q, another parser reads %q, %v", invalid.ID, id, err)
	}
}
