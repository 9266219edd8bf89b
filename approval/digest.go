package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/gowebpki/jcs"
)

// Canonical returns the RFC 8785 form of an I-JSON text: no white space, keys
// in order of their UTF-16 units, one way to write each string and number.
func Canonical(raw []byte) ([]byte, error) {
	out, err := jcs.Transform(raw)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return out, nil
}

// Terms is the digest of what a runtime asked for: sha256: and the hex SHA-256
// of the canonical form of data without expires_in and expires_at. It does not
// check that data is a good request, only that it is an I-JSON object within
// the limits of an event; its error is then an [*Invalid]. White space and the
// order of keys change nothing; any other change of a value does.
func Terms(data []byte) (string, error) {
	if len(data) > MaxData {
		return "", &Invalid{Code: CodeTooLarge, Field: "data", Rule: "over 256 KiB"}
	}
	if broken := checkJSON(data, MaxNesting); broken != nil {
		return "", &Invalid{Code: CodeInvalid, Field: orData(broken.path), Rule: broken.rule}
	}
	if kindOf(data) != '{' {
		return "", &Invalid{Code: CodeInvalid, Field: "data", Rule: "must be a JSON object"}
	}
	canonical, err := canonicalWithout(data, "expires_in", "expires_at")
	if err != nil {
		return "", fmt.Errorf("terms: %w", err)
	}
	return digest(canonical), nil
}

// canonicalWithout is the canonical form of a checked object without some of
// its own fields.
func canonicalWithout(data []byte, names ...string) ([]byte, error) {
	w := writer{buf: append(make([]byte, 0, len(data)+2), '{')}
	for key, value := range members(data) {
		if name := string(key); !slices.Contains(names, name) {
			w.name(name)
			w.buf = append(w.buf, value...)
		}
	}
	return Canonical(append(w.buf, '}'))
}

// RawDigest is the digest of the bytes themselves. It stands for the terms of
// a request whose terms cannot be computed.
func RawDigest(data []byte) string { return digest(data) }

// TermsOrRaw is [Terms] where they can be computed, else [RawDigest]. Both
// sides of a refusal use it, so that a runtime knows an answer for its own.
func TermsOrRaw(data []byte) string {
	if terms, err := Terms(data); err == nil {
		return terms
	}
	return RawDigest(data)
}

// PinOf is the digest of the calls alone, and what a claim must name: sha256:
// and the hex SHA-256 of the canonical {"calls":[{"arguments":…,"tool":…},…]}.
// Call ids are not part of it. A halt pins no call: {"calls":[]}. A refused
// request whose calls could not be read has no pin at all.
func PinOf(calls []Call) (string, error) {
	var w writer
	w.name("calls")
	w.begin('[')
	for _, c := range calls {
		w.item()
		w.raw("arguments", c.Arguments)
		w.text("tool", c.Tool)
		w.end('}')
	}
	w.end(']')
	out, err := w.done()
	if err == nil {
		out, err = Canonical(out)
	}
	if err != nil {
		return "", fmt.Errorf("pin: %w", err)
	}
	return digest(out), nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
