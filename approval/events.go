package approval

// DecodeWithdrawal reads the data of an approval.withdrawn event. Its error is
// an [*Invalid], as are those of the other events below.
func DecodeWithdrawal(data []byte) (Withdrawal, error) { return ReadData(data).Withdrawal() }

// Withdrawal is [DecodeWithdrawal] of data that has been read.
func (d *Data) Withdrawal() (Withdrawal, error) {
	f, o := d.openEvent()
	if o == nil {
		return Withdrawal{}, f.err()
	}
	w := Withdrawal{ID: f.id, Reason: f.text(o, "reason", MaxText)}
	return w, f.err()
}

// DecodeClaim reads the data of an approval.claimed event.
func DecodeClaim(data []byte) (ClaimEvent, error) { return ReadData(data).Claim() }

// Claim is [DecodeClaim] of data that has been read.
func (d *Data) Claim() (ClaimEvent, error) {
	f, o := d.openEvent()
	if o == nil {
		return ClaimEvent{}, f.err()
	}
	c := ClaimEvent{ID: f.id, Pin: f.required(o, "pin", MaxName), By: f.required(o, "by", MaxName)}
	return c, f.err()
}

// DecodeReport reads the data of an approval.reported event.
func DecodeReport(data []byte) (Report, error) { return ReadData(data).Report() }

// Report is [DecodeReport] of data that has been read.
func (d *Data) Report() (Report, error) {
	f, o := d.openEvent()
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
	if list, n := f.list(o, "results", MaxResults); n > 0 {
		r.Results = make([]Result, 0, n)
		for _, item := range f.items("results", list) {
			r.Results = append(r.Results, decodeResult(f, &item))
		}
	}
	if o.get("undo_until").there() {
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
