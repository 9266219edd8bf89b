package queue_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/queue"
	"countersign/store/storetest"
)

// The checks are made in one order, so that the same mistake always has the
// same name.
func TestClaimRefusals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		for _, id := range []string{"open", "approved", "spent"} {
			b.request(id)
		}
		b.request("refused", storetest.With("tool", nil))
		b.step()
		pin := b.row("approved").Pin
		storetest.Approve(t, b.store, "approved")
		storetest.Approve(t, b.store, "spent")
		must(t, b.client.Claim(t.Context(), "spent", pin, "first"))
		mine, other := s.Keys().Requests(), s.Keys().Prefix()+"other"
		tests := []struct {
			name, id, pin string
			streams       []string
			want          queue.ClaimStatus // "": done
		}{
			{"unknown before all", "none", "wrong", []string{other}, queue.ClaimUnknown},
			{"stream before pin", "open", "wrong", []string{other}, queue.ClaimWrongStream},
			{"pin before state", "open", "wrong", nil, queue.ClaimPinMismatch},
			{"state before claim", "open", pin, []string{other, mine}, queue.ClaimNotApproved},
			{"a refused one has no pin", "refused", pin, nil, queue.ClaimPinMismatch},
			{"claimed before its event was read", "spent", pin, nil, queue.ClaimTaken},
			{"good", "approved", pin, []string{other, mine}, ""},
			{"once only", "approved", pin, nil, queue.ClaimTaken},
		}
		for _, test := range tests {
			err := b.client.Claim(t.Context(), test.id, test.pin, "me", test.streams...)
			var refused *queue.ClaimRefused
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%s: %v, want done", test.name, err)
			case test.want != "" && (!errors.As(err, &refused) || refused.Status != test.want):
				t.Errorf("%s: %v, want %s", test.name, err, test.want)
			}
		}
		b.step()
		must(t, s.Client().Del(t.Context(), s.Keys().Claim("spent")).Err())
		var refused *queue.ClaimRefused
		if err := b.client.Claim(t.Context(), "spent", pin, "me"); !errors.As(err, &refused) || refused.Status != queue.ClaimTaken {
			t.Errorf("after the row is claimed: %v, want already claimed", err)
		}
		if got := b.row("spent"); got.State != approval.Claimed || got.Claim.By != "first" || len(b.dead()) != 0 {
			t.Errorf("spent is %s by %+v, dead %q; want claimed by the first, none", got.State, got.Claim, b.dead())
		}
	})
}

// Of many who claim at once one gets it.
func TestClaimOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("a1")
		b.step()
		storetest.Approve(t, b.store, "a1")
		pin := b.row("a1").Pin
		var (
			wg   sync.WaitGroup
			mu   sync.Mutex // guards won
			won  int
			many = 20
		)
		for range many {
			wg.Go(func() {
				if b.client.Claim(t.Context(), "a1", pin, "worker") == nil {
					mu.Lock()
					won++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Errorf("%d of %d claims succeeded, want 1", won, many)
		}
		b.step()
		if b.state("a1") != approval.Claimed || len(b.dead()) != 0 {
			t.Errorf("a1 is %s, dead %q; want claimed, none", b.state("a1"), b.dead())
		}
	})
}

// The claim needs no more than the rights it is said to need, and these allow
// nothing else. Only a real server knows rights.
func TestClaimRights(t *testing.T) {
	s := storetest.Real(t)
	if s == nil {
		return // the embedded server has no rights to test
	}
	b := newBench(t, s)
	for _, id := range []string{"a1", "a2"} {
		b.request(id)
	}
	b.step()
	pin := b.row("a1").Pin
	storetest.Approve(t, b.store, "a1")
	storetest.Approve(t, b.store, "a2")

	user := s.Login(t, "runtime")
	client := queue.NewClient(user, s.Namespace(), queue.WithSlice(5*time.Millisecond))
	answer, err := client.Await(within(t), queue.Pending{ID: "a1", Terms: b.row("a1").Terms, Pin: pin})
	if err != nil || answer.Decision != approval.DecisionApproved {
		t.Errorf("answer is %+v (%v), want approved", answer, err)
	}
	must(t, client.Claim(t.Context(), "a1", pin, "worker"))
	if at := b.Client().HGet(t.Context(), s.Keys().Claim("a1"), "at").Val(); len(at) != 13 {
		t.Errorf("claimed at %q, want Unix ms", at)
	}
	row, claim := s.Keys().Row("a1"), s.Keys().Claim("a1")
	ctx := t.Context()
	for name, err := range map[string]error{
		"hset row":      user.HSet(ctx, row, "state", "open").Err(),
		"hsetnx row":    user.HSetNX(ctx, row, "undo", "1").Err(),
		"del row":       user.Del(ctx, row).Err(),
		"expire row":    user.Expire(ctx, row, time.Second).Err(),
		"hset claim":    user.HSet(ctx, claim, "by", "thief").Err(),
		"del claim":     user.Del(ctx, claim).Err(),
		"xadd answers":  user.XAdd(ctx, &redis.XAddArgs{Stream: s.Keys().Answers(), Values: []any{"a", "b"}}).Err(),
		"script on row": user.Eval(ctx, `return redis.call('HSETNX', ARGV[1], 'x', '1')`, nil, row).Err(),
	} {
		// Inside a script the refusal has no code of its own.
		if err == nil || !strings.HasPrefix(err.Error(), "NOPERM") && !strings.Contains(err.Error(), "user executing the script can't") {
			t.Errorf("%s: %v, want to be refused", name, err)
		}
	}

	// Without the right to its stream the claim leaves nothing behind.
	other := s.Login(t, "iris", "(+hmget +hgetall %R~"+s.Keys().Row("a2")+")", "(+eval +evalsha +hexists +hsetnx %RW~"+s.Keys().Claim("a2")+")")
	err = queue.NewClient(other, s.Namespace()).Claim(ctx, "a2", pin, "stranger")
	var refused *queue.ClaimRefused
	if err == nil || errors.As(err, &refused) {
		t.Errorf("the stranger's claim: %v, want Redis's refusal", err)
	}
	if n := b.Client().Exists(ctx, s.Keys().Claim("a2")).Val(); n != 0 {
		t.Error("the refused claim left something behind")
	}
	b.step()
	if diff := cmp.Diff([]string(nil), b.dead()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}
