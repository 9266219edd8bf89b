package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Terms is the digest of what a runtime asked for: sha256: and the hex SHA-256
// of the canonical form of data without expires_in and expires_at. It does not
// check that data is a good request, only that it is an I-JSON object within
// the limits of an event; its error is then an [*Invalid]. White space and the
// order of keys change nothing; any other change of a value does.
func Terms(data []byte) (string, error) { return ReadData(data).Terms() }

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
	b := append(make([]byte, 0, pinSize(calls)), `{"calls":[`...)
	for i, c := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"arguments":`...)
		var err error
		if b, err = appendCanonical(b, c.Arguments); err != nil {
			return "", fmt.Errorf("pin: arguments: %w", err)
		}
		b = append(b, `,"tool":`...)
		b = append(appendString(b, c.Tool), '}')
	}
	return digest(append(b, "]}"...)), nil
}

// pinSize is about how long the text is that a pin digests.
func pinSize(calls []Call) int {
	n := 16
	for _, c := range calls {
		n += len(c.Arguments) + len(c.Tool) + 32
	}
	return n
}

func digest(b []byte) string {
	const kind = "sha256:"
	sum := sha256.Sum256(b)
	text := [len(kind) + 2*len(sum)]byte{}
	copy(text[:], kind)
	hex.Encode(text[len(kind):], sum[:])
	return string(text[:])
}
