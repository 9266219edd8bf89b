package store_test

import (
	"strconv"
	"time"

	"countersign/store"
	"countersign/store/storetest"
)

const timeout = 10 * time.Second

// record is what was sent of a card.
func record(card string) store.Record {
	return store.Record{ID: "a1", Card: card, What: store.TheCard, Message: message, Drawn: "last"}
}

// last records what is the last of an approval as it was read.
func (e *env) last(r *store.Reading, card string, again time.Duration, settles bool) {
	e.Helper()
	kept, settled, err := e.store.RecordLast(e.ctx, record(card), r, again, e.lease())
	e.ok(err)
	same(e, "kept", kept, true)
	same(e, "settled", settled, settles)
}

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
			e.ok(e.rdb.HSet(e.ctx, e.keys.CardKey(cid), "drawn", "before").Err())
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
			ok, err := e.store.Record(e.ctx, store.Record{ID: "a1", Card: cid, What: store.AnEdit, Message: message, Drawn: "second"}, e.lease())
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
		{"sent", "what comes in under an old lease is not recorded; what it was edited over is drawn again", func(e *env) {
			r := e.open("a1")
			cid := e.card("a1")
			e.look("a1", cid, store.View{User: ann, Pages: []string{"0"}, Message: 12, Chat: ann})
			e.sent("a1", cid, "edit", 12, 0)
			want := *e.read("a1").Card(cid)
			e.late("a1", cid, store.TheCard, 13)
			same(e, "card after a send", *e.read("a1").Card(cid), want)
			e.late("a1", cid, "edit", 13)
			same(e, "card after an edit of no message of it", *e.read("a1").Card(cid), want)
			want.Copies = map[int]string{12: ""}
			e.late("a1", cid, "edit", 12)
			same(e, "card after an edit of a copy", *e.read("a1").Card(cid), want)
			want.Drawn = ""
			before := e.read("a1")
			e.late("a1", cid, "edit", message)
			same(e, "card after an edit", *e.read("a1").Card(cid), want)
			settled, err := e.store.Settle(e.ctx, before, -1, e.lease())
			e.ok(err)
			same(e, "settled by who read it before", settled, false)
			e.sent("a1", cid, "edit", message, 0)
			e.ok(e.rdb.Del(e.ctx, e.keys.Row(r.ID)).Err())
			e.late("a1", cid, "edit", message)
			same(e, "rows", e.rdb.Exists(e.ctx, e.keys.Row(r.ID)).Val(), 0)
		}},
		{"sent", "the last of an approval takes it off the feed with it, or puts it off from when it was read", func(e *env) {
			e.open("a1")
			cid := e.place("a1", store.Place{Chat: ann}, nil, false)
			r := e.read("a1")
			same(e, "due", r.Due(), true)
			e.advance(time.Second)
			e.last(r, cid, hour, true)
			same(e, "message", e.read("a1").Card(cid).Message, message)
			same(e, "due", e.read("a1").Due(), false)
			at, err := e.rdb.ZScore(e.ctx, e.keys.DirtyKey(), "a:a1").Result()
			e.ok(err)
			e.at("due again", time.UnixMilli(int64(at)), r.Now.Add(hour))
			e.last(e.read("a1"), cid, -1, true)
			same(e, "marks", e.rdb.ZCard(e.ctx, e.keys.DirtyKey()).Val(), 0)
			same(e, "due", e.read("a1").Due(), false)
		}},
		{"sent", "the last of an approval that has changed since is kept, and the approval stays due", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			r := e.read("a1")
			e.step("a1", ann, cid)
			e.last(r, cid, -1, false)
			r = e.read("a1")
			e.ok(e.store.Touch(e.ctx, "a1"))
			e.last(r, cid, -1, false)
			same(e, "due", e.read("a1").Due(), true)
			r = e.read("a1")
			r.Row = nil // it was not there yet
			e.last(r, cid, -1, false)
		}},
		{"sent", "under an old lease the last of an approval settles nothing", func(e *env) {
			e.open("a1")
			cid := e.card("a1")
			r := e.read("a1")
			l := e.lease()
			l.Number--
			kept, settled, err := e.store.RecordLast(e.ctx, record(cid), r, -1, l)
			e.ok(err)
			same(e, "kept", kept, false)
			same(e, "settled", settled, false)
			same(e, "due", e.read("a1").Due(), true)
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
