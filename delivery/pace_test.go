package delivery_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"countersign/delivery"
)

// telegramLimits are those that Telegram names.
var telegramLimits = delivery.Limits{PerSecond: 30, ChatPerSecond: 1, GroupPerMinute: 20}

// A served call is one that was let through.
type served struct {
	name string
	chat int64
	at   time.Duration // since the queue was made
}

// A queueing is a Pace and who waits there.
type queueing struct {
	pace  *delivery.Pace
	began time.Time
	ctx   context.Context
	mu    sync.Mutex // guards calls
	calls []served
	wait  sync.WaitGroup
}

func queueAt(t *testing.T, l delivery.Limits) *queueing {
	return &queueing{pace: delivery.NewPace(l, time.Now), began: time.Now(), ctx: t.Context()}
}

// join waits for a turn, in a goroutine of its own. Who joins later stands
// further back.
func (q *queueing) join(name string, class delivery.Class, chat int64) (leave func()) {
	ctx, cancel := context.WithCancel(q.ctx)
	q.wait.Go(func() {
		if _, err := q.pace.Wait(ctx, class, chat); err != nil {
			return
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		q.calls = append(q.calls, served{name, chat, time.Since(q.began)})
	})
	synctest.Wait()
	return cancel
}

// served waits for all who wait and lists them in the order they were served.
func (q *queueing) served() []served {
	q.wait.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.calls)
}

func names(calls []served) (list []string) {
	for _, c := range calls {
		list = append(list, c.name)
	}
	return list
}

func TestPaceOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queueAt(t, delivery.Limits{PerSecond: 1})
		q.join("first", delivery.Word, 1) // nobody else is there
		q.join("word", delivery.Word, 1)
		q.join("notice", delivery.Notice, 2)
		q.join("card", delivery.NewCard, 3)
		q.join("edit", delivery.OtherEdit, 1)
		q.join("step", delivery.StepEdit, 2)
		q.join("later step", delivery.StepEdit, 1)
		q.join("later card", delivery.NewCard, 1)
		got := names(q.served())
		want := []string{"first", "step", "later step", "edit", "card", "later card", "notice", "word"}
		if !slices.Equal(got, want) {
			t.Errorf("served %v, want %v", got, want)
		}
		idle(t, q.pace)
	})
}

// idle wants nothing to be left of who waited, once all limits are whole again.
func idle(t *testing.T, p *delivery.Pace) {
	t.Helper()
	<-time.After(2 * time.Minute)
	if _, err := p.Wait(t.Context(), delivery.Word, 999); err != nil {
		t.Error(err)
	}
	if lanes, timer := p.Waiting(); lanes > 1 || timer {
		t.Errorf("%d lanes and a timer (%v) for nobody", lanes, timer)
	}
}

func TestPaceOfOneChat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queueAt(t, delivery.Limits{ChatPerSecond: 1})
		for range 5 {
			q.join("a", delivery.NewCard, 1)
		}
		q.join("b", delivery.NewCard, 2)
		for i, want := range []struct {
			chat int64
			at   time.Duration
		}{{1, 0}, {1, 0}, {1, 0}, {2, 0}, {1, time.Second}, {1, 2 * time.Second}} {
			if got := q.served()[i]; got.chat != want.chat || got.at != want.at {
				t.Errorf("call %d: chat %d at %v, want chat %d at %v", i, got.chat, got.at, want.chat, want.at)
			}
		}
	})
}

func TestPaceOfAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queueAt(t, delivery.Limits{GroupPerMinute: 20})
		for range 41 {
			q.join("group", delivery.NewCard, -1)
			q.join("person", delivery.NewCard, 1) // has no such limit
		}
		late := map[time.Duration]int{}
		for _, c := range q.served() {
			if c.chat == -1 {
				late[c.at]++
			} else if c.at != 0 {
				t.Errorf("a direct chat waited for %v", c.at)
			}
		}
		if late[0] != 20 || late[time.Minute] != 20 || late[2*time.Minute] != 1 {
			t.Errorf("served %v", late)
		}
	})
}

