package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/store"
)

func (e *env) dirty() store.Due {
	e.Helper()
	d, err := e.store.Dirty(e.ctx, 100)
	e.ok(err)
	return d
}

// keepsItsMark wants a mark to outlast those who looked before it was set.
func (e *env) keepsItsMark(again func()) {
	e.Helper()
	r := e.open("a1")
	again()
	e.settles(r, -1, false)
	e.settles(r, hour, false)
	same(e, "dirty", e.dirty().Approvals, []string{"a1"})
	after := e.read("a1")
	same(e, "revision", after.Row.Rev, r.Row.Rev)
	e.settles(after, -1, true)
}

func (e *env) settles(r *store.Reading, again time.Duration, want bool) {
	e.Helper()
	settled, err := e.store.Settle(e.ctx, r, again, e.lease())
	e.ok(err)
	same(e, "settled", settled, want)
}

func feedChecks() []check {
	return []check{
		{"settle", "what was drawn comes off the feed", func(e *env) {
			r := e.open("a1")
			e.settles(r, -1, true)
			same(e, "dirty", e.dirty().Approvals, []string{})
		}},
		{"settle", "what changed since it was read stays on the feed", func(e *env) {
			r := e.open("a1")
			e.opensStep("a1", ann, store.Done)
			e.lease()
			e.unchanged(func() {
				e.settles(r, -1, false)
				e.settles(r, hour, false)
			})
			same(e, "dirty", e.dirty().Approvals, []string{"a1"})
		}},
		{"settle", "what was marked since it was read stays on the feed, though it has not changed", func(e *env) {
			e.keepsItsMark(func() { e.ok(e.store.Touch(e.ctx, "a1")) })
		}},
		{"touch", "so it does where it is touched", func(e *env) {
			e.keepsItsMark(func() { e.ok(e.store.TouchOpen(e.ctx)) })
		}},
		{"redraw", "so it does where it is to be drawn anew", func(e *env) {
			e.keepsItsMark(func() { e.redraws(1) })
		}},
		{"settle", "what is gone comes off the feed, however often it was marked", func(e *env) {
			e.open("a1")
			e.ok(e.store.Touch(e.ctx, "a1"))
			r := e.read("a1")
			e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1")).Err())
			e.settles(r, -1, true)
		}},
		{"touch", "what is open is marked, before what nobody waits for or with it", func(e *env) {
			e.open("a1")
			e.settles(e.read("a1"), -1, true)
			e.marked("a1", func() { e.ok(e.store.TouchOpen(e.ctx)) })
			e.at("a1", e.score(e.keys.DirtyKey(), "a:a1"), e.now())
			e.ok(e.store.Touch(e.ctx, "a1"))
			e.at("a1", e.score(e.keys.DirtyKey(), "a:a1"), time.UnixMilli(1))
		}},
		{"touch", "what is gone is marked, and stays gone", func(e *env) {
			e.ok(e.store.Touch(e.ctx, "never"))
			same(e, "row", e.there(e.keys.Row("never")), false)
		}},
		{"redraw", "what is gone is marked, and stays gone", func(e *env) {
			e.open("a1")
			e.decides(e.read("a1"), byOperator(approval.DecisionRejected), store.Done)
			e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1")).Err())
			e.redraws(1)
			same(e, "row", e.there(e.keys.Row("a1")), false)
		}},
		{"settle", "what is to be looked at later comes up then", func(e *env) {
			r := e.open("a1")
			e.settles(r, hour, true)
			d := e.dirty()
			same(e, "dirty", d.Approvals, []string{})
			e.at("next", d.Now.Add(d.Next), d.Now.Add(hour))
			e.advance(hour)
			same(e, "dirty", e.dirty().Approvals, []string{"a1"})
		}},
		{"settle", "what is to be looked at later counts from its reading, and a notice from now", func(e *env) {
			r := e.open("a1")
			id, err := e.store.NewNotice(e.ctx, store.Notice{Kind: store.SharedLapse, Chat: ann, IDs: []string{"a1"}, Total: 6}, hour)
			e.ok(err)
			e.advance(hour / 2)
			e.settles(r, hour, true)
			e.at("a1", e.score(e.keys.DirtyKey(), "a:a1"), r.Now.Add(hour))
			e.ok(e.store.SettleNotice(e.ctx, id, hour, e.leases()))
			e.at("notice", e.score(e.keys.DirtyKey(), "n:"+id), e.now().Add(hour))
		}},
		{"settle", "what is gone comes off the feed", func(e *env) {
			e.ok(e.store.Touch(e.ctx, "never"))
			same(e, "dirty", e.dirty().Approvals, []string{"never"})
			e.settles(e.read("never"), -1, true)
			same(e, "dirty", e.dirty().Approvals, []string{})
		}},
		{"settle", "a notice comes up after its delay, and goes once it is sent or settled", func(e *env) {
			var ids []string
			for range 2 {
				id, err := e.store.NewNotice(e.ctx, store.Notice{Kind: store.SharedLapse, Chat: ann, IDs: []string{"a1"}, Total: 6}, hour)
				e.ok(err)
				ids = append(ids, id)
			}
			same(e, "due", e.dirty().Notices, nil)
			e.advance(hour)
			due := e.dirty().Notices
			slices.Sort(due)
			slices.Sort(ids)
			same(e, "due", due, ids)
			n, sent, err := e.store.ReadNotice(e.ctx, ids[0])
			e.ok(err)
			same(e, "notice", *n, store.Notice{ID: ids[0], Kind: store.SharedLapse, Chat: ann, IDs: []string{"a1"}, Total: 6})
			same(e, "sent", sent, false)

			status, err := e.store.IntendNotice(e.ctx, ids[0], e.lease(), timeout)
			e.ok(err)
			same(e, "intent", status, store.MaySend)
			e.ok(e.store.SentNotice(e.ctx, ids[0], 11))
			_, sent, err = e.store.ReadNotice(e.ctx, ids[0])
			e.ok(err)
			same(e, "sent", sent, true)
			status, err = e.store.IntendNotice(e.ctx, ids[0], e.lease(), timeout)
			e.ok(err)
			same(e, "intent", status, store.IsSent)

			e.ok(e.store.SettleNotice(e.ctx, ids[1], hour, e.leases()))
			same(e, "due", e.dirty().Notices, nil)
			e.ok(e.store.SettleNotice(e.ctx, ids[1], -1, e.leases()))
			same(e, "nothing waits", e.dirty().Next < 0, true)
			n, _, err = e.store.ReadNotice(e.ctx, "never")
			e.ok(err)
			same(e, "no notice", n == nil, true)
		}},
		{"due", "what is due comes in order, as many as asked for", func(e *env) {
			for i := range 4 {
				at := float64(e.now().UnixMilli()) + float64(i-2)*float64(hour.Milliseconds())
				e.ok(e.rdb.ZAdd(e.ctx, e.keys.Deadlines(), redis.Z{Score: at, Member: fmt.Sprint(i)}).Err())
			}
			for limit, want := range [][]string{1: {"0"}, 2: {"0", "1"}, 10: {"0", "1", "2"}} {
				if want == nil {
					continue
				}
				ids, err := e.store.Overdue(e.ctx, limit)
				e.ok(err)
				same(e, "overdue", ids, want)
			}
			same(e, "next", e.dirty().Next, -time.Millisecond)
			r := e.open("a1")
			e.settles(r, hour, true)
			d := e.dirty()
			e.at("next", d.Now.Add(d.Next), d.Now.Add(hour))
			e.ok(e.store.DropDeadline(e.ctx, "0"))
			ids, err := e.store.Overdue(e.ctx, 1)
			e.ok(err)
			same(e, "overdue", ids, []string{"1"})
		}},
		{"due", "an empty feed has nothing next", func(e *env) { same(e, "next", e.dirty().Next, -time.Millisecond) }},
		{"remind", "a reminder falls due once, while it is open", func(e *env) {
			r := e.open("a1", func(o *store.Opening) { o.RemindAt = o.ExpiresAt.Add(-hour / 2) })
			unreminded := func(want []string) {
				e.Helper()
				ids, err := e.store.Unreminded(e.ctx, 10)
				e.ok(err)
				same(e, "unreminded", ids, want)
			}
			unreminded([]string{})
			e.advance(hour / 2)
			unreminded([]string{"a1"})
			e.marked("a1", func() { e.ok(e.store.Remind(e.ctx, "a1")) })
			unreminded([]string{})
			after := e.read("a1")
			same(e, "reminded", after.Reminded, true)
			same(e, "revision", after.Row.Rev, r.Row.Rev+1)
			e.unchanged(func() { e.ok(e.store.Remind(e.ctx, "a1")) })
		}},
		{"remind", "what is answered or gone is reminded of no more", func(e *env) {
			e.approved("a1")
			for _, id := range []string{"a1", "never"} {
				before := e.dump()
				e.ok(e.rdb.ZAdd(e.ctx, e.keys.Reminders(), redis.Z{Score: 1, Member: id}).Err())
				e.ok(e.store.Remind(e.ctx, id))
				same(e, "everything", e.dump(), before)
			}
		}},
	}
}

