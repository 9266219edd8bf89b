package queue_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/queue"
	"countersign/store"
	"countersign/store/storetest"
)

func (b *bench) withdraw(id, reason string) {
	b.t.Helper()
	b.add("type", "approval.withdrawn", "data", object(map[string]any{"approval_id": id, "reason": reason}))
}

func (b *bench) report(id, outcome string) string {
	b.t.Helper()
	return b.add("type", "approval.reported", "data", object(map[string]any{"approval_id": id, "outcome": outcome}))
}

func (b *bench) audited() int {
	b.t.Helper()
	n, err := b.Client().LLen(b.t.Context(), b.Keys().Prefix()+"bot:audit").Result()
	must(b.t, err)
	return int(n)
}

func TestWithdrawn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("open")
		b.request("answered")
		b.step()
		storetest.Approve(t, b.store, "answered")
		b.withdraw("open", "found it")
		b.withdraw("open", "again")
		b.withdraw("answered", "too late")
		b.withdraw("coming", "never mind")
		b.step()
		b.request("coming")
		b.step()
		for id, reason := range map[string]string{"open": "found it", "coming": "never mind"} {
			row := b.row(id)
			if row.State != approval.Withdrawn || row.Answer.Reason != reason || b.answers(id) != 1 {
				t.Errorf("%s is %s with %+v; want withdrawn once, %q", id, row.State, row.Answer, reason)
				continue
			}
			if by := row.Answer.By; by.Surface != approval.Runtime || by.ID != storetest.Runtime {
				t.Errorf("%s withdrawn by %+v, want by the runtime", id, by)
			}
		}
		if got := b.state("answered"); got != approval.Approved || len(b.dead()) != 0 {
			t.Errorf("answered is %s, dead %q; want approved, none", got, b.dead())
		}
	})
}

// A withdrawal by another stream counts for nothing, before or after.
func TestWithdrawnByOtherStream(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		other := s.Keys().Prefix() + "other"
		b := newBench(t, s, func(c *queue.IntakeConfig) {
			c.Streams = []queue.Stream{{Key: s.Keys().Requests()}, {Key: other}}
		})
		b.request("open")
		b.request("answered")
		b.step()
		storetest.Approve(t, b.store, "answered")
		for _, id := range []string{"open", "answered", "coming"} {
			b.addTo(other, "*", "type", "approval.withdrawn", "data", object(map[string]any{"approval_id": id}))
		}
		b.step()
		b.request("coming")
		b.step()
		got := map[string]approval.State{"open": b.state("open"), "answered": b.state("answered"), "coming": b.state("coming")}
		want := map[string]approval.State{"open": approval.Open, "answered": approval.Approved, "coming": approval.Open}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"wrong_stream", "wrong_stream"}, b.dead()); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
	})
}

func TestClaimedEvent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("a1")
		b.request("a2")
		b.step()
		for _, id := range []string{"a1", "a2"} {
			storetest.Approve(t, b.store, id)
		}
		must(t, b.client.Claim(t.Context(), "a1", b.row("a1").Pin, "worker-7"))
		// The event alone proves nothing.
		b.add("type", "approval.claimed", "data", object(map[string]any{"approval_id": "a2", "pin": b.row("a2").Pin, "by": "me"}))
		b.step()
		row := b.row("a1")
		if row.State != approval.Claimed || row.Claim == nil || row.Claim.By != "worker-7" || row.Claim.At.IsZero() {
			t.Errorf("a1 is %s, claim %+v; want claimed by worker-7", row.State, row.Claim)
		}
		if diff := cmp.Diff([]string{"no_claim"}, b.dead()); diff != "" || b.state("a2") != approval.Approved {
			t.Errorf("a2 is %s, dead letters (-want +got):\n%s", b.state("a2"), diff)
		}
		before := b.audited()
		b.add("type", "approval.claimed", "data", object(map[string]any{"approval_id": "a1", "pin": row.Pin, "by": "me"}))
		b.step()
		if again := b.row("a1"); again.Claim.By != "worker-7" || again.Rev != row.Rev || b.audited() != before {
			t.Errorf("a second event changed the row to %+v", again)
		}
	})
}

func TestReported(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("a1", storetest.WithUndo(7))
		b.step()
		storetest.Approve(t, b.store, "a1")
		b.report("a1", "partial")
		b.report("a1", "executed")
		b.step()
		row := b.row("a1")
		if row.State != approval.Executed || row.UndoUntil.IsZero() {
			t.Fatalf("a1 is %s, undo until %v; want executed with an undo", row.State, row.UndoUntil)
		}
		audited := b.audited()
		must(t, s.Client().XGroupDestroy(t.Context(), s.Keys().Requests(), "countersign").Err())
		b.step() // all of it once more
		if again := b.row("a1"); again.Rev != row.Rev || b.audited() != audited || b.count.of("repeated") != 3 {
			t.Errorf("a replay moved the row from revision %d to %d, the audit from %d to %d, counted %v",
				row.Rev, again.Rev, audited, b.audited(), b.count.seen)
		}
		b.report("a1", "undone")
		b.report("a1", "executed")
		b.step()
		if got := b.state("a1"); got != approval.Undone {
			t.Errorf("a1 is %s, want undone for good", got)
		}
	})
}

// A call that ran unapproved is told to every owner, once per approval, and at
// most once in ten minutes per runtime.
func TestRanUnapproved(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		for _, id := range []string{"a1", "a2", "a3", "harmless"} {
			b.request(id)
		}
		b.request("b1", storetest.With("runtime", "other"))
		b.step()
		b.report("harmless", "failed")
		b.report("a1", "executed")
		b.report("a1", "undone")
		b.report("a2", "partial")
		b.report("b1", "executed")
		b.step()
		told := map[string][]int64{}
		for _, n := range b.notices() {
			if n.Kind != store.Unapproved {
				t.Errorf("notice %+v, want one of an unapproved call", n)
			}
			told[n.IDs[0]] = append(told[n.IDs[0]], n.Chat)
		}
		for _, id := range []string{"a1", "b1"} {
			if len(told[id]) != 2 || told[id][0] == told[id][1] {
				t.Errorf("%s told to %v, want Ann and Ben once each", id, told[id])
			}
		}
		if len(told) != 2 {
			t.Errorf("told of %v, want a1 and b1 alone", told)
		}
		want := []string{"not_approved", "ran_unapproved", "ran_unapproved", "ran_unapproved", "ran_unapproved"}
		if diff := cmp.Diff(want, b.dead()); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
		if n := b.count.of("dead ran_unapproved"); n != 4 || b.state("a1") != approval.Open {
			t.Errorf("counted %d, a1 is %s; want 4, open", n, b.state("a1"))
		}
		s.Advance(t, 11*time.Minute)
		b.report("a3", "executed")
		b.step()
		if n := len(b.notices()); n != 6 {
			t.Errorf("%d notices after ten quiet minutes, want 6", n)
		}
	})
}
