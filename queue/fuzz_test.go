package queue_test

import (
	"context"
	"maps"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"countersign/queue"
	"countersign/store/storetest"
)

// FuzzEvent puts one entry of any shape on an empty queue. It must end as
// exactly one thing: a row, a remembered withdrawal or a dead letter; and be
// acknowledged, without a panic.
func FuzzEvent(f *testing.F) {
	for _, data := range []string{
		"", "{", "[]", "null", `{"approval_id":"a1"}`, `{"approval_id":"a1","approval_id":"a2"}`, `{"approval_id":"a1"}{}`,
		`{"approval_id":"a1","outcome":"executed"}`, `{"approval_id":"a1","pin":"p","by":"me"}`, "\xff",
		string(storetest.Request("a1")), string(storetest.Request("a1", storetest.Halt())),
		string(storetest.Request("a1", storetest.With("expires_in", -1))),
		string(storetest.Request("a1", storetest.With("card", "none"))),
		string(storetest.Request("a1", storetest.With("calls", []int{1}))),
	} {
		for _, kind := range []string{"approval.requested", "approval.withdrawn", "approval.claimed", "approval.reported", ""} {
			f.Add(kind, "data", data, int64(0))
		}
	}
	f.Add("approval.requested", "type", "approval.requested", int64(0))
	f.Add("approval.requested", "data", string(storetest.Request("a1")), int64(3_600_000))
	f.Add("approval.requested", "data", string(storetest.Request("a1")), int64(-1))

	s := storetest.Embedded(f)
	f.Fuzz(func(t *testing.T, kind, name, data string, age int64) {
		ctx := context.Background()
		must(t, s.Client().FlushAll(ctx).Err())
		b := newBench(t, s)
		id := "*"
		if ms := storetest.Noon().UnixMilli() - age; age != 0 && ms > 0 && ms < 1<<53 {
			id = strconv.FormatInt(ms, 10) + "-0"
		}
		must(t, s.Client().XAdd(ctx, &redis.XAddArgs{
			Stream: s.Keys().Requests(), ID: id, Values: []any{"type", kind, name, data},
		}).Err())
		b.step()

		ends := map[string]int{
			"rows":       len(s.Client().Keys(ctx, s.Keys().Row("*")).Val()),
			"remembered": len(s.Client().Keys(ctx, s.Keys().Prefix()+"bot:withdrawn:*").Val()),
			"dead":       len(b.dead()),
		}
		total := 0
		for n := range maps.Values(ends) {
			total += n
		}
		if total != 1 || b.pending() != 0 {
			t.Errorf("the entry ended as %v with %d pending, want one thing and none", ends, b.pending())
		}
		counted := 0
		for n := range maps.Values(b.count.seen) {
			counted += n
		}
		if counted != 1 || b.count.of(queue.EventFailed) != 0 {
			t.Errorf("counted as %v, want one thing and no failure", b.count.seen)
		}
	})
}
