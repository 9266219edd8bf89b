package sweeper_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/sweeper"
)

const (
	ann  = storetest.Ann
	ben  = storetest.Ben
	team = int64(-1001000000001)
)

func TestNothingIsOverdue(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		f.open(2, ann)
		s.Advance(t, 45*time.Minute) // neither deadline nor reminder
		f.ok(f.sweeper(f.store).Sweep(t.Context()))
		if n := f.answers(); n != 0 {
			t.Errorf("%d answers", n)
		}
		if r := storetest.Read(t, f.store, "1001.000"); r.Row.State != approval.Open || r.Reminded {
			t.Errorf("%s, reminded %v", r.Row.State, r.Reminded)
		}
	})
}

// TestTwoSweepersAtOnce sweeps 100 approvals twice at the same time: each lapses
// once, is answered once and told of once.
func TestTwoSweepersAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		ids := f.open(100, team, ann)
		s.Advance(t, time.Hour)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if err := f.sweeper(storetest.NewStore(t, s)).Sweep(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := f.answers(); n != 100 {
			t.Errorf("%d answers, want 100", n)
		}
		if n := f.count.of("answers"); n != 100 {
			t.Errorf("%d counted, want 100", n)
		}
		f.toldOfAll(ids, team, ann)
	})
}

// toldOfAll wants every approval to have lapsed, and shared notices to speak for
// each of them once in every one of the chats.
func (f *floor) toldOfAll(ids []string, chats ...int64) {
	f.t.Helper()
	for _, id := range ids {
		r := storetest.Read(f.t, f.store, id)
		if r.Row.State != approval.Lapsed {
			f.t.Errorf("%s is %s", id, r.Row.State)
		}
		slices.Sort(r.Row.Quiet)
		slices.Sort(chats)
		if diff := cmp.Diff(chats, r.Row.Quiet); diff != "" {
			f.t.Errorf("%s has notices of its own (-want +got):\n%s", id, diff)
		}
	}
	told := f.told()
	for _, c := range chats {
		sum := 0
		for _, n := range told[c] {
			sum += n
		}
		if sum != len(ids) {
			f.t.Errorf("chat %d is told of %v, want %d in all", c, told[c], len(ids))
		}
	}
	if len(told) != len(chats) {
		f.t.Errorf("told %v", told)
	}
}

// TestSharedNotices wants one notice in the chats where more than five lapse,
// and none elsewhere.
func TestSharedNotices(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		both := f.open(5, ann, ben) // five in Ben's chat: a notice each there
		more := f.open(1, team)
		f.ok(f.store.DropDeadline(t.Context(), more[0])) // not overdue in this sweep
		sixth := f.openIn("sixth", ann)
		s.Advance(t, time.Hour)
		f.ok(f.sweeper(f.store).Sweep(t.Context()))
		if diff := cmp.Diff(map[int64][]int{ann: {6}}, f.told()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		for _, id := range append(both, sixth) {
			if r := storetest.Read(t, f.store, id); !slices.Equal(r.Row.Quiet, []int64{ann}) {
				t.Errorf("%s is quiet in %v", id, r.Row.Quiet)
			}
		}
	})
}

// TestSharedNoticeWhereTheGroupIsNow has a group become a supergroup after its cards
// were sent, and its approvals lapse before the cards went along: it is told once.
func TestSharedNoticeWhereTheGroupIsNow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		const now = int64(-1009876543210)
		ids := f.open(6, team)
		_, _, err := f.store.Moved(t.Context(), team, now)
		f.ok(err)
		s.Advance(t, time.Hour)
		f.ok(f.sweeper(f.store).Sweep(t.Context()))
		f.toldOfAll(ids, now)
	})
}

func (f *floor) openIn(id string, chat int64) string {
	f.t.Helper()
	storetest.Open(f.t, f.store, storetest.Request(id))
	cid, err := f.store.NewCard(f.t.Context(), id, store.Place{Chat: chat}, &f.lease, false)
	f.ok(err)
	_, err = f.store.Record(f.t.Context(), store.Record{ID: id, Card: cid, What: store.TheCard, Message: 900, Drawn: "drawn"}, f.lease)
	f.ok(err)
	return id
}

// TestCardsThatDoNotCount wants no shared notice where a card has failed, since
// it could not be told there.
func TestCardsThatDoNotCount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		for _, id := range f.open(7, ann) {
			for _, c := range storetest.Read(t, f.store, id).Cards {
				f.ok(f.store.FailCard(t.Context(), c.ID, "blocked", f.lease))
			}
		}
		s.Advance(t, time.Hour)
		f.ok(f.sweeper(f.store).Sweep(t.Context()))
		if told := f.told(); len(told) != 0 {
			t.Errorf("told %v", told)
		}
		if n := f.answers(); n != 7 {
			t.Errorf("%d answers, want 7", n)
		}
	})
}

