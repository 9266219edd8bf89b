package queue_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/queue"
	"countersign/store/storetest"
)

// rulings is a policy that can be changed, and what the intake told of it.
type rulings struct {
	mu   sync.Mutex // guards all
	now  queue.Ruling
	fail bool
	told []queue.Ruling
}

func (p *rulings) rule(*approval.Request) queue.Ruling {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail {
		panic("the policy is broken")
	}
	return p.now
}

func (p *rulings) tell(r queue.Ruling) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, r)
}

func (p *rulings) set(r queue.Ruling) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = r
}

func (p *rulings) into(cfg *queue.IntakeConfig) { cfg.Policy, cfg.Ruled = p.rule, p.tell }

// passing is the ruling of a ceiling.
func passing() queue.Ruling {
	return queue.Ruling{
		Pass: true, Tier: "act", Shown: "act", Reason: "ceiling", Detail: "act ≤ act", Policy: "policies[0]",
	}
}

func asking() queue.Ruling {
	return queue.Ruling{Tier: "destroy", Shown: "unvetted", Reason: "unvetted"}
}

func writing(o ...storetest.Option) []storetest.Option {
	return append([]storetest.Option{storetest.With("effect", "write")}, o...)
}

// A pass has its row, its answer and its audit lines together, and is one thing
// with them however often its entry comes, and whatever the policy says by then.
func TestPolicyPasses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		p := &rulings{now: passing()}
		b := newBench(t, s, p.into)
		b.request("a1", writing()...)
		b.step()
		row := b.row("a1")
		if row == nil || row.State != approval.Approved || row.Tier != "act" || len(row.Quiet) != 0 {
			t.Fatalf("row %+v", row)
		}
		a := row.Answer
		if a.By != (approval.By{Surface: approval.Policy, ID: "policies[0]"}) || a.Reason != "ceiling: act ≤ act" || a.Pin != row.Pin {
			t.Errorf("answer %+v", a)
		}
		if got, want := b.audit("a1"), "requested>open intake, open>approved policy ceiling"; got != want {
			t.Errorf("audit %s, want %s", got, want)
		}
		if b.count.of(queue.EventPassed) != 1 || b.count.of(queue.EventOpened) != 0 {
			t.Errorf("counted %v", b.count.seen)
		}

		p.set(asking())
		b.request("a1", writing()...)
		b.request("a1", writing(storetest.With("run_id", "another"))...)
		b.step()
		if got := b.row("a1"); got.State != approval.Approved || got.Rev != row.Rev || b.answers("a1") != 1 {
			t.Errorf("asked again it is %+v, with %d answers", got, b.answers("a1"))
		}
		if diff := cmp.Diff([]string{"terms_differ"}, b.dead()); diff != "" {
			t.Errorf("dead letters:\n%s", diff)
		}
		if diff := cmp.Diff([]queue.Ruling{passing()}, p.told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// What was asked stays asked, though the policy lets it pass when its entry comes
// again, as after a kill and a reload.
func TestPolicyRulesOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		p := &rulings{now: asking()}
		b := newBench(t, s, p.into)
		b.request("a1", writing()...)
		b.step()
		p.set(passing())
		b.request("a1", writing()...)
		b.step()
		if row := b.row("a1"); row.State != approval.Open || row.Tier != "unvetted" || b.answers("a1") != 0 {
			t.Errorf("row %+v", row)
		}
		if got, want := b.audit("a1"), "requested>open intake unvetted"; got != want {
			t.Errorf("audit %s, want %s", got, want)
		}
		if b.count.of(queue.EventOpened) != 1 || b.count.of(queue.EventPassed) != 0 || len(p.told) != 1 {
			t.Errorf("counted %v, told %v", b.count.seen, p.told)
		}
	})
}

// A pass is no way round what ends a request before it is asked.
func TestPolicyPassesNothingElse(t *testing.T) {
	p := &rulings{now: passing()}
	b := newBench(t, storetest.Embedded(t), p.into)
	quiet := passing()
	quiet.Hidden = true

	b.add("type", "approval.withdrawn", "data", object(map[string]any{"approval_id": "withdrawn", "reason": "not needed"}))
	b.request("withdrawn", writing()...)
	b.step()
	p.set(quiet)
	b.request("late", writing(storetest.With("expires_in", nil), storetest.With("expires_at", b.now().Add(500*time.Millisecond).Format(time.RFC3339Nano)))...)
	b.request("refused", writing(storetest.With("effect", "harmless"))...)
	b.step()
	for id, want := range map[string]approval.State{
		"withdrawn": approval.Withdrawn, "late": approval.Lapsed, "refused": approval.Refused,
	} {
		row := b.row(id)
		if row == nil || row.State != want || b.answers(id) != 1 || row.Answer.By.Surface == approval.Policy {
			t.Errorf("%s: row %+v, %d answers", id, row, b.answers(id))
			continue
		}
		if len(row.Quiet) > 0 || strings.Contains(row.Answer.Reason, "ceiling") || strings.Contains(b.audit(id), "ceiling") {
			t.Errorf("%s keeps something of the pass: quiet %v, reason %q, audit %s", id, row.Quiet, row.Answer.Reason, b.audit(id))
		}
	}
	b.router.route.Chats = nil
	b.request("unroutable", writing()...)
	b.step()
	if got := b.row("unroutable"); got.State != approval.Refused {
		t.Errorf("without chats it is %s", got.State)
	}
}

