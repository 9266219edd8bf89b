package approval

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// An Entry is one entry of the audit's chain, as it is kept.
type Entry struct {
	Seq  string
	Prev string
	Hash string
	Data string
	Sig  string // over the text of Hash; "" where it is not signed
}

// A Fault is one thing that is wrong with the chain.
type Fault struct {
	Seq  int64 // the entry that shows it; 0 where none does
	What string
}

// A ChainCheck goes over a chain, entry by entry ([ChainCheck.Take]), and says at the
// end what is wrong with it ([ChainCheck.Done]). It finds entries that were changed,
// taken out, exchanged or put in. That entries were cut off the end and the head put
// back shows only by an [Anchor] kept elsewhere.
type ChainCheck struct {
	Base       Anchor    // the last entry that was trimmed away, zero where none was
	Oldest     time.Time // a trimmed chain begins with an entry from before it; zero: that is not looked at
	Keys       *Keys     // nil: signatures are not looked at
	SignedFrom int64     // the first entry that must bear a signature, 0: none must
	Anchors    []Anchor  // places that were seen before

	Entries int64 // how many it has taken
	Signed  int64 // how many bore a signature that holds

	last   Anchor
	faults []Fault
}

// Take looks at the next entry.
func (c *ChainCheck) Take(e Entry) {
	seq, err := strconv.ParseInt(e.Seq, 10, 64)
	if err != nil {
		c.fault(0, "an entry after number %d has the number %q", c.last.Seq, e.Seq)
		return
	}
	before, missing := c.last, "taken out"
	if c.Entries == 0 {
		before, missing = c.Base, "cut off the start"
		c.begins(seq, e.Data)
	}
	switch {
	case seq > before.Seq+1:
		c.fault(seq, "%s before it: %s", missing, numbered(before.Seq+1, seq-1))
	case seq <= before.Seq:
		c.fault(seq, "stands after number %d", before.Seq)
	case e.Prev != before.Prev():
		c.fault(seq, "does not follow from the one before it")
	}
	if Link(e.Prev, seq, []byte(e.Data)) != e.Hash {
		c.fault(seq, "was changed: its hash is another's")
	}
	c.signature(seq, e)
	for _, a := range c.Anchors {
		if a.Seq == seq && a.Hash != e.Hash {
			c.fault(seq, "is not the one that the anchor names")
		}
	}
	c.last = Anchor{Seq: seq, Hash: e.Hash}
	c.Entries++
}

// begins looks at how old the first entry of a trimmed chain is.
func (c *ChainCheck) begins(seq int64, data string) {
	if c.Base.Seq == 0 || c.Oldest.IsZero() {
		return
	}
	var line struct {
		At time.Time `json:"at"`
	}
	if err := json.Unmarshal([]byte(data), &line); err == nil && line.At.After(c.Oldest) {
		c.fault(seq, "is of %s, too young for a chain that was trimmed by its retention to begin with: what came before was cut off",
			line.At.UTC().Format(time.RFC3339))
	}
}

func (c *ChainCheck) signature(seq int64, e Entry) {
	switch {
	case c.Keys == nil:
	case e.Sig == "":
		if c.SignedFrom > 0 && seq >= c.SignedFrom {
			c.fault(seq, "bears no signature")
		}
	case c.Keys.CheckText([]byte(e.Hash), e.Sig) == "":
		c.fault(seq, "bears a signature that is by none of the keys")
	default:
		c.Signed++
	}
}

// Done says what is wrong, given where the chain was said to end before the first
// entry was read, and after the last was: entries may have been added meanwhile.
func (c *ChainCheck) Done(before, after Anchor) []Fault {
	last := c.last
	if c.Entries == 0 {
		last = c.Base
	}
	switch {
	case last.Seq < before.Seq:
		c.fault(0, "cut off the end: %s", numbered(last.Seq+1, before.Seq))
	case last.Seq > after.Seq:
		c.fault(last.Seq, "stands after number %d, with which the chain is said to end", after.Seq)
	case last.Seq == before.Seq && last.Hash != before.Hash, last.Seq == after.Seq && last.Hash != after.Hash:
		c.fault(last.Seq, "is not the one with which the chain is said to end")
	}
	for _, a := range c.Anchors {
		switch {
		case a.Seq > last.Seq:
			c.fault(0, "the anchor names number %d, and the chain ends with number %d: what came after was cut off", a.Seq, last.Seq)
		case a.Seq == c.Base.Seq && a.Hash != c.Base.Hash:
			c.fault(0, "number %d was trimmed away, and was not the one that the anchor names", a.Seq)
		}
	}
	return c.faults
}

// Trimmed reports whether the entry of an anchor was trimmed away, so that it says
// nothing.
func (c *ChainCheck) Trimmed(a Anchor) bool { return a.Seq < c.Base.Seq }

func (c *ChainCheck) fault(seq int64, format string, args ...any) {
	c.faults = append(c.faults, Fault{Seq: seq, What: fmt.Sprintf(format, args...)})
}

// numbered names entries by their numbers.
func numbered(from, to int64) string {
	if from == to {
		return "number " + strconv.FormatInt(from, 10)
	}
	return "numbers " + strconv.FormatInt(from, 10) + " to " + strconv.FormatInt(to, 10)
}
