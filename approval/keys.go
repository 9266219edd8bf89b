package approval

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Alg is the one algorithm that signatures are made with.
const Alg = "ed25519"

// Errors of a signature. Each is found with errors.Is in what [Keys.Check] returns.
var (
	// ErrUnsigned: there is no signature where one is demanded.
	ErrUnsigned = errors.New("it bears no signature")
	// ErrBadSignature: the signature is by another key, or not over this data.
	ErrBadSignature = errors.New("the signature does not hold")
)

// Keys are Ed25519 keys: the first one signs if it is private, all of them check.
// They do not change, and are safe for concurrent use. A nil *Keys has none.
type Keys struct {
	private ed25519.PrivateKey // nil: these only check
	signer  string
	public  map[string]ed25519.PublicKey // by id
}

// ParseKeys reads one or more keys as PEM: private ones as PKCS#8 (PRIVATE KEY),
// public ones as PKIX (PUBLIC KEY). Text around them is passed over. No error
// repeats any of the text.
func ParseKeys(text []byte) (*Keys, error) {
	k := &Keys{public: map[string]ed25519.PublicKey{}}
	for n := 1; ; n++ {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		private, public, err := parseKey(block)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", n, err)
		}
		id := KeyID(public)
		if n == 1 && private != nil {
			k.private, k.signer = private, id
		}
		k.public[id] = public
	}
	if strings.Contains(string(text), "-----BEGIN") {
		return nil, errors.New("the last key is cut off or is not PEM")
	}
	if len(k.public) == 0 {
		return nil, errors.New("there is no key in it; want PEM")
	}
	return k, nil
}

func parseKey(block *pem.Block) (ed25519.PrivateKey, ed25519.PublicKey, error) {
	switch block.Type {
	case "PRIVATE KEY":
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if private, ok := parsed.(ed25519.PrivateKey); ok && err == nil {
			return private, private.Public().(ed25519.PublicKey), nil
		}
	case "PUBLIC KEY":
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if public, ok := parsed.(ed25519.PublicKey); ok && err == nil {
			return nil, public, nil
		}
	}
	return nil, nil, errors.New("want an Ed25519 key, a private one as PKCS#8 or a public one")
}

// EncodeKeys writes a private key as PKCS#8 PEM, and its public key as PKIX PEM.
func EncodeKeys(private ed25519.PrivateKey) (privatePEM, publicPEM []byte, err error) {
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("private key: %w", err)
	}
	open, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open}), nil
}

// KeyID names a public key: the first 16 hex digits of SHA-256 over its 32 bytes.
func KeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:8])
}

// Signer is the id of the key that signs, "" if none does.
func (k *Keys) Signer() string {
	if k == nil {
		return ""
	}
	return k.signer
}

// IDs are the ids of all keys, in order.
func (k *Keys) IDs() []string {
	if k == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(k.public))
}

// Sign returns data, an encoded object without sig, with its signature as the last
// field. Only keys with a [Keys.Signer] can sign.
func (k *Keys) Sign(data []byte) ([]byte, error) {
	signed, err := Canonical(data)
	if err != nil {
		return nil, err
	}
	return WithSig(data, Sig{Alg: Alg, Key: k.signer, Value: k.SignText(signed)}), nil
}

// SignText is the base64 signature over a text.
func (k *Keys) SignText(text []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, text))
}

// Check checks the signature that data carries, and returns the id of the key that
// made it. Its error is [ErrUnsigned], [ErrBadSignature], or an [*Invalid] where
// data cannot be read.
func (k *Keys) Check(data []byte) (key string, err error) {
	signed, sig, err := SplitSig(data)
	if err != nil {
		return "", err
	}
	if sig == nil {
		return "", ErrUnsigned
	}
	public, known := k.public[sig.Key]
	if sig.Alg != Alg || !known {
		return "", fmt.Errorf("%w: key %q is not one that is trusted", ErrBadSignature, sig.Key)
	}
	if !holds(public, signed, sig.Value) {
		return "", ErrBadSignature
	}
	return sig.Key, nil
}

// CheckText checks a signature over a text by any of the keys, and returns the id
// of that key, "" if it is none's.
func (k *Keys) CheckText(text []byte, value string) string {
	for _, id := range k.IDs() {
		if holds(k.public[id], text, value) {
			return id
		}
	}
	return ""
}

func holds(public ed25519.PublicKey, text []byte, value string) bool {
	if len(value) != base64.StdEncoding.EncodedLen(ed25519.SignatureSize) { // the decoder passes over line breaks
		return false
	}
	sig, err := base64.StdEncoding.Strict().DecodeString(value)
	return err == nil && ed25519.Verify(public, text, sig)
}
