package store_test

import (
	"errors"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
)

// deposed is a lease that was another's before the present one.
func (e *env) deposed() store.Lease {
	e.Helper()
	if e.held != nil {
		e.Fatalf("somebody leads already")
	}
	old, held, err := e.store.TakeLease(e.ctx, "deposed", time.Minute)
	e.ok(err)
	e.ok(e.store.GiveLease(e.ctx, "deposed"))
	if now := e.lease(); !held || now.Number == old.Number {
		e.Fatalf("lease %d follows %d", now.Number, old.Number)
	}
	return old
}

// fenced wants a write under an old lease to be refused and to change nothing, and
// under the present one to be taken.
func (e *env) fenced(old store.Lease, write func(store.Lease) error) {
	e.Helper()
	e.unchanged(func() {
		if err := write(old); !errors.Is(err, store.ErrStale) {
			e.Errorf("under an old lease: %v, want %v", err, store.ErrStale)
		}
	})
	before := e.dump()
	e.ok(write(e.lease()))
	if cmp.Equal(before, e.dump()) {
		e.Errorf("under the present lease nothing changed")
	}
}

func fenceChecks() []check {
	return []check{
		{"gone", "a message that is gone is the card's no more, under the present lease alone", func(e *env) {
			old := e.deposed()
			e.open("a1")
			cid := e.card("a1")
			e.look("a1", cid, store.View{Message: 12, Chat: ann})
			e.fenced(old, func(l store.Lease) error { return e.store.LoseMessage(e.ctx, cid, 12, l) })
			e.leads(ann, 12, "")
			c := e.read("a1").Card(cid)
			same(e, "copies", len(c.Copies), 0)
			same(e, "message and what it shows", []any{c.Message, c.Drawn}, []any{message, "drawn"})
			e.fenced(old, func(l store.Lease) error { return e.store.LoseMessage(e.ctx, cid, message, l) })
			e.leads(ann, message, "")
			c = e.read("a1").Card(cid)
			same(e, "message and what it shows", []any{c.Message, c.Drawn}, []any{0, ""})
		}},
		{"gone", "what a deposed leader finds gone is not what stands there since", func(e *env) {
			old := e.deposed()
			e.open("a1")
			cid := e.card("a1")
			e.ok(e.store.LoseMessage(e.ctx, cid, message, e.lease()))
			e.sent("a1", cid, store.TheCard, message+1, 0)
			if err := e.store.LoseMessage(e.ctx, cid, message, old); !errors.Is(err, store.ErrStale) {
				e.Errorf("a deposed leader: %v", err)
			}
			e.ok(e.store.LoseMessage(e.ctx, cid, message, e.lease())) // nor is it under the present one
			same(e, "message", e.read("a1").Card(cid).Message, message+1)
			e.leads(ann, message+1, cid)
		}},
		{"gone", "a card that is gone loses nothing", func(e *env) {
			l := e.lease()
			e.unchanged(func() { e.ok(e.store.LoseMessage(e.ctx, "gone", message, l)) })
		}},
		{"topic", "a topic is gone under the present lease alone, and only of a card that is there", func(e *env) {
			old := e.deposed()
			e.open("a1")
			cid := e.card("a1")
			e.fenced(old, func(l store.Lease) error { return e.store.LoseTopic(e.ctx, cid, store.Astray, l) })
			same(e, "topicless", e.field(e.keys.CardKey(cid), "topicless"), store.Astray)
			e.unchanged(func() { e.ok(e.store.LoseTopic(e.ctx, "gone", store.Astray, e.lease())) })
		}},
		{"fail", "a card fails under the present lease alone", func(e *env) {
			old := e.deposed()
			e.open("a1")
			cid := e.card("a1")
			e.fenced(old, func(l store.Lease) error { return e.store.FailCard(e.ctx, cid, "blocked", l) })
		}},
		{"chat", "a doubt ends under the present lease alone; anybody may raise it, or say that the bot is back", func(e *env) {
			old := e.deposed()
			e.open("a1")
			cid := e.card("a1")
			e.ok(e.store.DoubtChat(e.ctx, ann, "kicked"))
			e.fenced(old, func(l store.Lease) error { return e.store.ChatOut(e.ctx, ann, "a1", "blocked", l) })
			e.ok(e.store.ChatBack(e.ctx, ann))
			e.ok(e.store.DoubtChat(e.ctx, ann, "kicked"))
			same(e, "failed and in doubt", e.cardIn("a1", cid), [2]string{"", "kicked"})
			e.fenced(old, func(l store.Lease) error { return e.store.ChatFine(e.ctx, ann, "a1", l) })
		}},
		{"rehome", "a card moves under the present lease alone", func(e *env) {
			old := e.deposed()
			e.open("a1", inGroup(oldGroup))
			e.groupCard("a1", oldGroup, 10)
			e.moves(oldGroup, newGroup, true)
			e.fenced(old, func(l store.Lease) error { return e.store.Rehome(e.ctx, "a1", l) })
		}},
		{"settle", "a deposed leader takes nothing off the feed, and puts nothing off", func(e *env) {
			old := e.deposed()
			r := e.open("a1")
			nid, err := e.store.NewNotice(e.ctx, store.Notice{Kind: store.SharedLapse, Chat: ann}, 0)
			e.ok(err)
			for _, again := range []time.Duration{hour, -1} {
				e.fenced(old, func(l store.Lease) error { return e.store.SettleNotice(e.ctx, nid, again, &l) })
				e.fenced(old, func(l store.Lease) error { _, err := e.store.Settle(e.ctx, r, again, l); return err })
			}
		}},
		{"settle", "whoever does not lead may have a notice looked at", func(e *env) {
			nid, err := e.store.NewNotice(e.ctx, store.Notice{Kind: store.SharedLapse, Chat: ann}, hour)
			e.ok(err)
			e.ok(e.store.SettleNotice(e.ctx, nid, 0, nil))
			same(e, "due", e.dirty().Notices, []string{nid})
		}},
	}
}
