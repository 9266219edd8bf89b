package approval

import "bytes"

// A Sig is the signature an answer or undo request carries as its last field,
// over the canonical form of the data without it.
type Sig struct {
	Alg   string // ed25519
	Key   string // the first 16 hex digits of SHA-256 over the raw public key
	Value string // standard base64
}

// WithSig returns the encoded object data with sig as its last field.
func WithSig(data []byte, sig Sig) []byte {
	w := writer{buf: bytes.Clone(data[:len(data)-1])}
	w.name("sig")
	w.begin('{')
	w.text("alg", sig.Alg)
	w.text("key", sig.Key)
	w.text("value", sig.Value)
	w.end('}')
	w.end('}')
	return w.buf
}

// SplitSig returns the canonical form of data without its sig, which is what
// was signed, and the sig, nil if there is none. Data that is not an I-JSON
// object, or whose sig has another shape, is an [*Invalid].
func SplitSig(data []byte) (signed []byte, sig *Sig, err error) {
	f := &fields{}
	if len(data) > maxAnswer {
		f.bad(CodeTooLarge, "data", "over 1 MiB")
		return nil, nil, f.err()
	}
	o := f.open(readData(data, answerNesting))
	if o == nil {
		return nil, nil, f.err()
	}
	if o.has("sig") {
		s := f.object(o, "sig")
		sig = &Sig{
			Alg:   f.required(&s, "alg", MaxName),
			Key:   f.required(&s, "key", MaxName),
			Value: f.required(&s, "value", MaxName),
		}
		if f.wrong != nil {
			return nil, nil, f.err()
		}
	}
	return o.doc.canonicalWithout("sig"), sig, nil
}
