package approval

import (
	"bytes"
	"encoding/json"
	"time"
)

// maxAnswer bounds the data of an answer, in bytes: a request's, and what is
// said about it.
const maxAnswer = 1 << 20

// answerNesting is how deep an answer may be nested: the arguments of a single
// call stand two levels deeper in it than in the request.
const answerNesting = MaxNesting + 2

// Encode returns the data of the approval.answered event, with its fields in
// the order of [Answer]. Arguments and context are spliced byte for byte;
// calls is a list also where the request had one call outside a list, and
// empty for a halt. What is empty is left out, except by.name and observation.
// It is an error if by names nobody, or if raw JSON is not JSON. A signature
// goes in as the last field, with [WithSig].
func (a *Answer) Encode() ([]byte, error) {
	var w writer
	w.text("approval_id", a.ID)
	w.optional("runtime", a.Runtime)
	w.optional("run_id", a.RunID)
	w.text("decision", string(a.Decision))
	w.boolean("approved", a.Decision == DecisionApproved)
	w.optional("terms", a.Terms)
	w.optional("pin", a.Pin)
	w.calls(a.Calls)
	w.context(a.Context)
	w.optional("reason", a.Reason)
	w.text("observation", a.Observation)
	w.by("by", a.By)
	if a.Approvals != nil {
		w.name("approvals")
		w.begin('[')
		for _, by := range a.Approvals {
			w.item()
			w.byFields(by)
			w.end('}')
		}
		w.end(']')
	}
	if a.Shown != nil {
		w.name("shown")
		w.begin('{')
		w.integer("lines", int64(a.Shown.Lines))
		w.integer("of", int64(a.Shown.Of))
		w.end('}')
	}
	w.moment("at", a.At)
	return w.done()
}

// DecodeAnswer reads the data of an approval.answered event, signed or not.
// Its error is an [*Invalid]. It believes nothing beyond the form: whether an
// answer is one's own, its terms and pin tell.
func DecodeAnswer(data []byte) (*Answer, error) {
	f := &fields{}
	if len(data) > maxAnswer {
		f.bad(CodeTooLarge, "data", "over 1 MiB")
		return nil, f.err()
	}
	o := f.open(readData(data, answerNesting))
	if o == nil {
		return nil, f.err()
	}
	a := &Answer{
		ID:      f.id,
		Runtime: f.text(o, "runtime", MaxName),
		RunID:   f.text(o, "run_id", MaxName),
		Decision: oneOf(f, o, "decision", "", DecisionApproved, DecisionRejected,
			DecisionLapsed, DecisionWithdrawn, DecisionRefused),
		Terms:       f.text(o, "terms", MaxName),
		Pin:         f.text(o, "pin", MaxName),
		Calls:       answeredCalls(f, o),
		Context:     bytes.Clone(o.at("context").raw()),
		Reason:      f.text(o, "reason", maxAnswer),
		Observation: f.text(o, "observation", maxAnswer),
		By:          decodeBy(f, new(f.object(o, "by"))),
		Shown:       decodeShown(f, o),
		At:          f.moment(o, "at"),
	}
	if list, n := f.list(o, "approvals", maxAnswer); n > 0 { // as many as fit
		for _, item := range f.items("approvals", list) {
			a.Approvals = append(a.Approvals, decodeBy(f, &item))
		}
	}
	if a.Decision == "" {
		f.invalid("decision", ruleRequired)
	}
	// A runtime may look at either; they must not disagree.
	if approved, ok := f.boolean(o, "approved"); !ok || approved != (a.Decision == DecisionApproved) {
		f.invalid("approved", "must be true for approved, else false")
	}
	if f.wrong != nil {
		return nil, f.err()
	}
	return a, nil
}

// answeredCalls reads a list of calls: nil if absent, empty for a halt.
func answeredCalls(f *fields, o *object) []Call {
	if !o.get("calls").there() {
		return nil
	}
	calls := []Call{}
	if list, n := f.list(o, "calls", MaxCalls); n > 0 {
		for _, item := range f.items("calls", list) {
			calls = append(calls, decodeListed(f, &item))
		}
	}
	return calls
}

func decodeBy(f *fields, o *object) By {
	by := By{
		Surface: oneOf(f, o, "surface", "", Telegram, CLI, Policy, Sweeper, Runtime, Intake),
		ID:      f.required(o, "id", MaxName),
		Name:    f.text(o, "name", maxAnswer),
		Method:  oneOf(f, o, "method", "", Button, Typed),
	}
	if by.Surface == "" {
		f.invalid(o.path+"surface", ruleRequired)
	}
	chat, _ := f.integer(o, "chat_id", -maxInteger, maxInteger)
	by.Chat = int64(chat)
	by.Message, _ = f.integer(o, "message_id", 0, maxInteger)
	return by
}

func decodeShown(f *fields, o *object) *Shown {
	if !o.get("shown").there() {
		return nil
	}
	shown := f.object(o, "shown")
	var s Shown
	s.Lines, _ = f.integer(&shown, "lines", 0, MaxLines)
	s.Of, _ = f.integer(&shown, "of", 0, MaxLines)
	return &s
}

// UndoRequested is the data of an approval.undo_requested event.
type UndoRequested struct {
	ID       string
	UndoTool string
	Calls    []Call
	Context  json.RawMessage
	By       By
	At       time.Time
}

// Encode returns the event's data under the rules of [Answer.Encode].
func (u *UndoRequested) Encode() ([]byte, error) {
	var w writer
	w.text("approval_id", u.ID)
	w.text("undo_tool", u.UndoTool)
	w.calls(u.Calls)
	w.context(u.Context)
	w.by("by", u.By)
	w.moment("at", u.At)
	return w.done()
}
