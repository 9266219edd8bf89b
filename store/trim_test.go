package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/store/storetest"
)

// filled is a stream of ten entries, 1000-0 to 10000-0.
func (e *env) filled(stream string) {
	e.Helper()
	for i := 1; i <= 10; i++ {
		e.ok(e.rdb.XAdd(e.ctx, &redis.XAddArgs{Stream: stream, ID: fmt.Sprintf("%d-0", i*1000), Values: []any{"n", i}}).Err())
	}
}

// group makes a group that has read so many entries, and acknowledged some.
func (e *env) group(stream, name string, read int64, acked ...string) {
	e.Helper()
	e.ok(e.rdb.XGroupCreate(e.ctx, stream, name, "0").Err())
	if read > 0 {
		e.ok(e.rdb.XReadGroup(e.ctx, &redis.XReadGroupArgs{
			Group: name, Consumer: "c", Streams: []string{stream, ">"}, Count: read, Block: -1,
		}).Err())
	}
	for _, id := range acked {
		e.ok(e.rdb.XAck(e.ctx, stream, name, id).Err())
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		groups func(e *env, stream string)
		before int64 // Unix ms
		first  string
	}{
		"without groups all that is old":        {func(*env, string) {}, 4000, "4000-0"},
		"nothing that is young enough":          {func(*env, string) {}, 1000, "1000-0"},
		"nothing before time began":             {func(*env, string) {}, -5, "1000-0"},
		"what a group has not read stays":       {func(e *env, s string) { e.group(s, "g", 0) }, 4000, "1000-0"},
		"what a group has not acknowledged too": {func(e *env, s string) { e.group(s, "g", 5, "1000-0", "3000-0") }, 4000, "2000-0"},
		"what all is acknowledged goes": {
			func(e *env, s string) { e.group(s, "g", 2, "1000-0", "2000-0") }, 4000, "3000-0",
		},
		"the slowest of several groups decides": {func(e *env, s string) {
			e.group(s, "fast", 10)
			e.group(s, "slow", 1, "1000-0")
			e.ok(e.rdb.XAck(e.ctx, s, "fast", "1000-0", "2000-0", "3000-0").Err())
		}, 9000, "2000-0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, s *storetest.Server) {
				e := newEnv(t, s, storetest.NewStore(t, s))
				stream := e.keys.Answers()
				e.filled(stream)
				c.groups(e, stream)
				n, err := e.store.Trim(e.ctx, stream, time.UnixMilli(c.before))
				e.ok(err)
				left := e.rdb.XRange(e.ctx, stream, "-", "+").Val()
				same(e, "first", left[0].ID, c.first)
				same(e, "trimmed", int(n)+len(left), 10)
			})
		})
	}
}

func TestTrimLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		foreign := "elsewhere:" + s.Namespace()
		e.filled(foreign)
		for _, stream := range []string{foreign, e.keys.Requests()} { // the second is not there
			n, err := e.store.Trim(e.ctx, stream, time.UnixMilli(9000))
			e.ok(err)
			same(e, "trimmed", n, int64(0))
		}
		same(e, "length", e.rdb.XLen(e.ctx, foreign).Val(), int64(10))
		e.ok(e.rdb.Del(e.ctx, foreign).Err())
		e.ok(e.rdb.Set(e.ctx, e.keys.Dead(), "no stream", 0).Err())
		if _, err := e.store.Trim(e.ctx, e.keys.Dead(), time.UnixMilli(9000)); err == nil {
			t.Error("a key of another type was trimmed")
		}
	})
}