func leaseChecks() []check {
	take := func(e *env, holder string, ttl time.Duration, held bool) store.Lease {
		e.Helper()
		l, ok, err := e.store.TakeLease(e.ctx, holder, ttl)
		e.ok(err)
		same(e, holder+" holds the lease", ok, held)
		return l
	}
	return []check{
		{"lease", "one holds the lease, and keeps it under the same number", func(e *env) {
			first := take(e, "a", hour, true)
			same(e, "lease", first, store.Lease{Number: 1, Left: hour})
			e.advance(hour - e.tick())
			same(e, "lease", take(e, "a", hour, true), first)
			e.advance(hour - e.tick())
			left := take(e, "b", hour, false).Left
			same(e, "left", left > 0 && left <= e.tick(), true)
		}},
		{"lease", "when it ends another may take it, and the number rises", func(e *env) {
			take(e, "a", hour, true)
			e.advance(hour)
			same(e, "number", take(e, "b", hour, true).Number, int64(2))
			take(e, "a", hour, false)
			e.advance(hour)
			same(e, "number", take(e, "b", hour, true).Number, int64(3))
		}},
		{"lease", "given up, another may take it at once; only its holder gives it up", func(e *env) {
			take(e, "a", hour, true)
			e.ok(e.store.GiveLease(e.ctx, "b"))
			take(e, "b", hour, false)
			e.ok(e.store.GiveLease(e.ctx, "a"))
			same(e, "number", take(e, "b", hour, true).Number, int64(2))
			e.unchanged(func() { e.ok(e.store.GiveLease(e.ctx, "a")) })
		}},
		{"lease", "giving up what has ended changes nothing", func(e *env) {
			e.unchanged(func() { e.ok(e.store.GiveLease(e.ctx, "a")) })
			take(e, "a", hour, true)
			e.advance(hour)
			e.unchanged(func() { e.ok(e.store.GiveLease(e.ctx, "a")) })
		}},
	}
}

