package store_test

import (
	"time"

	"countersign/store"
	"countersign/store/storetest"
)

// place makes or finds a card.
func (e *env) place(id string, p store.Place, lease *store.Lease, again bool) string {
	e.Helper()
	cid, err := e.store.NewCard(e.ctx, id, p, lease, again)
	e.ok(err)
	return cid
}

// look changes a card's view.
func (e *env) look(id, card string, v store.View) *store.Reading {
	e.Helper()
	r, err := e.store.Look(e.ctx, id, card, v)
	e.ok(err)
	return r
}

func cardChecks() []check {
	return []check{
		{"card", "a place gets one card, found again by whoever asks", func(e *env) {
			r := e.open("a1")
			l := e.lease()
			cid := e.place("a1", store.Place{Chat: ann, Thread: 7}, &l, false)
			same(e, "length of the id", len(cid), 16)
			e.unchanged(func() { same(e, "card", e.place("a1", store.Place{Chat: ann, Thread: 7}, &l, false), cid) })
			after := e.read("a1")
			same(e, "cards", after.Cards, []store.Card{{
				ID: cid, Chat: ann, Thread: 7, Copies: map[int]string{}, Seen: map[int64][]string{},
			}})
			same(e, "revision", after.Row.Rev, r.Row.Rev)
			same(e, "approval", e.field(e.keys.CardKey(cid), "approval"), "a1")
		}},
		{"card", "another chat, and a reader in the same one, get cards of their own", func(e *env) {
			e.open("a1")
			l := e.lease()
			first := e.place("a1", store.Place{Chat: ann}, &l, false)
			other := e.place("a1", store.Place{Chat: ben}, &l, false)
			reader := e.place("a1", store.Place{Chat: ann, Reader: true}, &l, false)
			same(e, "all differ", first != other && other != reader && first != reader, true)
			same(e, "reader's", e.read("a1").Card(reader).Reader, true)
			e.unchanged(func() { same(e, "card", e.place("a1", store.Place{Chat: ann, Reader: true}, &l, false), reader) })
		}},
		{"card", "shown again, older cards of the chat are retired, and it is drawn anew", func(e *env) {
			r := e.open("a1")
			l := e.lease()
			old := e.place("a1", store.Place{Chat: ann}, &l, false)
			other := e.place("a1", store.Place{Chat: ben}, &l, false)
			reader := e.place("a1", store.Place{Chat: ann, Reader: true}, &l, false)
			var newer string
			e.marked("a1", func() { newer = e.place("a1", store.Place{Chat: ann}, nil, true) })
			after := e.read("a1")
			for cid, retired := range map[string]bool{old: true, other: false, reader: false, newer: false} {
				same(e, "retired", after.Card(cid).Retired, retired)
			}
			same(e, "revision", after.Row.Rev, r.Row.Rev+1)
			same(e, "card that stands", e.place("a1", store.Place{Chat: ann}, &l, false), newer)
			e.ok(e.rdb.HSet(e.ctx, e.keys.CardKey(newer), "retired", "1").Err())
			last := e.place("a1", store.Place{Chat: ann}, &l, false)
			same(e, "a retired card stands", last == old || last == newer, false)
		}},
		{"card", "two topics of one chat get cards of their own", func(e *env) {
			e.open("a1")
			l := e.lease()
			one := e.place("a1", store.Place{Chat: -100, Thread: 1}, &l, false)
			two := e.place("a1", store.Place{Chat: -100, Thread: 2}, &l, false)
			r := e.read("a1")
			same(e, "cards", len(r.Cards), 2)
			same(e, "retired", r.Card(one).Retired || r.Card(two).Retired, false)
		}},
		{"card", "a card made after the answer lives as long as the row", func(e *env) {
			e.approved("a1")
			e.advance(hour)
			l := e.lease()
			cid := e.place("a1", store.Place{Chat: ann}, &l, false)
			for _, key := range []string{e.keys.CardKey(cid), e.keys.CardsOf("a1")} {
				e.livesFor(key, storetest.Retention-hour)
			}
		}},
		{"card", "a copy for a reader retires nothing", func(e *env) {
			e.open("a1")
			l := e.lease()
			first := e.place("a1", store.Place{Chat: ann, Reader: true}, &l, false)
			second := e.place("a1", store.Place{Chat: ann, Reader: true}, nil, true)
			after := e.read("a1")
			same(e, "retired", after.Card(first).Retired || after.Card(second).Retired, false)
		}},
		{"card", "who lost the lease makes no card", func(e *env) {
			e.open("a1")
			l := e.lease()
			l.Number++
			e.unchanged(func() { same(e, "card", e.place("a1", store.Place{Chat: ann}, &l, false), "") })
		}},
		{"card", "one that is about to be sent says so as it is made, and as it is found", func(e *env) {
			e.open("a1")
			l := e.lease()
			var cid string
			for range 2 {
				made, status, err := e.store.NewCardIntended(e.ctx, "a1", store.Place{Chat: ann}, l, timeout)
				e.ok(err)
				same(e, "status", status, store.MaySend)
				same(e, "found again", cid == "" || cid == made, true)
				cid = made
				e.at("end of the call", e.read("a1").Card(cid).Trying, e.now().Add(timeout))
				e.advance(time.Second)
			}
			e.sent("a1", cid, store.TheCard, message, 0)
			e.unchanged(func() {
				found, status, err := e.store.NewCardIntended(e.ctx, "a1", store.Place{Chat: ann}, l, timeout)
				e.ok(err)
				same(e, "card", found, cid)
				same(e, "status", status, store.IsSent)
			})
		}},
		{"card", "one is made, but not sent, where too little of the lease is left for a call", func(e *env) {
			e.open("a1")
			l, _, err := e.store.TakeLease(e.ctx, "short", timeout-time.Second)
			e.ok(err)
			cid, status, err := e.store.NewCardIntended(e.ctx, "a1", store.Place{Chat: ann}, l, timeout)
			e.ok(err)
			same(e, "status", status, store.IsStale)
			same(e, "tried", e.read("a1").Card(cid).Trying, time.Time{})
		}},
		{"card", "who lost the lease, or asks for what is gone, intends nothing", func(e *env) {
			e.open("a1")
			l := e.lease()
			old := l
			old.Number++
			for id, l := range map[string]store.Lease{"a1": old, "never": l} {
				e.unchanged(func() {
					cid, status, err := e.store.NewCardIntended(e.ctx, id, store.Place{Chat: ann}, l, timeout)
					e.ok(err)
					same(e, "card", cid, "")
					same(e, "status", status, store.IsStale)
				})
			}
		}},
		{"card", "what is gone gets no card", func(e *env) {
			e.unchanged(func() { same(e, "card", e.place("never", store.Place{Chat: ann}, nil, false), "") })
		}},
	}
}