func TestHoldOfOneChat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queueAt(t, delivery.Limits{})
		q.pace.Hold(1, 10*time.Second)
		q.pace.Hold(1, 5*time.Second) // the same chat: a shorter hold shortens nothing
		q.join("held", delivery.StepEdit, 1)
		q.join("free", delivery.Word, 2)
		got := q.served()
		if got[0].name != "free" || got[0].at != 0 || got[1].at != 10*time.Second {
			t.Errorf("served %+v", got)
		}
		idle(t, q.pace)
	})
}

func TestHoldsOfTwoChats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between time.Duration
		at      time.Duration // when a third chat is served
	}{
		"within a second the bot waits": {time.Second, 11 * time.Second},
		"later each waits alone":        {time.Second + 1, time.Second + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := queueAt(t, delivery.Limits{})
				q.pace.Hold(1, 3*time.Second)
				<-time.After(c.between)
				q.pace.Hold(2, 10*time.Second)
				q.join("third", delivery.StepEdit, 3)
				if got := q.served(); got[0].at != c.at {
					t.Errorf("served at %v, want %v", got[0].at, c.at)
				}
			})
		})
	}
}

func TestLeaving(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queueAt(t, delivery.Limits{ChatPerSecond: 1})
		for range 3 {
			q.join("burst", delivery.NewCard, 1)
		}
		leave := q.join("leaves", delivery.StepEdit, 1)
		q.join("stays", delivery.NewCard, 1)
		leave()
		got := q.served()
		if last := got[len(got)-1]; len(got) != 4 || last.name != "stays" || last.at != time.Second {
			t.Errorf("served %+v; who left must cost nothing", got)
		}
		leave = q.join("leaves", delivery.NewCard, 1)
		leave()
		synctest.Wait()
		if _, timer := q.pace.Waiting(); timer {
			t.Error("a timer runs for nobody")
		}
		idle(t, q.pace)
	})
}

func TestWaitAfterTheEnd(t *testing.T) {
	t.Parallel()
	why := errors.New("stopping")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	p := delivery.NewPace(delivery.Limits{ChatPerSecond: 1}, time.Now)
	if _, err := p.Wait(ctx, delivery.NewCard, 1); !errors.Is(err, why) {
		t.Errorf("error %v, want the cause", err)
	}
	if lanes, _ := p.Waiting(); lanes != 0 {
		t.Error("a lane was made for nobody")
	}
}

func TestWaitedOrNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := delivery.NewPace(delivery.Limits{PerSecond: 1}, time.Now)
		for i, want := range []bool{false, true} {
			if waited, err := p.Wait(t.Context(), delivery.NewCard, 1); waited != want || err != nil {
				t.Errorf("call %d: waited %v, %v", i, waited, err)
			}
		}
	})
}

func TestSpendAndCharge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queueAt(t, delivery.Limits{PerSecond: 2})
		q.pace.Spend() // an answer to a tap
		q.join("with it", delivery.NewCard, 1)
		q.join("after it", delivery.NewCard, 1)
		if got := q.served(); got[0].at != 0 || got[1].at != time.Second {
			t.Errorf("served %+v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		q := queueAt(t, delivery.Limits{ChatPerSecond: 1})
		for range 3 {
			q.pace.Charge(1)
		}
		q.join("after a burst", delivery.NewCard, 1)
		q.join("elsewhere", delivery.NewCard, 2)
		if got := q.served(); got[0].name != "elsewhere" || got[1].at != time.Second {
			t.Errorf("served %+v", got)
		}
	})
}

func TestSetLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queueAt(t, delivery.Limits{PerSecond: 0.1, ChatPerSecond: 0.1, GroupPerMinute: 1})
		q.join("first", delivery.NewCard, -1)
		q.join("second", delivery.NewCard, -1)
		q.join("direct", delivery.NewCard, 1)
		<-time.After(5 * time.Second)
		q.pace.SetLimits(delivery.Limits{GroupPerMinute: 3})
		synctest.Wait()
		for range 9 { // a group's limit is none of a direct chat's
			q.join("direct", delivery.NewCard, 1)
		}
		for _, c := range q.served() {
			if c.at > 5*time.Second {
				t.Errorf("%s was served at %v, though the limits were lifted at 5s", c.name, c.at)
			}
		}
		q.join("third", delivery.NewCard, -1)
		q.join("fourth", delivery.NewCard, -1)
		got := q.served()
		if last := got[len(got)-1]; last.at != time.Minute {
			t.Errorf("the fourth call to the group came at %v, want 1m", last.at)
		}
	})
}
