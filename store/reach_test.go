package store_test

import (
	"slices"

	"countersign/store"
	"countersign/store/storetest"
)

// cardIn is what is thought of an approval's card in a chat.
func (e *env) cardIn(id, card string) [2]string {
	e.Helper()
	c := e.read(id).Card(card)
	return [2]string{c.Failed, c.Doubt}
}

func failChecks() []check {
	return []check{
		{"fail", "a card fails, and its chat remembers for whom", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.ok(e.store.DoubtChat(e.ctx, ann, "kicked"))
			e.ok(e.store.FailCard(e.ctx, cid, "blocked", e.lease()))
			same(e, "failed and in doubt", e.cardIn("a1", cid), [2]string{"blocked", ""})
			same(e, "remembered", e.rdb.SMembers(e.ctx, e.keys.FailedIn(ann)).Val(), []string{"a1"})
			e.livesFor(e.keys.FailedIn(ann), storetest.Retention)
			e.advance(hour)
			e.ok(e.store.FailCard(e.ctx, cid, "blocked", e.lease()))
			e.livesFor(e.keys.FailedIn(ann), storetest.Retention)
		}},
		{"fail", "a card that is gone does not", func(e *env) {
			l := e.lease()
			e.unchanged(func() { e.ok(e.store.FailCard(e.ctx, "gone", "blocked", l)) })
		}},
	}
}

// reachable is two approvals with a card in Ann's chat and another with one in
// Ben's alone, and a finished one.
func (e *env) reachable() (one, two, other string) {
	e.open("a1")
	e.open("a2")
	e.open("b1")
	one, two = e.groupCard("a1", ann, 10), e.groupCard("a2", ann, 11)
	e.groupCard("a2", ben, 10)
	return one, two, e.groupCard("b1", ben, 11)
}

