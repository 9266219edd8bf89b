package store_test

import (
	"strconv"
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
			e.ok(e.store.SetCard(e.ctx, newer, map[string]string{"retired": "1"}))
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
			v := store.View{Page: &page, Exact: &exact, User: ann, Pages: []string{"2", "3"}, Message: message}
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
			e.marked("a1", func() { r = e.look("a1", cid, store.View{Message: 12}) })
			same(e, "message", r.Card(cid).Message, 12)
			same(e, "copies", len(r.Card(cid).Copies), 0)
			e.leads(ann, 12, cid)
		}},
		{"view", "a tap on a second message adopts it as a copy", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			var r *store.Reading
			e.marked("a1", func() { r = e.look("a1", cid, store.View{Message: 12}) })
			same(e, "message", r.Card(cid).Message, message)
			same(e, "copies", r.Card(cid).Copies, map[int]string{12: ""})
			e.leads(ann, 12, cid)
			e.unchanged(func() { e.look("a1", cid, store.View{Message: 12}) })
			e.sent("a1", cid, "edit", 12, 0)
			same(e, "copy shows", e.read("a1").Card(cid).Copies, map[int]string{12: "drawn"})
		}},
		{"view", "a message adopted after the answer lives as long as the row", func(e *env) {
			e.approved("a1")
			cid := e.card("a1")
			e.advance(hour)
			e.look("a1", cid, store.View{Message: 12})
			e.livesFor(e.keys.Message(ann, 12), storetest.Retention-hour)
		}},
		{"view", "a card or an approval that is gone has no view", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.unchanged(func() { e.look("a1", "gone", store.View{Message: 12, Page: &page}) })
			e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1")).Err())
			e.unchanged(func() { e.look("a1", cid, store.View{Message: 12, Page: &page}) })
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

const timeout = 10 * time.Second

func sendChecks() []check {
	intends := func(e *env, card string, l store.Lease, want store.IntentStatus) {
		e.Helper()
		intend := func() {
			got, err := e.store.Intend(e.ctx, card, store.TheCard, l, timeout)
			e.ok(err)
			same(e, "intent", got, want)
		}
		if want == store.MaySend {
			intend()
			return
		}
		e.unchanged(intend)
	}
	return []check{
		{"intent", "the lease's holder may send, and may try again", func(e *env) {
			e.open("a1")
			l := e.lease()
			cid := e.place("a1", store.Place{Chat: ann}, &l, false)
			intends(e, cid, l, store.MaySend)
			intends(e, cid, l, store.MaySend)
			until, err := strconv.ParseInt(e.field(e.keys.CardKey(cid), "message_until"), 10, 64)
			e.ok(err)
			e.at("end of the call", time.UnixMilli(until), e.now().Add(timeout))
		}},
		{"intent", "what was sent is not sent again", func(e *env) {
			e.open("a1")
			intends(e, e.card("a1"), e.lease(), store.IsSent)
		}},
		{"intent", "without the lease nothing is sent", func(e *env) {
			e.open("a1")
			l := e.lease()
			cid := e.place("a1", store.Place{Chat: ann}, &l, false)
			l.Number++
			intends(e, cid, l, store.IsStale)
			e.ok(e.rdb.Del(e.ctx, e.keys.LeaseKey()).Err())
			intends(e, cid, l, store.IsStale)
		}},
		{"intent", "at least the time of one call must be left of the lease", func(e *env) {
			e.open("a1")
			l, _, err := e.store.TakeLease(e.ctx, "short", hour)
			e.ok(err)
			cid := e.place("a1", store.Place{Chat: ann}, &l, false)
			e.advance(hour - timeout - e.slack())
			intends(e, cid, l, store.MaySend)
			e.advance(time.Millisecond + e.slack())
			intends(e, cid, l, store.IsStale)
		}},
		{"intent", "a new holder waits until the old one's call must be over", func(e *env) {
			e.open("a1")
			old, _, err := e.store.TakeLease(e.ctx, "old", timeout)
			e.ok(err)
			cid := e.place("a1", store.Place{Chat: ann}, &old, false)
			e.ok(e.rdb.HSet(e.ctx, e.keys.LeaseKey(), "until", e.now().Add(hour).UnixMilli()).Err())
			intends(e, cid, old, store.MaySend)
			e.ok(e.store.GiveLease(e.ctx, "old"))
			l := e.lease()
			e.advance(timeout - e.tick())
			intends(e, cid, l, store.IsBusy)
			e.advance(e.tick())
			intends(e, cid, l, store.MaySend)
		}},
		{"intent", "a card that is gone is not sent", func(e *env) { intends(e, "gone", e.lease(), store.IsStale) }},
		{"sent", "a message that was taken is the card's, and leads to it", func(e *env) {
			e.open("a1")
			l := e.lease()
			cid := e.place("a1", store.Place{Chat: ann}, &l, false)
			intends(e, cid, l, store.MaySend)
			e.sent("a1", cid, store.TheCard, message, 0)
			c := e.read("a1").Card(cid)
			same(e, "message", c.Message, message)
			same(e, "drawn", c.Drawn, "drawn")
			e.leads(ann, message, cid)
			same(e, "intent", e.field(e.keys.CardKey(cid), "message_until")+e.field(e.keys.CardKey(cid), "message_lease"), "")
			same(e, "date", e.field(e.keys.CardKey(cid), "message_at") != "", true)
		}},
		{"sent", "a notice and a reminder lead to their card, and do not change what it shows", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			e.ok(e.store.SetCard(e.ctx, cid, map[string]string{"drawn": "before"}))
			e.sent("a1", cid, store.TheNotice, 11, 0)
			e.sent("a1", cid, store.TheReminder, 12, 0)
			c := e.read("a1").Card(cid)
			same(e, "notice", c.Notice, 11)
			same(e, "reminder", c.Reminder, 12)
			same(e, "drawn", c.Drawn, "before")
			e.leads(ann, 11, cid)
			e.leads(ann, 12, cid)
		}},
		{"sent", "an edit is what its message shows", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			ok, err := e.store.Edited(e.ctx, "a1", cid, message, "second", 0, e.lease())
			e.ok(err)
			same(e, "recorded", ok, true)
			want := e.rdb.HGetAll(e.ctx, e.keys.CardKey(cid)).Val()
			same(e, "drawn", want["drawn"], "second")
			want["copy:12"] = "drawn"
			e.sent("a1", cid, "edit", 12, 0)
			same(e, "card", e.rdb.HGetAll(e.ctx, e.keys.CardKey(cid)).Val(), want)
			same(e, "messages", len(e.rdb.Keys(e.ctx, e.keys.Prefix()+"bot:message:*").Val()), 1)
		}},
		{"sent", "a message sent after the answer lives as long as the row", func(e *env) {
			e.approved("a1")
			e.advance(hour)
			e.card("a1")
			e.livesFor(e.keys.Message(ann, message), storetest.Retention-hour)
		}},
		{"sent", "what comes in under an old lease is not recorded, and is drawn again", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			l := e.lease()
			l.Number--
			before := e.rdb.HGetAll(e.ctx, e.keys.CardKey(cid)).Val()
			e.marked("a1", func() {
				ok, err := e.store.Sent(e.ctx, "a1", cid, "edit", message, "stale", 0, l)
				e.ok(err)
				same(e, "recorded", ok, false)
			})
			same(e, "card", e.rdb.HGetAll(e.ctx, e.keys.CardKey(cid)).Val(), before)
		}},
		{"sent", "a card that is gone stays gone", func(e *env) {
			e.open("a1")
			e.lease()
			e.unchanged(func() { e.sent("a1", "gone", store.TheCard, message, 0) })
		}},
		{"sent", "a step is shown from the first edit that shows it on its card", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			r := e.step("a1", ann, cid)
			other := e.place("a1", store.Place{Chat: ben}, nil, false)
			e.sent("a1", cid, "edit", message, r.Step.Rev-1)
			e.sent("a1", cid, "edit", message, 0)
			e.sent("a1", other, store.TheCard, 11, r.Step.Rev)
			e.sent("a1", cid, store.TheReminder, 12, r.Step.Rev)
			same(e, "shown", e.read("a1").Step.ShownAt, time.Time{})
			e.sent("a1", cid, "edit", message, r.Step.Rev)
			e.at("shown", e.read("a1").Step.ShownAt, e.now())
			first := e.read("a1").Step.ShownAt
			e.sent("a1", cid, "edit", message, r.Step.Rev)
			same(e, "shown", e.read("a1").Step.ShownAt, first)
			e.advance(hour / 2)
			e.sent("a1", cid, "edit", message, r.Step.Rev)
			same(e, "shown", e.read("a1").Step.ShownAt.Add(e.server.Moved()), first)
		}},
		{"sent", "a new message that shows a step counts as well", func(e *env) {
			e.open("a1")
			cid := e.place("a1", store.Place{Chat: ann}, nil, false)
			r := e.step("a1", ann, cid)
			e.sent("a1", cid, store.TheCard, message, r.Step.Rev)
			e.at("shown", e.read("a1").Step.ShownAt, e.now())
		}},
	}
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
			e.look("a1", cid, store.View{Message: 12})
			e.ok(e.store.DropCopy(e.ctx, cid, 12))
			e.leads(ann, 12, "")
			same(e, "copies", len(e.read("a1").Card(cid).Copies), 0)
			e.ok(e.store.LoseMessage(e.ctx, cid, message))
			e.leads(ann, message, "")
			c := e.read("a1").Card(cid)
			same(e, "message and what it shows", []any{c.Message, c.Drawn}, []any{0, ""})
			e.ok(e.store.DropCopy(e.ctx, "gone", 12))
			e.ok(e.store.FailCard(e.ctx, cid, "blocked"))
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
