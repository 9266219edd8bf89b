package approval

import "fmt"

// DecodeWithdrawal reads the data of an approval.withdrawn event. Its error is
// an [*Invalid], as are those of the other events below.
func DecodeWithdrawal(data []byte) (Withdrawal, error) {
	f, o := openEvent(data)
	if o == nil {
		return Withdrawal{}, f.err()
	}
	w := Withdrawal{ID: f.id, Reason: f.text(o, "reason", MaxText)}
	return w, f.err()
}

// DecodeClaim reads the data of an approval.claimed event.
func DecodeClaim(data []byte) (ClaimEvent, error) {
	f, o := openEvent(data)
	if o == nil {
		return ClaimEvent{}, f.err()
	}
	c := ClaimEvent{ID: f.id, Pin: f.required(o, "pin", MaxName), By: f.required(o, "by", MaxName)}
	return c, f.err()
}

// DecodeReport reads the data of an approval.reported event.
func DecodeReport(data []byte) (Report, error) {
	f, o := openEvent(data)
	if o == nil {
		return Report{}, f.err()
	}
	r := Report{
		ID:      f.id,
		Outcome: oneOf(f, o, "outcome", "", Executed, Failed, Partial, Undone),
		Message: f.text(o, "message", MaxText),
	}
	if r.Outcome == "" {
		f.invalid("outcome", ruleRequired)
	}
	for i, v := range f.list(o, "results", MaxResults) {
		if item := f.item("results", i, v); item != nil {
			r.Results = append(r.Results, decodeResult(f, item))
		}
	}
	if o.get("undo_until") != nil {
		until := f.moment(o, "undo_until")
		r.UndoUntil = &until
	}
	return r, f.err()
}

func decodeResult(f *fields, o *object) (r Result) {
	var ok bool
	if r.Line, ok = f.integer(o, "line", 1, maxInteger); !ok {
		f.invalid(o.path+"line", ruleRequired)
	}
	if r.OK, ok = f.boolean(o, "ok"); !ok {
		f.invalid(o.path+"ok", ruleRequired)
	}
	r.Detail = f.text(o, "detail", MaxLine)
	return r
}

// item opens one value of a list, nil if it is no object.
func (f *fields) item(list string, i int, v []byte) *object {
	path := fmt.Sprintf("%s[%d]", list, i)
	if kindOf(v) != '{' {
		f.invalid(path, "must be an object")
		return nil
	}
	return openObject(path+".", v)
}