func chatStateChecks() []check {
	return []check{
		{"chat", "all that is open in a chat in doubt is looked at, and nothing else", func(e *env) {
			one, two, other := e.reachable()
			e.approved("done")
			done := e.place("done", store.Place{Chat: ann}, nil, false)
			e.ok(e.store.FailCard(e.ctx, two, "before", e.lease()))
			e.ok(e.rdb.Del(e.ctx, e.keys.DirtyKey()).Err())
			rev := e.read("a1").Row.Rev
			e.marked("a1", func() { e.ok(e.store.DoubtChat(e.ctx, ann, "kicked")) })
			same(e, "one", e.cardIn("a1", one), [2]string{"", "kicked"})
			same(e, "failed before", e.cardIn("a2", two), [2]string{"before", ""})
			same(e, "other chat", e.cardIn("b1", other), [2]string{})
			same(e, "finished", e.cardIn("done", done), [2]string{})
			same(e, "dirty", e.dirty().Approvals, []string{"a1"})
			same(e, "revision", e.read("a1").Row.Rev, rev+1)
		}},
		{"chat", "what is in doubt fails when the bot is out, and is remembered", func(e *env) {
			one, two, other := e.reachable()
			e.ok(e.store.DoubtChat(e.ctx, ann, "kicked"))
			late := "late" // after the doubt: it finds out by itself
			e.open(late)
			after := e.groupCard(late, ann, 12)
			e.ok(e.rdb.Del(e.ctx, e.keys.DirtyKey()).Err())
			e.ok(e.store.ChatOut(e.ctx, ann, "a1", "blocked", e.lease()))
			for id, cid := range map[string]string{"a1": one, "a2": two} {
				same(e, id, e.cardIn(id, cid), [2]string{"blocked", ""})
			}
			same(e, "other chat", e.cardIn("b1", other), [2]string{})
			same(e, "after the doubt", e.cardIn(late, after), [2]string{})
			same(e, "dirty", e.dirty().Approvals, []string{"a1", "a2"})
			same(e, "remembered", e.rdb.SCard(e.ctx, e.keys.FailedIn(ann)).Val(), int64(2))
			e.livesFor(e.keys.FailedIn(ann), storetest.Retention)
			e.unchanged(func() { e.ok(e.store.ChatOut(e.ctx, ann, "a1", "again", e.lease())) })
		}},
		{"chat", "a doubt ends where the bot can write", func(e *env) {
			one, _, _ := e.reachable()
			e.ok(e.store.DoubtChat(e.ctx, ann, "kicked"))
			e.ok(e.rdb.Del(e.ctx, e.keys.DirtyKey()).Err())
			e.ok(e.store.ChatFine(e.ctx, ann, "a1", e.lease()))
			same(e, "in doubt", e.cardIn("a1", one), [2]string{})
			same(e, "dirty", e.dirty().Approvals, []string{"a1", "a2"})
			same(e, "failed", e.there(e.keys.FailedIn(ann)), false)
			e.unchanged(func() { e.ok(e.store.ChatFine(e.ctx, ann, "a1", e.lease())) })
		}},
		{"chat", "a doubt ends for what was answered since, either way", func(e *env) {
			one, two, _ := e.reachable()
			e.ok(e.store.DoubtChat(e.ctx, ann, "kicked"))
			storetest.Approve(e.TB, e.store, "a1")
			storetest.Approve(e.TB, e.store, "a2")
			e.ok(e.rdb.Del(e.ctx, e.keys.DirtyKey()).Err())
			e.ok(e.store.ChatFine(e.ctx, ann, "a1", e.lease()))
			same(e, "fine", e.cardIn("a1", one), [2]string{})
			same(e, "not asked about yet", e.cardIn("a2", two), [2]string{"", "kicked"})
			same(e, "dirty", e.dirty().Approvals, []string{"a1"})
			e.ok(e.store.ChatOut(e.ctx, ann, "a2", "blocked", e.lease()))
			same(e, "out", e.cardIn("a2", two), [2]string{"blocked", ""})
			e.unchanged(func() { e.ok(e.store.ChatFine(e.ctx, ann, "", e.lease())) })
			e.ok(e.store.DoubtChat(e.ctx, ben, "kicked"))
			rev := e.read("b1").Row.Rev
			e.marked("b1", func() { e.ok(e.store.ChatFine(e.ctx, ben, "b1", e.lease())) })
			same(e, "an open one, once", e.read("b1").Row.Rev, rev+1)
		}},
		{"chat", "failed cards come back, those of finished approvals where a message stands", func(e *env) {
			one, two, other := e.reachable()
			e.open("f1")
			e.open("f2")
			sent, unsent := e.groupCard("f1", ann, 12), e.place("f2", store.Place{Chat: ann}, nil, false)
			for _, cid := range []string{one, two, other, sent, unsent} {
				e.ok(e.store.FailCard(e.ctx, cid, "blocked", e.lease()))
			}
			for _, id := range []string{"f1", "f2"} {
				storetest.Approve(e.TB, e.store, id)
			}
			e.ok(e.rdb.HSet(e.ctx, e.keys.CardKey(two), "doubt", "kicked").Err())
			e.ok(e.rdb.Del(e.ctx, e.keys.DirtyKey()).Err())
			e.ok(e.store.ChatBack(e.ctx, ann))
			same(e, "one", e.cardIn("a1", one), [2]string{})
			same(e, "two", e.cardIn("a2", two), [2]string{})
			same(e, "finished, sent", e.cardIn("f1", sent), [2]string{})
			same(e, "finished, unsent", e.cardIn("f2", unsent), [2]string{"blocked", ""})
			same(e, "other chat", e.cardIn("b1", other), [2]string{"blocked", ""})
			dirty := e.dirty().Approvals // each marked in its own millisecond, perhaps
			slices.Sort(dirty)
			same(e, "dirty", dirty, []string{"a1", "a2", "f1"})
			same(e, "remembered", e.there(e.keys.FailedIn(ann)), false)
			e.unchanged(func() { e.ok(e.store.ChatBack(e.ctx, ann)) })
		}},
		{"chat", "an open approval's card comes back though it was never sent, one that came back before is left alone", func(e *env) {
			for _, id := range []string{"a1", "a2"} {
				e.open(id)
			}
			unsent, cid := e.place("a1", store.Place{Chat: ann}, nil, false), e.card("a2")
			for _, c := range []string{unsent, cid} {
				e.ok(e.store.FailCard(e.ctx, c, "blocked", e.lease()))
			}
			e.look("a2", cid, store.View{Message: message, Chat: ann})
			e.ok(e.rdb.Del(e.ctx, e.keys.DirtyKey()).Err())
			e.ok(e.store.ChatBack(e.ctx, ann))
			same(e, "unsent", e.cardIn("a1", unsent), [2]string{})
			same(e, "dirty", e.dirty().Approvals, []string{"a1"})
		}},
		{"chat", "an approval that is gone since stays gone", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.ok(e.store.FailCard(e.ctx, cid, "blocked", e.lease()))
			e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1"), e.keys.CardKey(cid), e.keys.CardsOf("a1")).Err())
			e.ok(e.store.ChatBack(e.ctx, ann))
			same(e, "row", e.there(e.keys.Row("a1")), false)
		}},
	}
}
