package approval_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// audited is a chain of n entries, signed by the first of the keys if there are any.
func audited(n int, keys *approval.Keys) []approval.Entry {
	var end approval.Anchor
	var entries []approval.Entry
	for i := range n {
		data := fmt.Sprintf(`{"approval_id":"a%d","at":"2026-11-%02dT12:00:00.000Z"}`, i+1, i+1)
		prev := end.Prev()
		end = end.Next([]byte(data))
		e := approval.Entry{Seq: fmt.Sprint(end.Seq), Prev: prev, Hash: end.Hash, Data: data}
		if keys != nil {
			e.Sig = keys.SignText([]byte(e.Hash))
		}
		entries = append(entries, e)
	}
	return entries
}

func placeOf(e approval.Entry) approval.Anchor {
	n, _ := strconv.ParseInt(e.Seq, 10, 64)
	return approval.Anchor{Seq: n, Hash: e.Hash}
}

func TestChainCheckFinds(t *testing.T) {
	private, _ := pair(t, 1)
	keys := keysOf(t, private)
	whole := audited(9, keys)
	head := placeOf(whole[8])
	relink := func(entries []approval.Entry, from int) []approval.Entry {
		out := slices.Clone(entries)
		end := approval.Anchor{}
		if from > 0 {
			end = placeOf(out[from-1])
		}
		for i := from; i < len(out); i++ {
			out[i].Prev = end.Prev()
			end = end.Next([]byte(out[i].Data))
			out[i].Hash, out[i].Seq = end.Hash, fmt.Sprint(end.Seq)
		}
		return out
	}
	changed := func(i int, change func(*approval.Entry)) []approval.Entry {
		out := slices.Clone(whole)
		change(&out[i])
		return out
	}
	swapped := slices.Clone(whole)
	swapped[3], swapped[4] = swapped[4], swapped[3]
	unsigned := slices.Clone(whole)
	for i := range unsigned {
		if i >= 5 {
			unsigned[i].Sig = ""
		}
	}
	forged := changed(4, func(e *approval.Entry) { e.Data = `{"approval_id":"x"}` })
	trimmed := approval.ChainCheck{Base: placeOf(whole[2]), Oldest: time.Date(2026, 11, 6, 0, 0, 0, 0, time.UTC)}
	for name, c := range map[string]struct {
		check   approval.ChainCheck
		entries []approval.Entry
		head    approval.Anchor
		want    []string
	}{
		"good":                            {entries: whole},
		"good, signed, with anchors":      {check: approval.ChainCheck{Keys: keys, SignedFrom: 1, Anchors: []approval.Anchor{placeOf(whole[4]), head}}, entries: whole},
		"good, trimmed":                   {check: trimmed, entries: whole[3:]},
		"good, trimmed behind the anchor": {check: approval.ChainCheck{Base: placeOf(whole[2]), Anchors: []approval.Anchor{placeOf(whole[1]), placeOf(whole[2])}}, entries: whole[3:]},
		"changed":                         {entries: forged, want: []string{"5 was changed: its hash is another's"}},
		"changed, and its hash": {entries: changed(4, func(e *approval.Entry) {
			e.Data = `{}`
			e.Hash = approval.Link(e.Prev, 5, []byte(e.Data))
		}), want: []string{"6 does not follow from the one before it"}},
		"changed, and all after it": {check: approval.ChainCheck{Keys: keys}, entries: relink(forged, 4), head: placeOf(relink(forged, 4)[8]), want: []string{
			"5 bears a signature that is by none of the keys", "6 bears a signature that is by none of the keys",
			"7 bears a signature that is by none of the keys", "8 bears a signature that is by none of the keys",
			"9 bears a signature that is by none of the keys",
		}},
		"the same, found by an anchor": {check: approval.ChainCheck{Anchors: []approval.Anchor{placeOf(whole[6])}}, entries: relink(forged, 4), head: placeOf(relink(forged, 4)[8]), want: []string{
			"7 is not the one that the anchor names",
		}},
		"signatures taken off":         {check: approval.ChainCheck{Keys: keys, SignedFrom: 8}, entries: unsigned, want: []string{"8 bears no signature", "9 bears no signature"}},
		"taken out":                    {entries: slices.Delete(slices.Clone(whole), 3, 5), want: []string{"6 taken out before it: numbers 4 to 5"}},
		"taken out, and numbered anew": {entries: relink(slices.Delete(slices.Clone(whole), 3, 4), 3), want: []string{"0 cut off the end: number 9"}},
		"swapped": {entries: swapped, want: []string{
			"5 taken out before it: number 4", "4 stands after number 5", "6 taken out before it: number 5",
		}},
		"given twice": {entries: slices.Insert(slices.Clone(whole), 3, whole[2]), want: []string{"3 stands after number 3"}},
		"no number":   {entries: changed(8, func(e *approval.Entry) { e.Seq = "x" }), want: []string{`0 an entry after number 8 has the number "x"`, "0 cut off the end: number 9"}},
		"start cut":   {entries: whole[3:], want: []string{"4 cut off the start before it: numbers 1 to 3"}},
		"start cut, and the head put forward": {
			check: approval.ChainCheck{Base: placeOf(whole[6]), Oldest: trimmed.Oldest}, entries: whole[7:],
			want: []string{"8 is of 2026-11-08T12:00:00Z, too young for a chain that was trimmed by its retention to begin with: what came before was cut off"},
		},
		"another base": {check: approval.ChainCheck{Base: approval.Anchor{Seq: 3, Hash: "x"}}, entries: whole[3:], want: []string{"4 does not follow from the one before it"}},
		"tail cut":     {entries: whole[:7], want: []string{"0 cut off the end: numbers 8 to 9"}},
		"all cut":      {want: []string{"0 cut off the end: numbers 1 to 9"}},
		"tail cut and head put back": {
			check: approval.ChainCheck{Anchors: []approval.Anchor{head}}, entries: whole[:7], head: placeOf(whole[6]),
			want: []string{"0 the anchor names number 9, and the chain ends with number 7: what came after was cut off"},
		},
		"all cut and head put back": {
			check: approval.ChainCheck{Anchors: []approval.Anchor{head}}, head: approval.Anchor{Hash: "-"},
			want: []string{"0 the anchor names number 9, and the chain ends with number 0: what came after was cut off"},
		},
		"head put back alone": {entries: whole, head: placeOf(whole[6]), want: []string{"9 stands after number 7, with which the chain is said to end"}},
		"another head":        {entries: whole, head: approval.Anchor{Seq: 9, Hash: "x"}, want: []string{"9 is not the one with which the chain is said to end"}},
		"another trimmed entry": {
			check: approval.ChainCheck{Base: placeOf(whole[2]), Anchors: []approval.Anchor{{Seq: 3, Hash: "x"}}}, entries: whole[3:],
			want: []string{"0 number 3 was trimmed away, and was not the one that the anchor names"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			end := c.head
			switch end.Hash {
			case "":
				end = head
			case "-":
				end = approval.Anchor{}
			}
			check := c.check
			for _, e := range c.entries {
				check.Take(e)
			}
			var got []string
			for _, f := range check.Done(end, end) {
				got = append(got, fmt.Sprint(f.Seq, " ", f.What))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Entries that are added while the chain is read are no fault.
func TestChainCheckWhileItGrows(t *testing.T) {
	whole := audited(9, nil)
	for read := 5; read <= 7; read++ {
		var check approval.ChainCheck
		for _, e := range whole[:read] {
			check.Take(e)
		}
		if faults := check.Done(placeOf(whole[4]), placeOf(whole[6])); len(faults) != 0 {
			t.Errorf("%d read: %v", read, faults)
		}
	}
}