// Where the policy fails, or is not to be believed, the request is asked.
func TestPolicyFailsClosed(t *testing.T) {
	nobody, reasonless := passing(), passing()
	nobody.Policy, reasonless.Reason = "", ""
	for name, tt := range map[string]struct {
		policy  *rulings
		options []storetest.Option
		tier    string
	}{
		"a panic":           {&rulings{fail: true}, writing(), "unvetted"},
		"no policy named":   {&rulings{now: nobody}, writing(), "act"},
		"no reason":         {&rulings{now: reasonless}, writing(), "act"},
		"destructive":       {&rulings{now: passing()}, nil, "act"},
		"destructive, said": {&rulings{now: passing()}, []storetest.Option{storetest.With("effect", "destructive")}, "act"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, storetest.Embedded(t), tt.policy.into)
			b.request("a1", tt.options...)
			b.step()
			if row := b.row("a1"); row == nil || row.State != approval.Open || row.Tier != tt.tier || b.answers("") != 0 {
				t.Errorf("row %+v", row)
			}
			if tt.policy.fail != (b.log.count("could not be applied") == 1) {
				t.Error("the log says otherwise")
			}
		})
	}
	t.Run("a halt", func(t *testing.T) {
		p := &rulings{now: passing()}
		b := newBench(t, storetest.Embedded(t), p.into)
		b.add("type", "approval.requested", "data", object(map[string]any{
			"approval_id": "a1", "kind": "halt", "effect": "write", "card": map[string]any{"title": "Go on?"},
		}))
		b.step()
		if row := b.row("a1"); row == nil || row.State != approval.Open {
			t.Errorf("row %+v", row)
		}
	})
}

// The route is chosen by the tier's word, the card shows the other one.
func TestPolicyChoosesRoute(t *testing.T) {
	p := &rulings{now: asking()}
	b := newBench(t, storetest.Embedded(t), p.into)
	b.request("a1", writing()...)
	b.step()
	if b.router.tier.Load() != "destroy" || b.row("a1").Tier != "unvetted" {
		t.Errorf("routed by %v, shown as %q", b.router.tier.Load(), b.row("a1").Tier)
	}
}

// A pass that nobody is to be told of has chats all the same, where it can be shown.
func TestPolicyHides(t *testing.T) {
	hidden := passing()
	hidden.Hidden = true
	p := &rulings{now: hidden}
	b := newBench(t, storetest.Embedded(t), p.into)
	b.router.route.Chats = []approval.Chat{{ID: storetest.Ann}, {ID: -5, Thread: 1}, {ID: -5, Thread: 2}}
	b.request("a1", writing()...)
	b.step()
	row := b.row("a1")
	if diff := cmp.Diff([]int64{storetest.Ann, -5}, row.Quiet); diff != "" || row.State != approval.Approved || len(row.Chats) != 3 {
		t.Errorf("row %+v\n%s", row, diff)
	}
}

// audit is what was audited of an approval, in order.
func (b *bench) audit(id string) string {
	b.t.Helper()
	texts, err := b.Client().LRange(b.t.Context(), b.Keys().Prefix()+"bot:audit", 0, -1).Result()
	if err != nil {
		b.t.Fatal(err)
	}
	var lines []string
	for _, text := range texts {
		var l struct {
			ID   string `json:"approval_id"`
			From string
			To   string
			By   struct{ Surface string }
			Code string `json:"reason_code"`
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			b.t.Fatal(err)
		}
		if l.ID == id {
			lines = append(lines, strings.TrimSpace(l.From+">"+l.To+" "+l.By.Surface+" "+l.Code))
		}
	}
	return strings.Join(lines, ", ")
}

func (b *bench) now() time.Time {
	b.t.Helper()
	now, err := b.store.Now(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return now
}
