package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

func TestWaitChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		e.open("a1")
		news, err := e.store.WaitChange(e.ctx, "0", time.Minute)
		e.ok(err)
		same(e, "marked", news, store.Changes{Point: news.Point, Approvals: []string{"a1"}, All: true})
		still, err := e.store.WaitChange(e.ctx, news.Point, time.Millisecond)
		e.ok(err)
		same(e, "nothing new", still, store.Changes{Point: news.Point, All: true})

		woken := make(chan store.Changes)
		go func() {
			news, err := e.store.WaitChange(e.ctx, news.Point, time.Minute)
			if err != nil {
				t.Error(err)
			}
			woken <- news
		}()
		e.decides(e.read("a1"), byOperator(approval.DecisionRejected), store.Done)
		same(e, "woken by", (<-woken).Approvals, []string{"a1"})
	})
}

// A message that was trimmed before it was read says nothing, so its reader has to know
// that there may have been one.
func TestWhoMissesChangesIsTold(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		e.open("a1")
		first, err := e.store.WaitChange(e.ctx, "0", time.Minute)
		e.ok(err)
		for n := 1; n <= 600; n++ {
			e.ok(e.store.Touch(e.ctx, fmt.Sprintf("b%d", n)))
			if kept := e.rdb.XLen(e.ctx, e.keys.Wake()).Val(); int(kept) >= n+1 {
				continue
			}
			news, err := e.store.WaitChange(e.ctx, first.Point, time.Minute)
			e.ok(err)
			same(e, "all of them", news.All, false)
			return
		}
		e.Fatalf("the feed was never trimmed")
	})
}

func TestANoticeIsNoApprovalOfTheFeed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		e.ok(e.rdb.XAdd(e.ctx, &redis.XAddArgs{Stream: e.keys.Wake(), Values: []string{"m", "n:one"}}).Err())
		news, err := e.store.WaitChange(e.ctx, "0", time.Minute)
		e.ok(err)
		same(e, "marked", news, store.Changes{Point: news.Point})
	})
}
