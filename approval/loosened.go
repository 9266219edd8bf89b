package approval

import "time"

// A Loosened is an entry of the audit that is about no approval: the configuration
// allows what it did not, and the owners are told.
type Loosened struct {
	At            time.Time
	Before, After string // digests of what the configuration allowed, "sha256:" + hex
	Looser        []Loosening
}

// A Loosening is one thing that is allowed now. It has no name and no text.
type Loosening struct {
	Code string // what it is, e.g. owner_added
	Of   string // a person's id, an index in the configuration, a digest of what was told; may be ""
}

// Encode returns the record as canonical JSON (RFC 8785):
//
//	{after, at, before, kind: "configuration", looser: [{code, of?}]}
func (l *Loosened) Encode() ([]byte, error) {
	var w writer
	w.text("after", l.After)
	w.moment("at", l.At)
	w.text("before", l.Before)
	w.text("kind", "configuration")
	w.name("looser")
	w.begin('[')
	for _, x := range l.Looser {
		w.item()
		w.text("code", x.Code)
		w.optional("of", x.Of)
		w.end('}')
	}
	w.end(']')
	return w.done()
}
