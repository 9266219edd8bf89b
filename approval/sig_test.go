package approval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/approval"
)

func TestSigRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anAnswer().Draw(t, "answer")
		data, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		before, none, err := approval.SplitSig(data)
		if err != nil || none != nil {
			t.Fatalf("unsigned: %v, %v", none, err)
		}
		sig := approval.Sig{Alg: "ed25519", Key: "0123456789abcdef", Value: "c2ln+/=="}
		signed := approval.WithSig(data, sig)
		if !strings.HasSuffix(string(signed), `,"sig":{"alg":"ed25519","key":"0123456789abcdef","value":"c2ln+/=="}}`) {
			t.Errorf("the signature is not the last field of %s", signed)
		}
		after, got, err := approval.SplitSig(signed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&sig, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if string(before) != string(after) {
			t.Errorf("what is signed changed:\n%s\n%s", before, after)
		}
		if back, err := approval.DecodeAnswer(signed); err != nil || cmp.Diff(a, *back) != "" {
			t.Errorf("a signed answer reads as %+v, %v", back, err)
		}
	})
}

func TestSplitSigRefuses(t *testing.T) {
	for data, want := range map[string]string{
		`{`:                             "invalid: data: is not JSON at byte 1",
		`{"approval_id":"a","sig":"x"}`: "invalid: sig: must be an object",
		`{"approval_id":"a","sig":{}}`:  "invalid: sig.alg: required",
		`{"approval_id":"a","sig":{"alg":"ed25519","key":"k","value":1}}`: "invalid: sig.value: must be a string",
		`{"approval_id":"a","sig":null}`:                                  "invalid: sig.alg: required",
		`{"approval_id":"a","sig":{},"sig":{}}`:                           "invalid: sig: given twice",
		`{"approval_id":"a","x":"` + strings.Repeat("x", 1<<20) + `"}`:    "too_large: data: over 1 MiB",
	} {
		if _, sig, err := approval.SplitSig([]byte(data)); err == nil || err.Error() != want {
			t.Errorf("%.80s: %v, %v, want %s", data, sig, err, want)
		}
	}
}
