package store_test

import (
	"slices"
	"testing"
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

const (
	oldGroup = int64(-100)
	newGroup = int64(-1000000000100)
)

// moves records that a chat moved.
func (e *env) moves(old, now int64, news bool) {
	e.Helper()
	got, sense, err := e.store.Moved(e.ctx, old, now)
	e.ok(err)
	same(e, "news", got, news)
	same(e, "makes sense", sense, true)
}

// lives is where chats are now.
func (e *env) lives(want map[int64]int64) {
	e.Helper()
	m, err := e.store.Moves(e.ctx)
	e.ok(err)
	for chat, home := range want {
		same(e, "home", m.Home(chat), home)
	}
}

// inGroup is routed to groups.
func inGroup(chats ...int64) func(*store.Opening) {
	return func(o *store.Opening) {
		o.Chats = nil
		for _, c := range chats {
			o.Chats = append(o.Chats, approval.Chat{ID: c})
		}
	}
}

// groupCard makes the card of an approval in a chat, and has it sent.
func (e *env) groupCard(id string, chat int64, message int) string {
	e.Helper()
	cid := e.place(id, store.Place{Chat: chat}, nil, false)
	e.sent(id, cid, store.TheCard, message, 0)
	return cid
}

func movedChecks() []check {
	return []check{
		{"moved", "what is open in the chat is looked at, once, and nothing else", func(e *env) {
			e.open("a1", inGroup(oldGroup))
			e.open("a2")
			e.groupCard("a1", oldGroup, 10)
			e.card("a2")
			e.ok(e.rdb.Del(e.ctx, e.keys.DirtyKey()).Err())
			rev := e.read("a1").Row.Rev
			e.marked("a1", func() { e.moves(oldGroup, newGroup, true) })
			same(e, "dirty", e.dirty().Approvals, []string{"a1"})
			same(e, "revision", e.read("a1").Row.Rev, rev+1)
			e.unchanged(func() { e.moves(oldGroup, newGroup, false) })
		}},
		{"moved", "it is kept for as long as rows, from the last time it was said or asked for", func(e *env) {
			e.moves(oldGroup, newGroup, true)
			e.livesFor(e.keys.Moved(), storetest.Retention)
			e.advance(hour)
			e.moves(oldGroup, newGroup, false)
			e.livesFor(e.keys.Moved(), storetest.Retention)
			e.advance(hour)
			e.moves(-200, -300, true)
			e.livesFor(e.keys.Moved(), storetest.Retention)
			e.advance(hour)
			e.lives(map[int64]int64{oldGroup: newGroup})
			e.livesFor(e.keys.Moved(), storetest.Retention)
		}},
		{"moved", "a chain is followed, and the latest word holds", func(e *env) {
			e.moves(-1, -2, true)
			e.moves(-2, -3, true)
			e.lives(map[int64]int64{-1: -3, -2: -3, -3: -3, -4: -4})
			e.moves(-1, -4, true)
			e.lives(map[int64]int64{-1: -4, -2: -3})
			e.moves(-21, -22, true)
			e.moves(-20, -21, true) // what it leads to is known
			e.lives(map[int64]int64{-20: -22})
		}},
		{"moved", "what leads in a circle is nonsense, and changes nothing", func(e *env) {
			for chat := int64(-1); chat > -5; chat-- {
				e.moves(chat, chat-1, true)
			}
			for old, now := range map[int64]int64{-1: -1, -2: -1, -5: -1, -4: -3} {
				e.unchanged(func() {
					news, sense, err := e.store.Moved(e.ctx, old, now)
					e.ok(err)
					same(e, "news and sense", []bool{news, sense}, []bool{false, false})
				})
			}
		}},
		{"moved", "readings name chats as they are now", func(e *env) {
			e.open("a1", inGroup(oldGroup, ann, newGroup))
			e.moves(oldGroup, newGroup, true)
			r := e.read("a1")
			same(e, "chats", r.Row.Chats, []approval.Chat{{ID: newGroup}, {ID: ann}})
			same(e, "home", []int64{r.Home(oldGroup), r.Home(ann)}, []int64{newGroup, ann})
			e.advance(hour)
			a := lapse()
			a.Quiet = []int64{oldGroup, ann}
			after := e.decides(r, a, store.Done)
			same(e, "quiet", after.Row.Quiet, []int64{newGroup, ann})
		}},
	}
}

func rehomeChecks() []check {
	return []check{
		{"rehome", "cards go where their chat is now, to be sent again, and no others", func(e *env) {
			e.open("a1", inGroup(oldGroup, ann))
			cid := e.groupCard("a1", oldGroup, 10)
			other := e.card("a1")
			e.look("a1", cid, store.View{User: ann, Pages: []string{"2"}, Message: 12, Chat: oldGroup})
			e.sent("a1", cid, store.TheNotice, 13, 0)
			e.sent("a1", cid, store.TheReminder, 14, 0)
			for field, v := range map[string]string{"failed": "x", "doubt": "x", "topicless": "1", "question": "15", "message_lease": "1", "message_until": "9"} {
				e.ok(e.rdb.HSet(e.ctx, e.keys.CardKey(cid), field, v).Err())
			}
			before := e.read("a1")
			same(e, "strayed", before.Strayed(), false)
			e.unchanged(func() { e.ok(e.store.Rehome(e.ctx, "a1", e.lease())) })
			e.moves(oldGroup, newGroup, true)
			before = e.read("a1")
			same(e, "strayed", before.Strayed(), true)
			e.ok(e.store.Rehome(e.ctx, "a1", e.lease()))
			r := e.read("a1")
			same(e, "card", *r.Card(cid), store.Card{
				ID: cid, Chat: newGroup, Notice: 13, Reminder: 14, Copies: map[int]string{}, Seen: map[int64][]string{ann: {"2"}},
			})
			same(e, "what is left of it", slices.Sorted(slices.Values(e.rdb.HKeys(e.ctx, e.keys.CardKey(cid)).Val())), []string{
				"approval", "chat", "notice", "notice_at", "reader", "reminder", "reminder_at", "seen:1001", "thread",
			})
			same(e, "the other card", *r.Card(other), *before.Card(other))
			same(e, "strayed", r.Strayed(), false)
			same(e, "revision", r.Row.Rev, before.Row.Rev+1)
			same(e, "open in the old chat", e.there(e.keys.OpenIn(oldGroup)), false)
			e.inChat(ann, 100, e.now(), "a1")
			e.unchanged(func() { e.ok(e.store.Rehome(e.ctx, "a1", e.lease())) })
		}},
		{"rehome", "old messages lead to the card for a day, whatever they were", func(e *env) {
			e.open("a1", inGroup(oldGroup))
			cid := e.groupCard("a1", oldGroup, 10)
			e.look("a1", cid, store.View{Message: 11, Chat: oldGroup})
			e.sent("a1", cid, store.TheNotice, 12, 0)
			e.sent("a1", cid, store.TheReminder, 13, 0)
			r := e.opensStep("a1", ann, store.Done)
			e.asked("a1", r.Step.Rev, oldGroup, 14, cid, true)
			e.moves(oldGroup, newGroup, true)
			e.ok(e.store.Rehome(e.ctx, "a1", e.lease()))
			for m := 10; m <= 14; m++ {
				e.leads(oldGroup, m, cid)
				e.livesFor(e.keys.Message(oldGroup, m), 24*hour)
				e.leads(newGroup, m, "")
			}
		}},
		{"rehome", "a step that the card showed has to be shown anew, another's has not", func(e *env) {
			e.open("a1")
			e.shown("a1", ann)
			e.moves(ann, -5, true)
			e.ok(e.store.Rehome(e.ctx, "a1", e.lease()))
			same(e, "shown", e.read("a1").Step.ShownAt.IsZero(), true)
			e.open("a2", inGroup(oldGroup, ben))
			e.groupCard("a2", oldGroup, 11)
			cid := e.groupCard("a2", ben, 12)
			r := e.step("a2", ann, cid)
			e.sent("a2", cid, "edit", 12, r.Step.Rev)
			e.moves(oldGroup, newGroup, true)
			e.ok(e.store.Rehome(e.ctx, "a2", e.lease()))
			same(e, "shown", e.read("a2").Step.ShownAt.IsZero(), false)
		}},
		{"rehome", "where a card stands in the new chat already, the moved one is retired", func(e *env) {
			for id, p := range map[string]store.Place{
				"same": {Chat: newGroup}, "topic": {Chat: newGroup, Thread: 7}, "reader": {Chat: newGroup, Reader: true},
				"retired": {Chat: newGroup}, "elsewhere": {Chat: ben},
			} {
				e.open(id)
				there := e.place(id, p, nil, false)
				if id == "retired" {
					e.ok(e.rdb.HSet(e.ctx, e.keys.CardKey(there), "retired", "1").Err())
				}
				e.groupCard(id, oldGroup, 10)
			}
			e.moves(oldGroup, newGroup, true)
			for id, retired := range map[string]bool{"same": true, "topic": false, "reader": false, "retired": false, "elsewhere": false} {
				old := e.place(id, store.Place{Chat: oldGroup}, nil, false)
				e.ok(e.store.Rehome(e.ctx, id, e.lease()))
				same(e, id+" is retired", e.read(id).Card(old).Retired, retired)
			}
		}},
		{"rehome", "two cards that come to one place are one", func(e *env) {
			e.open("a1", inGroup(oldGroup, -300))
			one, two := e.groupCard("a1", oldGroup, 10), e.groupCard("a1", -300, 10)
			e.moves(oldGroup, newGroup, true)
			e.moves(-300, newGroup, true)
			e.ok(e.store.Rehome(e.ctx, "a1", e.lease()))
			r := e.read("a1")
			same(e, "exactly one is retired", r.Card(one).Retired != r.Card(two).Retired, true)
		}},
		{"rehome", "what is gone moves nowhere", func(e *env) {
			e.moves(oldGroup, newGroup, true)
			l := e.lease()
			e.unchanged(func() { e.ok(e.store.Rehome(e.ctx, "never", l)) })
		}},
	}
}

// A circle in what is kept holds nothing up: no script of ours writes one.
func TestMovesInACircle(t *testing.T) {
	t.Parallel()
	m := store.Moves{-1: -2, -2: -1}
	if got := m.Home(-1); got != -1 && got != -2 {
		t.Errorf("home = %d", got)
	}
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		e.open("a1", inGroup(-1))
		e.groupCard("a1", -1, 10)
		e.ok(e.rdb.HSet(e.ctx, e.keys.Moved(), "-1", "-2", "-2", "-1").Err())
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.moves(-3, -1, true)
			_ = e.store.Rehome(e.ctx, "a1", e.lease())
			e.read("a1")
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("a circle is followed for ever")
		}
	})
}