func viewChecks() []check {
	page, exact := 3, true
	return []check{
		{"view", "a view is changed once, and the card drawn anew", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			r := e.read("a1")
			v := store.View{Page: &page, Exact: &exact, User: ann, Pages: []string{"2", "3"}, Message: message, Chat: ann}
			var after *store.Reading
			e.marked("a1", func() { after = e.look("a1", cid, v) })
			c := after.Card(cid)
			same(e, "page", c.Page, 3)
			same(e, "exact", c.Exact, true)
			same(e, "seen", c.Seen, map[int64][]string{ann: {"2", "3"}})
			same(e, "revision", after.Row.Rev, r.Row.Rev+1)
			e.unchanged(func() { e.look("a1", cid, v) })
		}},
		{"view", "what each person has seen adds up, every page once", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.look("a1", cid, store.View{User: ann, Pages: []string{"1"}})
			e.look("a1", cid, store.View{User: ann, Pages: []string{"11", "1"}})
			r := e.look("a1", cid, store.View{User: ben, Pages: []string{"all"}})
			same(e, "seen", r.Card(cid).Seen, map[int64][]string{ann: {"1", "11"}, ben: {"all"}})
			e.unchanged(func() {
				e.look("a1", cid, store.View{User: cleo})
				e.look("a1", cid, store.View{User: ann})
				e.look("a1", cid, store.View{Pages: []string{"5"}})
			})
		}},
		{"view", "a tap on a message that is not known adopts it as the card's", func(e *env) {
			e.open("a1")
			cid := e.place("a1", store.Place{Chat: ann}, nil, false)
			var r *store.Reading
			e.marked("a1", func() { r = e.look("a1", cid, store.View{Message: 12, Chat: ann}) })
			same(e, "message", r.Card(cid).Message, 12)
			same(e, "copies", len(r.Card(cid).Copies), 0)
			e.leads(ann, 12, cid)
		}},
		{"view", "a tap shows that a card can be reached after all", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.ok(e.store.FailCard(e.ctx, cid, "bot was blocked by the user", e.lease()))
			e.unchanged(func() { e.look("a1", cid, store.View{User: ann}) })
			before := e.read("a1").Row.Rev
			var r *store.Reading
			e.marked("a1", func() { r = e.look("a1", cid, store.View{Message: message, Chat: ann}) })
			same(e, "failed", r.Card(cid).Failed, "")
			same(e, "copies", len(r.Card(cid).Copies), 0)
			same(e, "revision", r.Row.Rev, before+1)
		}},
		{"view", "a message of another chat is not adopted: its number means another one here", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.ok(e.store.FailCard(e.ctx, cid, "blocked", e.lease()))
			e.unchanged(func() { e.look("a1", cid, store.View{Message: 12, Chat: ben}) })
			e.unchanged(func() { e.look("a1", cid, store.View{Chat: ann}) })
		}},
		{"view", "a tap on a second message adopts it as a copy", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			var r *store.Reading
			e.marked("a1", func() { r = e.look("a1", cid, store.View{Message: 12, Chat: ann}) })
			same(e, "message", r.Card(cid).Message, message)
			same(e, "copies", r.Card(cid).Copies, map[int]string{12: ""})
			e.leads(ann, 12, cid)
			e.unchanged(func() { e.look("a1", cid, store.View{Message: 12, Chat: ann}) })
			e.sent("a1", cid, "edit", 12, 0)
			same(e, "copy shows", e.read("a1").Card(cid).Copies, map[int]string{12: "drawn"})
		}},
		{"view", "a message adopted after the answer lives as long as the row", func(e *env) {
			e.approved("a1")
			cid := e.card("a1")
			e.advance(hour)
			e.look("a1", cid, store.View{Message: 12, Chat: ann})
			e.livesFor(e.keys.Message(ann, 12), storetest.Retention-hour)
		}},
		{"view", "a card or an approval that is gone has no view", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.unchanged(func() { e.look("a1", "gone", store.View{Message: 12, Chat: ann, Page: &page}) })
			e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1")).Err())
			e.unchanged(func() { e.look("a1", cid, store.View{Message: 12, Chat: ann, Page: &page}) })
		}},
	}
}

