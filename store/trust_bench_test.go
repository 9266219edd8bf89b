package store_test

import (
	"fmt"
	"testing"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// BenchmarkTrust is what one approval costs the process and Redis together, opened, read as
// often as a card and a tap read it, and answered: without a key and with one.
func BenchmarkTrust(b *testing.B) {
	for _, signs := range []bool{false, true} {
		b.Run(fmt.Sprintf("signing=%v", signs), func(b *testing.B) {
			s := storetest.Real(b)
			if s == nil {
				b.Fatal("this measures a real redis-server, and there is none")
			}
			st := storetest.NewStore(b, s, func(o *store.Options) {
				if signs {
					o.Signing = storetest.SigningKeys(b, 1)
				}
			})
			n := 0
			for b.Loop() {
				id := fmt.Sprint("a", n)
				n++
				storetest.Open(b, st, storetest.Request(id))
				for range 6 {
					storetest.Read(b, st, id)
				}
				storetest.Approve(b, st, id)
			}
		})
	}
}

// BenchmarkSignatures is the arithmetic alone: a seal and an answer made, and both
// checked once.
func BenchmarkSignatures(b *testing.B) {
	keys := storetest.SigningKeys(b, 1)
	raw := storetest.Request("a1")
	q := storetest.Decode(b, raw)
	terms, err := approval.Terms(raw)
	if err != nil {
		b.Fatal(err)
	}
	pin, err := approval.PinOf(q.Calls)
	if err != nil {
		b.Fatal(err)
	}
	row := approval.Row{ID: "a1", Raw: raw, Request: &q, Terms: terms, Pin: pin, Owners: []int64{1}, Quorum: 1}
	a := approval.Answer{ID: "a1", Decision: approval.DecisionApproved, Terms: terms, Pin: pin, Calls: q.Calls, By: telegram(1)}
	data, err := a.Encode()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		seal := keys.SignText(row.SealText())
		signed, err := keys.Sign(data)
		if err != nil {
			b.Fatal(err)
		}
		if keys.CheckText(row.SealText(), seal) == "" || !row.Yields() {
			b.Fatal("the seal does not hold")
		}
		if _, err := keys.Check(signed); err != nil {
			b.Fatal(err)
		}
	}
}
