package store_test

import (
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// inChat wants the approvals that a plain word in a chat could mean.
func (e *env) inChat(chat int64, above int, at time.Time, want ...string) {
	e.Helper()
	readings, err := e.store.OpenInChat(e.ctx, chat, above, at)
	e.ok(err)
	var ids []string
	for _, r := range readings {
		ids = append(ids, r.ID)
	}
	same(e, "open in the chat", ids, want)
}

// chatChecks are about what a plain word in a chat could mean, and about what
// comes first on the feed.
func chatChecks() []check {
	return []check{
		{"sent", "an approval is open in a chat below its card", func(e *env) {
			e.open("a1")
			cid := e.place("a1", store.Place{Chat: ann}, nil, false)
			e.inChat(ann, 100, e.now())
			e.sent("a1", cid, store.TheCard, message, 0)
			e.inChat(ann, message, e.now())
			e.inChat(ann, message+1, e.now(), "a1")
			e.inChat(ben, message+1, e.now())
		}},
		{"sent", "a card sent after the answer is not open", func(e *env) {
			e.approved("a1")
			e.card("a1")
			same(e, "open in the chat", e.there(e.keys.OpenIn(ann)), false)
		}},
		{"view", "an approval is open below a card that a tap made known, and only while open", func(e *env) {
			for id, message := range map[string]int{"a1": 12, "a2": 13} {
				e.open(id)
				if id == "a2" {
					storetest.Approve(e.TB, e.store, id)
				}
				e.look(id, e.place(id, store.Place{Chat: ann}, nil, false), store.View{Message: message, Chat: ann})
			}
			e.inChat(ann, 100, e.now(), "a1")
			same(e, "open in the chat", e.rdb.ZRange(e.ctx, e.keys.OpenIn(ann), 0, -1).Val(), []string{"a1"})
		}},
		{"asked", "an approval is open below the question for a typed yes", func(e *env) {
			e.open("a1")
			r := e.opensStep("a1", ann, store.Done)
			e.asked("a1", r.Step.Rev, -100, 11, "", true)
			e.inChat(-100, 11, e.now())
			e.inChat(-100, 12, e.now(), "a1")
		}},
		{"decide", "what is answered is open nowhere, be the question's step over or not", func(e *env) {
			e.open("a1")
			e.card("a1")
			r := e.opensStep("a1", ann, store.Done)
			e.asked("a1", r.Step.Rev, -100, 11, "", true)
			e.cancels("a1", ann, 0, store.Done)
			r = e.opensStep("a1", ann, store.Done)
			e.asked("a1", r.Step.Rev, -200, 11, "", true)
			before := e.now().Add(-time.Second)
			storetest.Approve(e.TB, e.store, "a1")
			for _, chat := range []int64{ann, -100, -200} {
				same(e, "open in the chat", e.there(e.keys.OpenIn(chat)), false)
				e.at("closed", e.score(e.keys.ClosedIn(chat), "a1"), e.now())
				e.livesFor(e.keys.ClosedIn(chat), time.Hour)
			}
			same(e, "chats", len(e.rdb.Keys(e.ctx, e.keys.Prefix()+"bot:closed:*").Val()), 3)
			e.inChat(ann, 100, before, "a1")
			e.inChat(ann, 100, e.now().Add(time.Second))
		}},
		{"decide", "what was answered an hour ago is forgotten by the chat", func(e *env) {
			closed := func(id string) {
				e.open(id)
				e.card(id)
				storetest.Approve(e.TB, e.store, id)
			}
			closed("a1")
			e.advance(hour / 2)
			closed("a2")
			e.advance(hour / 2)
			closed("a3")
			same(e, "closed", e.rdb.ZRange(e.ctx, e.keys.ClosedIn(ann), 0, -1).Val(), []string{"a2", "a3"})
		}},
		{"decide", "a shared notice speaks for what lapsed with it, in order", func(e *env) {
			nid, err := e.store.NewNotice(e.ctx, store.Notice{Kind: store.SharedLapse, Chat: ann}, 0)
			e.ok(err)
			for _, id := range []string{"a2", "a1"} {
				e.open(id)
			}
			e.advance(hour)
			for _, id := range []string{"a2", "a1"} {
				a := lapse()
				a.Notices, a.Quiet = []string{nid, "other"}, []int64{ann}
				e.decides(e.read(id), a, store.Done)
			}
			n, _, err := e.store.ReadNotice(e.ctx, nid)
			e.ok(err)
			same(e, "named", n.IDs, []string{"a2", "a1"})
			same(e, "total", n.Total, 2)
			e.livesFor(e.keys.Told(nid), storetest.Retention)
			same(e, "the other's", e.rdb.LLen(e.ctx, e.keys.Told("other")).Val(), int64(2))
		}},
		{"decide", "what a person waits for comes before what nobody does", func(e *env) {
			e.open("a1")
			e.open("a2")
			e.decides(e.read("a2"), byOperator(approval.DecisionRejected), store.Done)
			same(e, "dirty", e.dirty().Approvals, []string{"a2", "a1"})
			same(e, "urgent", e.dirty().Urgent, 1)
			e.open("a3")
			e.decides(e.read("a3"), reject(ann), store.Done)
			same(e, "urgent", e.dirty().Urgent, 2)
			e.open("a0")
			e.decides(e.read("a0"), unreachable(), store.Done)
			same(e, "urgent", e.dirty().Urgent, 2)
		}},
		{"decide", "without quiet chats the row names none", func(e *env) {
			e.decides(e.open("a1"), reject(ann), store.Done)
			same(e, "quiet", e.rdb.HExists(e.ctx, e.keys.Row("a1"), "quiet").Val(), false)
		}},
		{"lib", "a mark does not put off an earlier one, and brings a later one forward", func(e *env) {
			r := e.open("a1", func(o *store.Opening) { o.RemindAt = o.ExpiresAt })
			e.settles(r, hour, true)
			e.decides(r, unreachable(), store.Done)
			same(e, "dirty", e.dirty().Approvals, []string{"a1"})

			e.open("a2")
			e.opensStep("a2", ann, store.Done)
			same(e, "mark", e.score(e.keys.DirtyKey(), "a:a2"), urgent)
			e.decides(e.read("a2"), unreachable(), store.Done)
			same(e, "mark", e.score(e.keys.DirtyKey(), "a:a2"), urgent)
		}},
	}
}
