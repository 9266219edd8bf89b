package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// The audit is a chain: each entry holds the hash of the one before, so that none
// can be changed, taken out or put elsewhere without every later hash being
// another. An end of the chain that is kept elsewhere ([Anchor]) proves all that
// came before it.

// An Anchor is one place of the audit's chain. The zero Anchor is before the first
// entry.
type Anchor struct {
	Seq  int64  // from 1
	Hash string // hex
}

// ChainStart is what the first entry holds as the hash of the one before.
const ChainStart = "0000000000000000000000000000000000000000000000000000000000000000"

// Link is the hash of an entry of the chain: hex SHA-256 of prev, its number and
// its data in the form of RFC 8785, one under the other.
func Link(prev string, seq int64, data []byte) string {
	text := make([]byte, 0, len(prev)+len(data)+24)
	text = append(append(text, prev...), '\n')
	text = append(strconv.AppendInt(text, seq, 10), '\n')
	sum := sha256.Sum256(append(text, data...))
	return hex.EncodeToString(sum[:])
}

// Prev is the hash that the entry after this place holds.
func (a Anchor) Prev() string {
	if a.Seq == 0 {
		return ChainStart
	}
	return a.Hash
}

// Next is the place of the entry after this one, with this data.
func (a Anchor) Next(data []byte) Anchor {
	return Anchor{Seq: a.Seq + 1, Hash: Link(a.Prev(), a.Seq+1, data)}
}
