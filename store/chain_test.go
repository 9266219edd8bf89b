package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// lines puts audit lines on the list.
func (e *env) lines(texts ...string) {
	e.Helper()
	for _, text := range texts {
		e.ok(e.rdb.RPush(e.ctx, e.keys.AuditKey(), text).Err())
	}
}

// chains chains what there is, and wants so many lines to be chained by it.
func (e *env) chains(want int) approval.Anchor {
	e.Helper()
	n, end, err := e.store.Chain(e.ctx)
	e.ok(err)
	same(e, "chained", n, want)
	return end
}

// chain is the whole chain.
func (e *env) chain() []approval.Entry {
	e.Helper()
	var entries []approval.Entry
	e.ok(e.store.AuditEntries(e.ctx, func(x approval.Entry) error { entries = append(entries, x); return nil }))
	return entries
}

func (e *env) auditHead() store.AuditHead {
	e.Helper()
	head, err := e.store.AuditHead(e.ctx)
	e.ok(err)
	return head
}

// faults checks the whole chain.
func (e *env) faults(check approval.ChainCheck) []string {
	e.Helper()
	head := e.auditHead()
	check.Base, check.SignedFrom = head.Base, head.SignedFrom
	for _, x := range e.chain() {
		check.Take(x)
	}
	var found []string
	for _, f := range check.Done(head.End, head.End) {
		found = append(found, fmt.Sprint(f.Seq, " ", f.What))
	}
	return found
}

