package schemas_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/schemas"
)

// Whatever the bot writes is what its schema says: answers and undo requests of any
// kind, signed or not.
func TestEventsOutConform(t *testing.T) {
	set := compiled(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 40, -1)
		some := func(label string) string { return text.Draw(t, label) }
		named := func(label string) string { return rapid.StringN(1, 40, -1).Draw(t, label) }
		by := approval.By{
			Surface: rapid.SampledFrom([]approval.Surface{
				approval.Telegram, approval.CLI, approval.Policy, approval.Sweeper, approval.Runtime, approval.Intake,
			}).Draw(t, "surface"),
			ID: named("by"), Name: some("name"), Chat: rapid.Int64Range(-1<<52, 1<<52).Draw(t, "chat"),
			Message: rapid.IntRange(0, 1<<40).Draw(t, "message"),
			Method:  rapid.SampledFrom([]string{"", approval.Button, approval.Typed}).Draw(t, "method"),
		}
		calls := []approval.Call{}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			calls = append(calls, approval.Call{Tool: named("tool"), Arguments: json.RawMessage(`{"a":[1,{}]}`), CallID: some("call_id")})
		}
		pin, err := approval.PinOf(calls)
		if err != nil {
			t.Fatal(err)
		}
		at := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at")).UTC()
		a := approval.Answer{
			ID: "a1", Runtime: some("runtime"), RunID: some("run"),
			Decision: rapid.SampledFrom([]approval.Decision{
				approval.DecisionApproved, approval.DecisionRejected, approval.DecisionLapsed, approval.DecisionWithdrawn, approval.DecisionRefused,
			}).Draw(t, "decision"),
			Reason: some("reason"), Observation: some("observation"), By: by, At: at,
		}
		if rapid.Bool().Draw(t, "read") || a.Decision == approval.DecisionApproved {
			a.Terms, a.Pin, a.Calls, a.Context = approval.RawDigest([]byte(some("terms"))), pin, calls, json.RawMessage(`[null]`)
		}
		if rapid.Bool().Draw(t, "quorum") {
			a.Approvals, a.Shown = []approval.By{by, by}, &approval.Shown{Lines: 1, Of: 5000}
		}
		answer, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		undo, err := (&approval.UndoRequested{ID: "a1", UndoTool: named("undo"), Calls: calls, By: by, At: at}).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "signed") {
			sig := approval.Sig{Alg: "ed25519", Key: "0123456789abcdef", Value: string(sixtyFour())}
			answer, undo = approval.WithSig(answer, sig), approval.WithSig(undo, sig)
		}
		for kind, data := range map[schemas.Type][]byte{schemas.Answered: answer, schemas.UndoRequested: undo} {
			if err := set.Check(kind, data); err != nil {
				t.Errorf("%s: %v\n%s", kind, err, data)
			}
		}
	})
}

// sixtyFour is the base64 of a signature's 64 bytes.
func sixtyFour() []byte {
	text := make([]byte, 0, 88)
	for range 86 {
		text = append(text, 'A')
	}
	return append(text, "=="...)
}

// An answer that says approved in one place alone is none.
func TestAnswersDoNotDisagree(t *testing.T) {
	set := compiled(t)
	const rest = `"observation":"o","by":{"surface":"cli","id":"ann","name":""},"at":"2027-01-01T00:00:00.000Z"}`
	for _, data := range []string{
		`{"approval_id":"a1","decision":"rejected","approved":true,` + rest,
		`{"approval_id":"a1","decision":"approved","approved":false,` + rest,
		`{"approval_id":"a1","decision":"approved","approved":true,` + rest, // of what, it must say
		`{"approval_id":"a1","decision":"rejected","approved":"false",` + rest,
	} {
		if set.Check(schemas.Answered, []byte(data)) == nil {
			t.Errorf("allowed: %s", data)
		}
	}
	if err := set.Check(schemas.Answered, []byte(`{"approval_id":"a1","decision":"rejected","approved":false,`+rest)); err != nil {
		t.Error(err)
	}
}

// A violation names the place as a refusal does, and the same one each time.
func TestViolations(t *testing.T) {
	set := compiled(t)
	for data, want := range map[string]string{
		`{"approval_id":"a1","tool":"t","arguments":{},"card":{"title":1,"lines":["a",2]}}`: "card.lines[1]: got number, want string",
		`{"approval_id":"a1","tool":"t","arguments":{},"card":{"title":1}}`:                 "card.title: got number, want string",
		`{"approval_id":"a1","tool":"t","arguments":{}}`:                                    "data: missing property 'card'",
	} {
		for range 20 {
			err := set.Check(schemas.Requested, []byte(data))
			var broken *schemas.Violation
			if !errors.As(err, &broken) || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	if err := set.Check("approval.other", []byte(`{}`)); err == nil {
		t.Error("a type without a schema is allowed")
	}
}
