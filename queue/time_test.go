package queue_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/queue"
	"countersign/store"
	"countersign/store/storetest"
)

// entryTime is when Redis took an entry.
func entryTime(t testing.TB, id string) time.Time {
	t.Helper()
	text, _, _ := strings.Cut(id, "-")
	ms, err := strconv.ParseInt(text, 10, 64)
	must(t, err)
	return time.UnixMilli(ms).UTC()
}

// ago is an entry id of some time before the server's now.
func ago(b *bench, d time.Duration) string {
	return strconv.FormatInt(b.Now(b.t).Add(-d).UnixMilli(), 10) + "-*"
}

// A request counts from when Redis took it: what waited out an outage does not
// get its time again.
func TestLateRequestLapsesAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.addTo(s.Keys().Requests(), ago(b, 2*time.Hour), "type", "approval.requested", "data", storetest.Request("late"))
		b.addTo(s.Keys().Requests(), ago(b, time.Hour-500*time.Millisecond),
			"type", "approval.requested", "data", storetest.Request("half-a-second"))
		b.addTo(s.Keys().Requests(), ago(b, 30*time.Minute), "type", "approval.requested", "data", storetest.Request("half-an-hour"))
		b.step()
		for _, id := range []string{"late", "half-a-second"} {
			row := b.row(id)
			if row.State != approval.Lapsed || row.Answer.By.Surface != approval.Sweeper || len(row.Quiet) != 0 {
				t.Errorf("%s is %s by %+v, quiet in %v; want lapsed by the sweeper, nowhere quiet",
					id, row.State, row.Answer.By, row.Quiet)
			}
		}
		if got := b.state("half-an-hour"); got != approval.Open {
			t.Errorf("half-an-hour is %s, want open", got)
		}
		if n := b.notices(); len(n) != 0 {
			t.Errorf("notices %+v, want none for so few", n)
		}
	})
}

func TestTooOld(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.addTo(s.Keys().Requests(), ago(b, storetest.Retention+time.Minute),
			"type", "approval.requested", "data", storetest.Request("old"))
		b.step()
		if got := b.dead(); len(got) != 1 || got[0] != "too_old" || b.row("old") != nil {
			t.Errorf("dead letters %q, row %v; want too_old and none", got, b.row("old"))
		}
	})
}

// An id in the future gives no more time than there is.
func TestEntryFromTheFuture(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		for _, id := range []string{"99999999999999-1", "18446744073709551615-1"} {
			b := newBench(t, s)
			name := "f" + id[:3]
			b.addTo(s.Keys().Requests(), id, "type", "approval.requested", "data", storetest.Request(name))
			b.step()
			row := b.row(name)
			if row == nil || row.State != approval.Open {
				t.Fatalf("%s: row is %+v, want open", id, row)
			}
			if left := row.ExpiresAt.Sub(row.OpenedAt); left > time.Hour || left < time.Hour-time.Minute {
				t.Errorf("%s: %v left, want an hour", id, left)
			}
		}
	})
}

// More than five lapses in one chat in one read share a notice, a sixth in
// another chat does not; a replay of the stream tells of none again.
func TestSharedLapseNotice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		ids := make([]string, 25)
		for i := range ids {
			ids[i] = fmt.Sprintf("late-%02d", i)
			b.addTo(s.Keys().Requests(), ago(b, 2*time.Hour), "type", "approval.requested", "data", storetest.Request(ids[i]))
		}
		b.addTo(s.Keys().Requests(), ago(b, 2*time.Hour), "type", "approval.requested", "data", storetest.Request(ids[0]))
		b.addTo(s.Keys().Requests(), ago(b, 0), "type", "approval.requested", "data", storetest.Request("fine"))
		b.step()
		for _, id := range ids {
			if row := b.row(id); row.State != approval.Lapsed || len(row.Quiet) != 1 || row.Quiet[0] != storetest.Ann {
				t.Errorf("%s is %s, quiet in %v; want lapsed, quiet in Ann's chat", id, row.State, row.Quiet)
			}
		}
		if row := b.row("fine"); row.State != approval.Open || len(row.Quiet) != 0 {
			t.Errorf("fine is %s, quiet in %v; want open and nowhere", row.State, row.Quiet)
		}
		notices := b.notices()
		if len(notices) != 1 || notices[0].Kind != store.SharedLapse || notices[0].Chat != storetest.Ann ||
			notices[0].Total != 25 || len(notices[0].IDs) != 20 {
			t.Fatalf("notices %+v, want one about 25 in Ann's chat that names 20", notices)
		}
		must(t, s.Client().XGroupDestroy(t.Context(), s.Keys().Requests(), "countersign").Err())
		if n := b.step(); n != 27 {
			t.Errorf("the replay gave %d entries, want 27", n)
		}
		if got := b.notices(); len(got) != 1 || b.answers("") != 25 {
			t.Errorf("after the replay %d notices and %d answers, want 1 and 25", len(got), b.answers(""))
		}
	})
}

// A withdrawal that came before its request counts even where the request is
// late and others share a notice.
func TestWithdrawnBeforeAndLate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s, func(c *queue.IntakeConfig) { c.Batch = 50 })
		b.addTo(s.Keys().Requests(), ago(b, 3*time.Hour), "type", "approval.withdrawn", "data", `{"approval_id":"late-0","reason":"found it"}`)
		for i := range 7 {
			b.addTo(s.Keys().Requests(), ago(b, 2*time.Hour), "type", "approval.requested", "data", storetest.Request(fmt.Sprintf("late-%d", i)))
		}
		b.step()
		row := b.row("late-0")
		if row.State != approval.Withdrawn || row.Answer.Reason != "found it" || len(row.Quiet) != 0 {
			t.Errorf("late-0 is %s with %+v, quiet in %v; want withdrawn", row.State, row.Answer, row.Quiet)
		}
	})
}
