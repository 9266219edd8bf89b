package approval_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"countersign/approval"
)

func TestChain(t *testing.T) {
	zeros := strings.Repeat("0", 64)
	by := func(prev, seq, data string) string {
		sum := sha256.Sum256([]byte(prev + "\n" + seq + "\n" + data))
		return hex.EncodeToString(sum[:])
	}
	first := approval.Anchor{}.Next([]byte(`{"a":1}`))
	second := first.Next([]byte(`{}`))
	want := approval.Anchor{Seq: 2, Hash: by(by(zeros, "1", `{"a":1}`), "2", `{}`)}
	if second != want {
		t.Errorf("got %+v, want %+v", second, want)
	}
	if first.Prev() != first.Hash || (approval.Anchor{}).Prev() != zeros {
		t.Error("an entry does not hold the hash of the one before")
	}
}
