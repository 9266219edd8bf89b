package storetest

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"countersign/approval"
)

// PrivateKey is a signing key, as PEM, the same for the same n.
func PrivateKey(t testing.TB, n byte) (private, public []byte) {
	t.Helper()
	seed := bytes.Repeat([]byte{n}, ed25519.SeedSize)
	private, public, err := approval.EncodeKeys(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

// SigningKeys are keys of [PrivateKey]; the first one signs.
func SigningKeys(t testing.TB, ns ...byte) *approval.Keys {
	t.Helper()
	var text []byte
	for _, n := range ns {
		private, _ := PrivateKey(t, n)
		text = append(text, private...)
	}
	keys, err := approval.ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