// TestCardsNotSentYet wants approvals that lapse before their card could be sent
// to share a notice with those that have one.
func TestCardsNotSentYet(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		ids := f.open(2, ann)
		for _, id := range []string{"u1", "u2", "u3", "u4"} {
			storetest.Open(t, f.store, storetest.Request(id))
			ids = append(ids, id)
		}
		_, err := f.store.NewCard(t.Context(), "u4", store.Place{Chat: ann}, &f.lease, false) // tried, not sent
		f.ok(err)
		s.Advance(t, time.Hour)
		f.ok(f.sweeper(f.store).Sweep(t.Context()))
		f.toldOfAll(ids, ann)
	})
}

// TestStoppedHalfWay stops a sweep after every so many commands; the next one
// finishes, and every approval is answered and told of once.
func TestStoppedHalfWay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		for at := 1; at < 42; at += 5 {
			f := newFloor(t, another(t, s))
			ids := f.open(20, team)
			f.Advance(t, time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			if err := f.sweeper(f.fenced(&fence{left: at, cut: cancel})).Sweep(ctx); err == nil {
				t.Errorf("a sweep cut off after %d commands reports nothing", at)
			}
			f.ok(f.sweeper(f.store).Sweep(t.Context()))
			f.Advance(t, time.Minute) // what the first one kept is due by now
			if n := f.answers(); n != len(ids) {
				t.Errorf("cut off after %d commands: %d answers, want %d", at, n, len(ids))
			}
			f.lapsedAndToldOnce(ids, team)
		}
	})
}

// another is a server like s, with a namespace of its own.
func another(t *testing.T, s *storetest.Server) *storetest.Server {
	if s.IsEmbedded() {
		return storetest.Embedded(t)
	}
	return storetest.Real(t)
}

// lapsedAndToldOnce wants each approval to have lapsed, and to be told of in a
// chat either by a shared notice or, where no more than five were left, by its
// own.
func (f *floor) lapsedAndToldOnce(ids []string, chat int64) {
	f.t.Helper()
	own := 0
	for _, id := range ids {
		r := storetest.Read(f.t, f.store, id)
		if r.Row.State != approval.Lapsed {
			f.t.Errorf("%s is %s", id, r.Row.State)
		}
		if !slices.Contains(r.Row.Quiet, chat) {
			own++
		}
	}
	sum := own
	for _, n := range f.told()[chat] {
		sum += n
	}
	if own > 5 || sum != len(ids) {
		f.t.Errorf("%d have a notice of their own, %d are told of in all; want %d", own, sum, len(ids))
	}
}

// TestOneBadRow wants a row that cannot be read to keep no other from its
// answer, and the error to name it.
func TestOneBadRow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		ids := f.open(40, ann)
		f.ok(s.Client().HSet(t.Context(), s.Keys().Row(ids[0]), "request", "{").Err())
		s.Advance(t, time.Hour)
		if err := f.sweeper(f.store).Sweep(t.Context()); err == nil || !contains(err, ids[0]) {
			t.Errorf("error %v, want one that names %s", err, ids[0])
		}
		if n := f.answers(); n != 39 {
			t.Errorf("%d answers, want 39", n)
		}
	})
}

// TestDeadlineOfNothing drops a deadline whose row is gone.
func TestDeadlineOfNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		ids := f.open(1, ann)
		f.ok(s.Client().Del(t.Context(), s.Keys().Row(ids[0])).Err())
		s.Advance(t, time.Hour)
		f.ok(f.sweeper(f.store).Sweep(t.Context()))
		if left, err := f.store.Overdue(t.Context(), 10); err != nil || len(left) != 0 {
			t.Errorf("still overdue: %v, %v", left, err)
		}
	})
}

func TestReminders(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		ids := f.open(3, ann)
		storetest.Approve(t, f.store, ids[2])
		s.Advance(t, 51*time.Minute)
		sweep := f.sweeper(f.store)
		f.ok(sweep.Sweep(t.Context()))
		revs := map[string]int64{}
		for i, id := range ids {
			r := storetest.Read(t, f.store, id)
			revs[id] = r.Row.Rev
			if want := i < 2; r.Reminded != want {
				t.Errorf("%s: reminded %v, want %v", id, r.Reminded, want)
			}
		}
		f.ok(sweep.Sweep(t.Context()))
		for _, id := range ids {
			if rev := storetest.Read(t, f.store, id).Row.Rev; rev != revs[id] {
				t.Errorf("%s was reminded twice", id)
			}
		}
	})
}

// TestPanicInASweep wants a panic to end neither the program nor the sweep.
func TestPanicInASweep(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		f := newFloor(t, s)
		f.open(30, ann)
		s.Advance(t, time.Hour)
		var once sync.Once
		sweep := f.sweeper(f.store, func(c *sweeper.Config) {
			c.Count = func(string, ...string) { once.Do(func() { panic("counted out") }) }
		})
		if err := sweep.Sweep(t.Context()); err == nil || !contains(err, "counted out") {
			t.Errorf("error %v", err)
		}
		if n := f.answers(); n != 30 {
			t.Errorf("%d answers, want 30", n)
		}
	})
}
