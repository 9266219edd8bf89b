package store

import (
	"encoding/base64"
	"fmt"
	"io"
)

// refAlphabet leaves out what is easily mistaken on a phone: 0 O 1 I L U.
const refAlphabet = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// refLength gives 24 million references; taken ones are skipped.
const refLength = 5

// refsOffered is how many references a row's opening may choose from.
const refsOffered = 4

// newRefs offers a few random references.
func (s *Store) newRefs() ([]string, error) {
	refs := make([]string, refsOffered)
	for i := range refs {
		ref := make([]byte, 0, refLength)
		for len(ref) < refLength {
			var b [1]byte
			if _, err := io.ReadFull(s.random, b[:]); err != nil {
				return nil, fmt.Errorf("store: reference: %w", err)
			}
			// Bytes past the last whole multiple would favour some letters.
			if int(b[0]) < 256/len(refAlphabet)*len(refAlphabet) {
				ref = append(ref, refAlphabet[int(b[0])%len(refAlphabet)])
			}
		}
		refs[i] = string(ref)
	}
	return refs, nil
}

// NewID returns a random id of 96 bits in 16 characters, for cards and notices.
func (s *Store) NewID() (string, error) {
	var b [12]byte
	if _, err := io.ReadFull(s.random, b[:]); err != nil {
		return "", fmt.Errorf("store: id: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}
