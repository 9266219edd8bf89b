package store_test

import (
	"strings"
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// all are the keys that belong to one approval and are there.
func (e *env) all(id string) []string {
	e.Helper()
	r := e.read(id)
	keys := []string{e.keys.Row(id), e.keys.Claim(id), e.keys.Answer(id), e.keys.Memory(id), e.keys.Ref(r.Row.Ref), e.keys.CardsOf(id)}
	for _, c := range r.Cards {
		keys = append(keys, e.keys.CardKey(c.ID))
	}
	for _, key := range e.rdb.Keys(e.ctx, e.keys.Message(0, 0)[:len(e.keys.Message(0, 0))-3]+"*").Val() {
		v := e.rdb.Get(e.ctx, key).Val()
		if r.Card(v) != nil || v == "="+id {
			keys = append(keys, key)
		}
	}
	var there []string
	for _, key := range keys {
		if e.there(key) {
			there = append(there, key)
		}
	}
	return there
}

// together checks that everything of an approval lives for retention and d.
func (e *env) together(id string, d time.Duration) {
	e.Helper()
	for _, key := range e.all(id) {
		e.livesFor(key, storetest.Retention+d)
	}
}

// everything gives an approval all that can belong to one: a card with a copy,
// a notice, a reminder and a question, and a retired one.
func (e *env) everything(id string) {
	e.Helper()
	e.open(id)
	r := e.shown(id, ann)
	cid := r.Step.CardID
	e.asked(id, r.Step.Rev, ann, 11, cid, true)
	e.look(id, cid, store.View{Message: 12, Chat: ann})
	e.sent(id, cid, store.TheReminder, 13, 0)
	e.sent(id, cid, store.TheNotice, 14, 0)
	l := e.lease()
	newer, err := e.store.NewCard(e.ctx, id, store.Place{Chat: ann}, &l, true)
	e.ok(err)
	e.sent(id, newer, store.TheCard, 15, 0)
}

func expiryChecks() []check {
	return []check{
		{"lib", "while open nothing of an approval expires before the deadline", func(e *env) {
			e.everything("a1")
			for _, key := range e.all("a1") {
				if strings.HasSuffix(key, ":11") { // a question goes sooner, but long after any deadline
					e.livesFor(key, storetest.Retention)
					continue
				}
				e.livesFor(key, -1)
			}
		}},
		{"lib", "everything of an approval expires together, a while after the last transition", func(e *env) {
			e.everything("a1")
			storetest.Approve(e.TB, e.store, "a1")
			e.claim("a1")
			e.advance(hour)
			e.claimed("a1", e.keys.Requests(), store.Done)
			keys := e.all("a1")
			same(e, "keys of an approval", len(keys), 13)
			e.together("a1", 0)
			e.advance(storetest.Retention - e.tick())
			for _, key := range keys {
				same(e, key+" is there", e.there(key), true)
			}
			e.advance(e.tick())
			for _, key := range keys {
				same(e, key+" is there", e.there(key), false)
			}
			same(e, "row", e.read("a1").Row, nil)
		}},
		{"lib", "what is made after the answer expires with the row", func(e *env) {
			e.approved("a1")
			e.advance(hour)
			cid := e.card("a1")
			e.look("a1", cid, store.View{Message: 12, Chat: ann})
			e.sent("a1", cid, store.TheNotice, 13, 0)
			e.sent("a1", cid, "edit", message, 0)
			same(e, "keys of an approval", len(e.all("a1")), 8)
			e.together("a1", -hour)
		}},
		{"lib", "the undo offer keeps everything for as long again", func(e *env) {
			e.everything("a1")
			storetest.Approve(e.TB, e.store, "a1")
			e.claim("a1")
			e.reported("a1", approval.Executed, 100, store.Done)
			e.together("a1", days*24*time.Hour)
		}},
	}
}