// leads checks that a message of ours leads to its card.
func (e *env) leads(chat int64, message int, card string) {
	e.Helper()
	r, err := e.store.ReadByMessage(e.ctx, chat, message)
	e.ok(err)
	same(e, "card of the message", r.CardID, card)
}

func readChecks() []check {
	return []check{
		{"read", "an approval is found by id, card, reference and message", func(e *env) {
			e.open("a2")
			want := e.open("a1")
			cid := e.card("a1")
			for how, find := range map[string]func() (*store.Reading, error){
				"id":      func() (*store.Reading, error) { return e.store.Read(e.ctx, "a1") },
				"card":    func() (*store.Reading, error) { return e.store.ReadByCard(e.ctx, cid) },
				"ref":     func() (*store.Reading, error) { return e.store.ReadByRef(e.ctx, want.Row.Ref) },
				"message": func() (*store.Reading, error) { return e.store.ReadByMessage(e.ctx, ann, message) },
			} {
				r, err := find()
				e.ok(err)
				same(e, "found by "+how, r.Row, want.Row)
				same(e, "cards", len(r.Cards), 1)
				e.at("time", r.Now, e.now())
				card := map[string]string{"card": cid, "message": cid}[how]
				same(e, "card by which it was found by "+how, r.CardID, card)
			}
		}},
		{"read", "a question where no card stands leads to its approval, without a card", func(e *env) {
			e.open("a1")
			r := e.opensStep("a1", ann, store.Done)
			e.asked("a1", r.Step.Rev, -100, 11, "", true)
			found, err := e.store.ReadByMessage(e.ctx, -100, 11)
			e.ok(err)
			same(e, "approval and card", []string{found.ID, found.CardID}, []string{"a1", ""})
			same(e, "row", found.Row, r.Row)
		}},
		{"read", "what is not there has no row", func(e *env) {
			e.open("a1")
			for _, find := range []func() (*store.Reading, error){
				func() (*store.Reading, error) { return e.store.Read(e.ctx, "never") },
				func() (*store.Reading, error) { return e.store.ReadByCard(e.ctx, "never") },
				func() (*store.Reading, error) { return e.store.ReadByRef(e.ctx, "ZZZZZ") },
				func() (*store.Reading, error) { return e.store.ReadByMessage(e.ctx, ann, 1) },
			} {
				r, err := find()
				e.ok(err)
				same(e, "row", r.Row, nil)
			}
		}},
		{"read", "a message that somebody deleted leads nowhere", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.look("a1", cid, store.View{Message: 12, Chat: ann})
			e.ok(e.store.LoseMessage(e.ctx, cid, 12, e.lease()))
			e.leads(ann, 12, "")
			same(e, "copies", len(e.read("a1").Card(cid).Copies), 0)
			e.ok(e.store.LoseMessage(e.ctx, cid, message, e.lease()))
			e.leads(ann, message, "")
			c := e.read("a1").Card(cid)
			same(e, "message and what it shows", []any{c.Message, c.Drawn}, []any{0, ""})
			e.ok(e.store.LoseMessage(e.ctx, "gone", 12, e.lease()))
			e.ok(e.store.FailCard(e.ctx, cid, "blocked", e.lease()))
			same(e, "failed", e.read("a1").Card(cid).Failed, "blocked")
		}},
		{"read", "many are read at once, what is gone with a nil row", func(e *env) {
			e.open("a1")
			storetest.Open(e.TB, e.store, storetest.Request("a2"))
			all, err := e.store.Readings(e.ctx, []string{"a2", "never", "a1"})
			e.ok(err)
			same(e, "readings", len(all), 3)
			same(e, "ids", []string{all[0].ID, all[1].ID, all[2].ID}, []string{"a2", "never", "a1"})
			same(e, "gone", all[1].Row, nil)
		}},
	}
}
