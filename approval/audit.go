package approval

import "time"

// Audit is one transition as the audit keeps it: ids and digests, no titles,
// arguments, reasons or details.
type Audit struct {
	ID         string
	From, To   State // From is Requested for an opening
	At         time.Time
	BySurface  Surface
	ByID       string
	Pin, Terms string
	ReasonCode string   // of a refusal, see the function of this name, or of a policy
	Results    []Result // of a report: only line and ok are kept
	Undo       bool     // an undo was asked for
}

// Encode returns the record as canonical JSON (RFC 8785):
//
//	{approval_id, at, by: {id, surface}, from, pin, reason_code?, results?: [{line, ok}], terms, to, undo?}
func (a *Audit) Encode() ([]byte, error) {
	w := writer{buf: make([]byte, 0, 512)}
	if a.BySurface == "" || a.ByID == "" {
		w.err = errNobody
	}
	w.text("approval_id", a.ID)
	w.moment("at", a.At)
	w.name("by")
	w.begin('{')
	w.text("id", a.ByID)
	w.text("surface", string(a.BySurface))
	w.end('}')
	w.text("from", string(a.From))
	w.text("pin", a.Pin)
	w.optional("reason_code", a.ReasonCode)
	if a.Results != nil {
		w.name("results")
		w.begin('[')
		for _, r := range a.Results {
			w.item()
			w.integer("line", int64(r.Line))
			w.boolean("ok", r.OK)
			w.end('}')
		}
		w.end(']')
	}
	w.text("terms", a.Terms)
	w.text("to", string(a.To))
	if a.Undo {
		w.boolean("undo", true)
	}
	return w.done()
}