func deadChecks() []check {
	return []check{
		{"dead", "an entry is set aside with the reason, and acknowledged", func(e *env) {
			stream := e.keys.Requests()
			entry := e.pending(stream)
			e.ok(e.store.Dead(e.ctx, stream, "countersign", entry, "terms_differ", map[string]any{"type": "t", "data": "\xff<"}))
			same(e, "dead", e.events(e.keys.Dead()), []map[string]any{{
				"reason": "terms_differ", "stream": stream, "entry": entry,
				"fields": `{"data":{"base64":"/zw="},"type":"t"}`,
			}})
			same(e, "pending", e.rdb.XPending(e.ctx, stream, "countersign").Val().Count, int64(0))
		}},
		{"dead", "an entry is set aside once, however often that is asked for", func(e *env) {
			stream := e.keys.Requests()
			entry := e.pending(stream)
			e.ok(e.store.Dead(e.ctx, stream, "countersign", entry, "terms_differ", nil))
			e.unchanged(func() { e.ok(e.store.Dead(e.ctx, stream, "countersign", entry, "terms_differ", nil)) })
		}},
		{"dead", "what a group that vanished had read is left to the one that is made anew", func(e *env) {
			stream := e.keys.Requests()
			entry := e.pending(stream)
			e.ok(e.rdb.XGroupDestroy(e.ctx, stream, "countersign").Err())
			e.unchanged(func() { e.ok(e.store.Dead(e.ctx, stream, "countersign", entry, "terms_differ", nil)) })
		}},
		{"dead", "the ten thousand latest are kept", func(e *env) {
			pipe := e.rdb.Pipeline()
			for range 10000 {
				pipe.XAdd(e.ctx, &redis.XAddArgs{Stream: e.keys.Dead(), Values: []any{"reason", "old"}})
			}
			_, err := pipe.Exec(e.ctx)
			e.ok(err)
			e.ok(e.store.Dead(e.ctx, e.keys.Requests(), "countersign", e.pending(e.keys.Requests()), "new", nil))
			same(e, "length", e.rdb.XLen(e.ctx, e.keys.Dead()).Val(), int64(10000))
			last := e.rdb.XRevRangeN(e.ctx, e.keys.Dead(), "+", "-", 1).Val()
			same(e, "last", last[0].Values["reason"], any("new"))
		}},
	}
}

