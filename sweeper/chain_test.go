package sweeper_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/sweeper"
)

// line puts a line on the list of what is not chained yet.
func (h *hall) line(t *testing.T, text string) {
	t.Helper()
	if err := h.rdb.RPush(t.Context(), "{approvals}:bot:audit", text).Err(); err != nil {
		t.Fatal(err)
	}
}

// chain is the numbers that are chained.
func (h *hall) chain(t *testing.T) string {
	t.Helper()
	var seqs []string
	err := h.store.AuditEntries(t.Context(), func(e approval.Entry) error { seqs = append(seqs, e.Seq); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(seqs, " ")
}

func uncounted(string, ...string) {}

func TestTheAuditIsChainedWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		for i := range 500 { // more than a batch
			h.line(t, fmt.Sprintf(`{"n":%d}`, i))
		}
		stop := h.run(t, uncounted)
		<-time.After(2 * time.Second)
		if left := h.rdb.LLen(t.Context(), "{approvals}:bot:audit").Val(); left != 0 {
			t.Errorf("%d are not chained", left)
		}
		h.line(t, `{"n":500}`)
		<-time.After(2 * time.Second)
		if got := h.chain(t); !strings.HasSuffix(got, " 500 501") {
			t.Errorf("chained %s", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestWhereTheChainEndsIsSaidAfterTheStartAndHourly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		h.line(t, `{"n":1}`)
		stop := h.run(t, uncounted)
		for hour := range 2 {
			<-time.After(time.Minute)
			head, err := h.store.AuditHead(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			said := h.log.count(fmt.Sprintf(`"seq":%d,"hash":"%s"`, head.End.Seq, head.End.Hash))
			if all := h.log.count("chain ends here"); said != 1 || all != hour+1 {
				t.Errorf("after %d hours said %d times, this end %d times", hour, all, said)
			}
			h.line(t, `{"n":2}`)
			<-time.After(59 * time.Minute)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestChainingGoesOnAfterAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		h.line(t, `{"n":1}`)
		if err := h.rdb.Set(t.Context(), "{approvals}:audit:head", "not a hash", 0).Err(); err != nil {
			t.Fatal(err)
		}
		stop := h.run(t, uncounted)
		<-time.After(90 * time.Second)
		if n := h.log.count("the audit is not chained"); n != 2 {
			t.Errorf("said %d times in one and a half minutes", n)
		}
		if err := h.rdb.Del(t.Context(), "{approvals}:audit:head").Err(); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		if got := h.chain(t); got != "1" {
			t.Errorf("chained %q", got)
		}
		if err := stop(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestTheChainIsTrimmedByItsRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t)
		s := sweeper.New(sweeper.Config{
			Store: h.store, Schedule: cron.Every(time.Hour), Keep: 90 * time.Minute, Log: zerolog.New(h.log), Count: uncounted,
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		for n := range 6 {
			h.line(t, fmt.Sprintf(`{"n":%d}`, n))
			<-time.After(30 * time.Minute)
		}
		<-time.After(time.Minute)
		// The first that is left is too old itself: it shows that those before it were.
		if got := h.chain(t); got != "3 4 5 6" {
			t.Errorf("left %s", got)
		}
		head, err := h.store.AuditHead(t.Context())
		if err != nil || head.Base.Seq != 2 {
			t.Errorf("begins after %+v, %v", head.Base, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
