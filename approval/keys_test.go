package approval_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/approval"
)

// pair is a key pair as PEM, the same for the same n.
func pair(t testing.TB, n byte) (private, public []byte) {
	t.Helper()
	private, public, err := approval.EncodeKeys(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

func keysOf(t testing.TB, texts ...[]byte) *approval.Keys {
	t.Helper()
	k, err := approval.ParseKeys(bytes.Join(texts, []byte("and then\n")))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeysSignAndCheck(t *testing.T) {
	private, public := pair(t, 1)
	_, other := pair(t, 2)
	signing, checking := keysOf(t, private), keysOf(t, other, public)
	if checking.Signer() != "" || signing.Signer() == "" || len(checking.IDs()) != 2 {
		t.Fatalf("signers %q, %q, ids %v", signing.Signer(), checking.Signer(), checking.IDs())
	}
	rapid.Check(t, func(t *rapid.T) {
		a := anAnswer().Draw(t, "answer")
		data, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signing.Sign(data)
		if err != nil {
			t.Fatal(err)
		}
		if key, err := checking.Check(signed); err != nil || key != signing.Signer() {
			t.Errorf("signed by %q, %v", key, err)
		}
		// White space and the order of fields are no part of what is signed.
		spaced := bytes.Replace(signed, []byte(`,"sig":`), []byte(" ,\n\"sig\" : "), 1)
		if _, err := checking.Check(spaced); err != nil {
			t.Errorf("spaced: %v", err)
		}
	})
}

// The signature is the one of the documents: over the canonical form, by the raw key.
func TestSignatureByHand(t *testing.T) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	text, _ := pair(t, 1)
	signed, err := keysOf(t, text).Sign([]byte(`{"b":1.0,"approval_id":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(private.Public().(ed25519.PublicKey))
	want := fmt.Sprintf(`{"b":1.0,"approval_id":"a","sig":{"alg":"ed25519","key":%q,"value":%q}}`,
		hex.EncodeToString(sum[:])[:16], base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(`{"approval_id":"a","b":1}`))))
	if string(signed) != want {
		t.Errorf("got %s, want %s", signed, want)
	}
}

func TestCheckRefuses(t *testing.T) {
	private, public := pair(t, 1)
	_, stranger := pair(t, 2)
	keys := keysOf(t, private)
	good, err := keys.Sign([]byte(`{"approval_id":"a","approved":false}`))
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, with string) []byte { return bytes.Replace(good, []byte(old), []byte(with), 1) }
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"unsigned":        {[]byte(`{"approval_id":"a","approved":false}`), approval.ErrUnsigned},
		"changed":         {replaced("false", "true"), approval.ErrBadSignature},
		"more":            {replaced(`"approved"`, `"x":1,"approved"`), approval.ErrBadSignature},
		"less":            {replaced(`,"approved":false`, ""), approval.ErrBadSignature},
		"another alg":     {replaced("ed25519", "none"), approval.ErrBadSignature},
		"an unknown key":  {replaced(keys.Signer(), "0123456789abcdef"), approval.ErrBadSignature},
		"no base64":       {replaced("==", "=="+"x"), approval.ErrBadSignature},
		"sloppy base64":   {replaced("==", "=\\n="), approval.ErrBadSignature},
		"a short one":     {replaced("==", ""), approval.ErrBadSignature},
		"sig of no shape": {[]byte(`{"approval_id":"a","sig":1}`), nil},
		"twice":           {replaced(`"approved"`, `"approved":true,"approved"`), nil},
	} {
		key, err := keysOf(t, public, stranger).Check(c.data)
		if key != "" || err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v, want %v", name, key, err, c.want)
		}
	}
	if _, err := keysOf(t, stranger).Check(good); !errors.Is(err, approval.ErrBadSignature) {
		t.Errorf("by another's key: %v", err)
	}
}

func TestParseKeysRefuses(t *testing.T) {
	private, public := pair(t, 1)
	other, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	curve, err := x509.MarshalPKIXPublicKey(other.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing":         "",
		"no PEM":          "secret words",
		"another kind":    string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: curve})),
		"another block":   string(bytes.ReplaceAll(private, []byte("PRIVATE KEY"), []byte("EC PRIVATE KEY"))),
		"broken":          string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})),
		"the last is cut": string(private) + string(public[:len(public)-20]),
	} {
		if k, err := approval.ParseKeys([]byte(text)); err == nil {
			t.Errorf("%s: got %v", name, k.IDs())
		} else if text != "" && strings.Contains(err.Error(), text[:min(len(text), 12)]) {
			t.Errorf("%s: the error repeats the text: %v", name, err)
		}
	}
	// A public key may stand first, to check only; one private key further on does not sign.
	if k := keysOf(t, public, private); k.Signer() != "" {
		t.Errorf("signs with %s", k.Signer())
	}
}

func TestNoKeys(t *testing.T) {
	var none *approval.Keys
	if none.Signer() != "" || none.IDs() != nil {
		t.Error("no keys have an id")
	}
}
