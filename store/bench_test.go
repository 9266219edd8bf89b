package store_test

import (
	"fmt"
	"testing"

	"countersign/store"
	"countersign/store/storetest"
)

// BenchmarkStore measures whole round trips, several each.
func BenchmarkStore(b *testing.B) {
	for _, s := range storetest.Servers(b) {
		e := newEnv(b, s, storetest.NewStore(b, s))
		n := 0
		next := func() *store.Reading {
			n++
			return e.openHalt(fmt.Sprintf("a%d", n))
		}
		b.Run("open/"+s.Name(), func(b *testing.B) {
			o := e.opening("x")
			for b.Loop() {
				n++
				o.ID = fmt.Sprintf("a%d", n)
				if _, _, err := e.store.Open(e.ctx, o); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decide/"+s.Name(), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				r := next()
				b.StartTimer()
				e.decides(r, approving(store.ByTap, ann), store.Done)
			}
		})
		b.Run("read/"+s.Name(), func(b *testing.B) {
			r := next()
			for b.Loop() {
				if _, err := e.store.Read(e.ctx, r.ID); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParse reads what Redis replied of an approval with one card, open and answered.
func BenchmarkParse(b *testing.B) {
	s := storetest.Embedded(b)
	e := newEnv(b, s, storetest.NewStore(b, s))
	e.open("a1")
	e.approved("a2")
	e.card("a1")
	e.card("a2")
	for name, id := range map[string]string{"open": "a1", "answered": "a2"} {
		reply, err := e.store.Reply(e.ctx, id)
		e.ok(err)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.store.Parse(reply); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