// pending puts an entry into a stream that a group has read and not
// acknowledged.
func (e *env) pending(stream string) string {
	e.Helper()
	e.ok(e.rdb.XGroupCreateMkStream(e.ctx, stream, "countersign", "0").Err())
	entry, err := e.rdb.XAdd(e.ctx, &redis.XAddArgs{Stream: stream, Values: []any{"type", "t"}}).Result()
	e.ok(err)
	e.ok(e.rdb.XReadGroup(e.ctx, &redis.XReadGroupArgs{
		Group: "countersign", Consumer: "c", Streams: []string{stream, ">"}, Block: -1,
	}).Err())
	return entry
}

func TestDeadFields(t *testing.T) {
	t.Parallel()
	many := map[string]any{}
	for i := range 5000 {
		many[strconv.Itoa(i)] = "v"
	}
	for name, c := range map[string]struct {
		fields map[string]any
		check  func(kept map[string]any, text string) bool
	}{
		"as sent":                {map[string]any{"a": "é\n"}, func(k map[string]any, _ string) bool { return k["a"] == "é\n" }},
		"a long value is cut":    {map[string]any{"a": strings.Repeat("é", 20000)}, func(k map[string]any, _ string) bool { return strings.HasSuffix(k["a"].(string), "é…") }},
		"control characters":     {map[string]any{"a": strings.Repeat("\x00", 16000)}, func(k map[string]any, _ string) bool { return strings.HasSuffix(k["a"].(string), "\x00…") }},
		"many fields":            {many, func(_ map[string]any, text string) bool { return text == `{"…":"too many fields to keep"}` }},
		"a name that is no text": {map[string]any{"\xff": "v"}, func(k map[string]any, _ string) bool { return k["\uFFFD"] == "v" }},
		"a long one that is no text": {map[string]any{"a": strings.Repeat("\xff", 30000)}, func(k map[string]any, _ string) bool {
			return len(k["a"].(map[string]any)["base64"].(string)) > 1000
		}},
	} {
		t.Run(name, func(t *testing.T) {
			text := store.DeadFields(c.fields)
			if len(text) > 16<<10 {
				t.Errorf("%d bytes", len(text))
			}
			var kept map[string]any
			if err := json.Unmarshal([]byte(text), &kept); err != nil {
				t.Fatal(err)
			}
			if !c.check(kept, text) {
				t.Errorf("kept %.200s", text)
			}
		})
	}
}