func chainChecks() []check {
	return append([]check{
		{"chain", "transitions are chained in their order, in canonical form", func(e *env) {
			e.chains(0)
			same(e, "chain there", e.there(e.keys.Chain()), false)
			e.executed("a1")
			e.lines(`{ "b":1.0, "a":"\u0041" }`)
			raw, err := e.rdb.LRange(e.ctx, e.keys.AuditKey(), 0, -1).Result()
			e.ok(err)
			end := e.chains(4)
			same(e, "left", len(e.audits()), 0)
			at := approval.Anchor{}
			for i, x := range e.chain() {
				data, err := approval.Canonical([]byte(raw[i]))
				e.ok(err)
				want := approval.Entry{Seq: fmt.Sprint(i + 1), Prev: at.Prev(), Data: string(data)}
				at = at.Next(data)
				want.Hash = at.Hash
				same(e, "entry", x, want)
			}
			same(e, "end", end, at)
			same(e, "head", e.auditHead(), store.AuditHead{End: at})
			same(e, "canonical", e.chain()[3].Data, `{"a":"A","b":1}`)
			e.chains(0)
			e.lines(`{}`)
			same(e, "goes on", e.chains(1), at.Next([]byte(`{}`)))
			same(e, "faults", e.faults(approval.ChainCheck{}), nil)
		}},
		{"chain", "with a key each entry is signed, and it is kept from which one on", func(e *env) {
			e.lines(`{"n":1}`, `{"n":2}`)
			e.chains(2)
			same(e, "signed from", e.auditHead().SignedFrom, int64(0))
			e = e.signing(1)
			e.lines(`{"n":3}`, `{"n":4}`)
			e.chains(2)
			same(e, "signed from", e.auditHead().SignedFrom, int64(3))
			keys := storetest.SigningKeys(e.TB, 1)
			for i, x := range e.chain() {
				same(e, "signed", x.Sig != "", i >= 2)
				same(e, "by", x.Sig == "" || keys.CheckText([]byte(x.Hash), x.Sig) != "", true)
			}
			same(e, "faults", e.faults(approval.ChainCheck{Keys: keys}), nil)
		}},
		{"chain", "what is no JSON holds up no other", func(e *env) {
			e.lines("{", `{"n":1}`, "")
			e.chains(3)
			var data []string
			for _, x := range e.chain() {
				data = append(data, x.Data)
			}
			same(e, "data", data, []string{`{"unreadable":"ew=="}`, `{"n":1}`, `{"unreadable":""}`})
			same(e, "faults", e.faults(approval.ChainCheck{}), nil)
		}},
		{"chain", "many are chained in batches", func(e *env) {
			for i := range 450 {
				e.lines(fmt.Sprintf(`{"n":%d}`, i))
			}
			for _, n := range []int{200, 200, 50, 0} {
				e.chains(n)
			}
			same(e, "entries", len(e.chain()), 450)
			same(e, "faults", e.faults(approval.ChainCheck{}), nil)
		}},
		{"chain", "long lines are chained a few at a time, and the longest alone", func(e *env) {
			long := func(n int) string { return `{"text":"` + strings.Repeat("a", n) + `"}` }
			e.lines(long(600_000), long(300_000), long(300_000), long(1_500_000), `{"n":1}`)
			e.chains(2)
			e.chains(1)
			e.chains(1)
			e.chains(1)
			e.chains(0)
			same(e, "faults", e.faults(approval.ChainCheck{}), nil)
		}},
		{"chain", "of several that chain at once each line is chained once", func(e *env) {
			const n = 30
			for i := range n {
				e.lines(fmt.Sprintf(`{"n":%d}`, i))
			}
			var all sync.WaitGroup
			counts := make([]int, 4)
			errs := make([]error, 4)
			for i := range counts {
				all.Go(func() { counts[i], _, errs[i] = e.store.Chain(e.ctx) })
			}
			all.Wait()
			total := 0
			for i, err := range errs {
				e.ok(err)
				total += counts[i]
			}
			same(e, "chained", total, n)
			same(e, "entries", len(e.chain()), n)
			same(e, "faults", e.faults(approval.ChainCheck{}), nil)
		}},
		{"chain", "nothing is chained to an end, or off a list, that is not what was read", func(e *env) {
			e.lines(`{"n":1}`, `{"n":2}`)
			end := e.chains(2)
			e.lines(`{"n":3}`, `{"n":4}`)
			next := end.Next([]byte(`{"n":3}`))
			good := []any{end.Seq, end.Hash, `{"n":3}`, `{"n":3}`, next.Hash, ""}
			for name, bad := range map[string][]any{
				"another number": {end.Seq - 1, end.Hash, `{"n":3}`, `{"n":3}`, next.Hash, ""},
				"another hash":   {end.Seq, "x", `{"n":3}`, `{"n":3}`, next.Hash, ""},
				"another line":   {end.Seq, end.Hash, `{"n":4}`, `{"n":3}`, next.Hash, ""},
				"lines too many": slices.Concat(good, []any{`{"n":4}`, "", "", "", `{"n":5}`, "", "", ""}),
			} {
				e.unchanged(func() { same(e, name, e.chainScript(bad...), "again") })
			}
			same(e, "good", e.chainScript(good...), "ok")
			same(e, "left", len(e.audits()), 1)
		}},
		{"chain", "nothing is chained as the first where there is one", func(e *env) {
			e.lines(`{"n":1}`)
			e.chains(1)
			e.lines(`{"n":2}`)
			e.unchanged(func() {
				same(e, "status", e.chainScript(0, approval.ChainStart, `{"n":2}`, `{"n":2}`, "h", ""), "again")
			})
		}},
		{"unchain", "old entries are dropped but for the newest of them, and where the chain begins is kept", func(e *env) {
			var ends []approval.Anchor
			var times []time.Time
			for i := range 6 {
				e.lines(fmt.Sprintf(`{"n":%d}`, i))
				ends = append(ends, e.chains(1))
				times = append(times, e.now())
				e.pass()
			}
			if !e.server.IsEmbedded() { // its clock runs on by itself
				e.trims(e.now().Add(time.Hour), 5)
				same(e, "base", e.auditHead(), store.AuditHead{End: ends[5], Base: ends[4]})
				return
			}
			e.trims(times[0].Add(time.Millisecond), 0)
			same(e, "base", e.auditHead().Base, approval.Anchor{})
			e.trims(times[1].Add(time.Millisecond), 1)
			e.trims(times[3], 1)
			same(e, "base", e.auditHead(), store.AuditHead{End: ends[5], Base: ends[1]})
			same(e, "first", e.chain()[0].Seq, "3")
			e.trims(times[3], 0)
			same(e, "faults", e.faults(approval.ChainCheck{}), nil)
			e.trims(times[5].Add(time.Hour), 3)
			same(e, "last", e.chain()[0].Seq, "6")
			e.trims(times[5].Add(time.Hour), 0)
			e.lines(`{"n":6}`)
			e.chains(1)
			same(e, "faults", e.faults(approval.ChainCheck{}), nil)
		}},
		{"unchain", "however many are old, all are dropped", func(e *env) {
			for i := range 2500 {
				e.lines(fmt.Sprintf(`{"n":%d}`, i))
			}
			for range 13 {
				_, _, err := e.store.Chain(e.ctx)
				e.ok(err)
			}
			e.pass()
			e.trims(e.now().Add(time.Hour), 2499)
			same(e, "faults", e.faults(approval.ChainCheck{}), nil)
		}},
		{"chain", "each tampering with the chain is found", func(e *env) {
			for i := range 5 {
				e.lines(fmt.Sprintf(`{"n":%d}`, i))
			}
			end := e.chains(5)
			for name, c := range map[string]struct {
				tamper func(entries []map[string]any) []map[string]any
				head   approval.Anchor
				want   string
			}{
				"changed":   {func(x []map[string]any) []map[string]any { x[2]["data"] = `{"n":7}`; return x }, end, "3 was changed"},
				"removed":   {func(x []map[string]any) []map[string]any { return slices.Delete(x, 2, 3) }, end, "4 taken out before it: number 3"},
				"swapped":   {func(x []map[string]any) []map[string]any { x[1], x[2] = x[2], x[1]; return x }, end, "3 taken out before it: number 2"},
				"start cut": {func(x []map[string]any) []map[string]any { return x[2:] }, end, "3 cut off the start before it: numbers 1 to 2"},
				"tail cut":  {func(x []map[string]any) []map[string]any { return x[:3] }, end, "0 cut off the end: numbers 4 to 5"},
				"head put back": {
					func(x []map[string]any) []map[string]any { return x[:3] },
					approval.Anchor{Seq: 3},
					"0 the anchor names number 5, and the chain ends with number 3",
				},
			} {
				entries := e.events(e.keys.Chain())
				kept := e.events(e.keys.Chain())
				head := c.head
				if head.Hash == "" {
					head.Hash = entries[head.Seq-1]["hash"].(string)
				}
				e.rechain(c.tamper(entries), head)
				found := e.faults(approval.ChainCheck{Anchors: []approval.Anchor{end}})
				if len(found) == 0 || !strings.HasPrefix(found[0], c.want) {
					e.Errorf("%s: found %v, want %s", name, found, c.want)
				}
				e.rechain(kept, end)
			}
			same(e, "put right", e.faults(approval.ChainCheck{Anchors: []approval.Anchor{end}}), nil)
		}},
	}, rememberChecks()...)
}

// chainScript runs the script alone.
func (e *env) chainScript(args ...any) string {
	e.Helper()
	status, err := e.store.ChainScript(e.ctx, args...)
	e.ok(err)
	return status
}

// rechain writes the chain and its head anew, as somebody would who may.
func (e *env) rechain(entries []map[string]any, head approval.Anchor) {
	e.Helper()
	e.ok(e.rdb.Del(e.ctx, e.keys.Chain()).Err())
	for _, x := range entries {
		e.ok(e.rdb.XAdd(e.ctx, &redis.XAddArgs{Stream: e.keys.Chain(), Values: x}).Err())
	}
	e.ok(e.rdb.HSet(e.ctx, e.keys.ChainHead(), "seq", head.Seq, "hash", head.Hash).Err())
}

// pass lets a moment pass that entries of a stream can be told apart by.
func (e *env) pass() {
	if e.server.IsEmbedded() {
		e.advance(time.Second)
	}
}

// trims drops what is older, and wants so many to be dropped.
func (e *env) trims(before time.Time, want int64) {
	e.Helper()
	n, err := e.store.TrimChain(e.ctx, before)
	e.ok(err)
	same(e, "dropped", n, want)
}
