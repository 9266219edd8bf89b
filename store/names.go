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

// refsOffered is how many references a row's opening may choose from. The second is
// seldom needed, and a third once in a lifetime: more are made then.
const refsOffered = 2

// newRefs offers a few random references.
func (s *Store) newRefs() ([]string, error) {
	letters := make([]byte, 0, refsOffered*refLength)
	for len(letters) < cap(letters) {
		var some [16]byte
		if _, err := io.ReadFull(s.random, some[:]); err != nil {
			return nil, fmt.Errorf("store: reference: %w", err)
		}
		for _, b := range some {
			// Bytes past the last whole multiple would favour some letters.
			if int(b) < 256/len(refAlphabet)*len(refAlphabet) && len(letters) < cap(letters) {
				letters = append(letters, refAlphabet[int(b)%len(refAlphabet)])
			}
		}
	}
	refs, text := make([]string, refsOffered), string(letters)
	for i := range refs {
		refs[i] = text[i*refLength : (i+1)*refLength]
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
