package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/config"
	"countersign/policy"
	"countersign/queue"
)

// trusting is a policy that lets through all that a policy can.
const trusting = `
policies:
  - match: {runtime: "abstract*"}
    auto_approve_tools: [wipe, sign_off]
    require_approval_tools: [send_sms]
    auto_approve_max_risk_rank: 4
    operator_email: me@example.org
  - match: {runtime: careful}
    auto_approve_max_risk_rank: 2
    operator_email: me@example.org
    notify: none
`

// A policed is a request under a policy, and what becomes of it.
type policed struct {
	id, runtime, tool, arguments string
	facts, refiner               string
	effect, approval             string // effect: write by default
	reason                       string // of the answer; "" asks
	shown                        string // the risk on the card; "" if none comes
}

func policedRequests() []policed {
	const (
		read = `{"mutating":false}`
		send = `{"comms_send":true,"model_controlled_destination":true}`
		v2   = "send_email_recipient@v2"
	)
	mail := func(to string) string { return fmt.Sprintf(`{"to":%q,"subject":"hello"}`, to) }
	return []policed{
		{id: "read", runtime: "abstract-1", tool: "read_calendar", facts: read, reason: "ceiling: observe ≤ destroy", shown: "observe"},
		{id: "self", runtime: "abstract-1", tool: "send_email", arguments: mail("Me@Example.org"), facts: send, refiner: v2, reason: "refiner_self: mail to the operator's own address alone", shown: "outreach"},
		{id: "another", runtime: "abstract-1", tool: "send_email", arguments: mail("you@example.org"), facts: send, refiner: v2, shown: "outreach"},
		{id: "homoglyph", runtime: "abstract-1", tool: "send_email", arguments: mail("m\u0435@example.org"), facts: send, refiner: v2, shown: "outreach"},
		{id: "pinned", runtime: "abstract-1", tool: "send_email", arguments: mail("me@example.org"), facts: send, refiner: v2, approval: "pinned", shown: "outreach"},
		{id: "named", runtime: "abstract-1", tool: "sign_off", facts: read, approval: "pinned", reason: "auto_named: sign_off is named", shown: "observe"},
		{id: "destroys", runtime: "abstract-1", tool: "trash", facts: `{"destructive_capable":true}`, effect: "destructive", shown: "destroy"},
		{id: "destroys-named", runtime: "abstract-1", tool: "wipe", facts: read, effect: "destructive", shown: "observe"},
		{id: "required", runtime: "abstract-1", tool: "send_sms", facts: read, shown: "observe"},
		{id: "unvetted", runtime: "abstract-1", tool: "frobnicate", reason: "ceiling: unvetted ≤ destroy", shown: "unvetted"},
		{id: "no-policy", runtime: "iris", tool: "read_calendar", facts: read, shown: "observe"},
		{id: "hidden", runtime: "careful", tool: "note", facts: `{"mutating":true}`, reason: "ceiling: act ≤ act"},
		{id: "careful", runtime: "careful", tool: "frobnicate", facts: `{"mutating":"no","tier":"observe"}`, shown: "unvetted"},
	}
}

func (p policed) data(t *testing.T) []byte {
	t.Helper()
	fields := map[string]any{
		"approval_id": p.id, "runtime": p.runtime, "tool": p.tool, "effect": "write",
		"arguments": json.RawMessage("{}"), "card": map[string]any{"title": "Request " + p.id},
	}
	risk := map[string]any{"rank": 1, "tier": "observe", "operator_email": "you@example.org"} // mean nothing
	if p.arguments != "" {
		fields["arguments"] = json.RawMessage(p.arguments)
	}
	if p.facts != "" {
		risk["facts"] = json.RawMessage(p.facts)
	}
	if p.refiner != "" {
		risk["refiner"] = p.refiner
	}
	fields["risk"] = risk
	if p.effect != "" {
		fields["effect"] = p.effect
	}
	if p.approval != "" {
		fields["approval"] = p.approval
	}
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What may pass does, at once and without a sound; all else comes as a card that asks.
func TestDemoPolicies(t *testing.T) {
	d, err := newDemo(testWriter{t}, time.Now, hurried())
	if err != nil {
		t.Fatal(err)
	}
	d.faults.configuration = append(d.faults.configuration, trusting...)
	runDemo(t, d)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := queue.NewClient(d.rdb, d.cfg.Redis.Namespace)
	pending := map[string]queue.Pending{}
	for _, p := range policedRequests() {
		got, err := client.Request(ctx, queue.Request{Data: p.data(t), NoCheck: true})
		if err != nil {
			t.Fatalf("%s: %v", p.id, err)
		}
		pending[p.id] = got
	}
	for _, p := range policedRequests() {
		p.arrives(ctx, t, d)
		if p.reason == "" {
			if row, err := client.Row(ctx, p.id); err != nil || row.State != approval.Open || len(row.Answer) > 0 {
				t.Errorf("%s: row %+v, %v; want it open", p.id, row, err)
			}
			continue
		}
		a, err := client.Await(ctx, pending[p.id])
		if err != nil {
			t.Fatalf("%s: %v", p.id, err)
		}
		if a.Decision != approval.DecisionApproved || a.By.Surface != approval.Policy || a.Reason != p.reason || !strings.HasPrefix(a.By.ID, "policies[") {
			t.Errorf("%s: answered %s by %+v for %q", p.id, a.Decision, a.By, a.Reason)
		}
		if err := client.Claim(ctx, p.id, pending[p.id].Pin, "test"); err != nil {
			t.Errorf("%s: claim: %v", p.id, err)
		}
	}
	for _, m := range d.sim.BotMessages(demoAnn) {
		if strings.Contains(m.Text, "Request hidden") {
			t.Errorf("a card came where none was wanted:\n%s", m.Text)
		}
	}
}

// arrives waits for the card of a request, where one comes, and looks at it.
func (p policed) arrives(ctx context.Context, t *testing.T, d *demo) {
	t.Helper()
	if p.shown == "" {
		return
	}
	m, err := d.sim.WaitMessage(ctx, demoAnn, has("Request "+p.id+"\n"))
	if err != nil {
		t.Fatalf("%s: no card: %v", p.id, err)
	}
	_, words, _ := strings.Cut(p.reason, ": ")
	passed := strings.Contains(m.Text, "Passed by policy: "+words)
	if want := p.reason != ""; passed != want || m.Silent != want || (m.ReplyMarkup == nil) != want {
		t.Errorf("%s: passed %v, silent %v, keyboard %+v on\n%s", p.id, passed, m.Silent, m.ReplyMarkup, m.Text)
	}
	if !strings.Contains(m.Text, "risk "+p.shown) {
		t.Errorf("%s: risk %s is not shown on\n%s", p.id, p.shown, m.Text)
	}
}

// What the configuration takes for an address is one that a recipient can be compared
// with.
func TestAddressesOfTheConfiguration(t *testing.T) {
	taken := 0
	for _, text := range []string{
		"me@example.org", "ó@example.org", "m\u0130@example.org", "mI\u0307@example.org", "\u212a@example.org", "a b@c", "a@b@c", "a@", "@b", "<a@b>", "a\u00a0@b",
		"a\x00@b", "a\ufffd@b", "a\u037e@b", "a\u1fef@b", "a\u2028@b", "a\u0085@b", "a,b@c", "\"a\"@b", "a+b@c", "a@b.", "Ω@b",
	} {
		cfg := config.Default()
		cfg.Telegram.TokenFile = "token"
		cfg.People = []config.Person{{ID: 1, Name: "Ann", Role: config.RoleOwner}}
		cfg.Policies = []config.Policy{{OperatorEmail: text, Notify: config.NotifySilent}}
		if err := cfg.Validate(); err != nil {
			continue
		}
		taken++
		if !policy.PlainAddress(text) {
			t.Errorf("%q is taken for an address, and equals no recipient", text)
		}
	}
	if taken < 5 {
		t.Errorf("only %d were taken", taken)
	}
}

// The first policy that fits decides, by trimmed names.
func TestPolicyOf(t *testing.T) {
	cfg := config.Default()
	cfg.Policies = []config.Policy{
		{Match: config.Match{Tool: "send_sms"}, RequireApprovalTools: []string{"send_sms"}},
		{AutoApproveMaxRiskRank: 4, Notify: config.NotifyNone},
	}
	q := &approval.Request{Kind: approval.ToolCall, Effect: approval.Write, Calls: []approval.Call{{Tool: " send_sms "}}}
	if got := ruling(&cfg, q); got.Pass || got.Reason != "require_named" || got.Policy != "policies[0]" {
		t.Errorf("ruling %+v", got)
	}
	q.Calls[0].Tool = "read"
	want := queue.Ruling{
		Pass: true, Tier: "destroy", Shown: "unvetted", Reason: "ceiling", Detail: "unvetted ≤ destroy", Policy: "policies[1]", Hidden: true,
	}
	if diff := cmp.Diff(want, ruling(&cfg, q)); diff != "" {
		t.Errorf("ruling (-want +got):\n%s", diff)
	}
	cfg.Policies = cfg.Policies[:1]
	if got := ruling(&cfg, q); got.Pass || got.Reason != "no_policy" || got.Tier != "destroy" {
		t.Errorf("ruling %+v", got)
	}
}

// Owners are told of what became looser, once, whether by a reload or a new start,
// and of nothing else.
func TestLooserPoliciesAreTold(t *testing.T) {
	inBubble(t, func(w *bubble) {
		told := func(want int, when string) {
			t.Helper()
			n := 0
			for _, m := range w.sim.BotMessages(annID) {
				if strings.Contains(m.Text, "changed the configuration") {
					n++
				}
			}
			if n != want {
				t.Errorf("%s Ann was told %d times, want %d", when, n, want)
			}
		}
		w.cfg.Policies = []config.Policy{{AutoApproveMaxRiskRank: 1, Notify: config.NotifySilent}}
		a, b := w.run("a", &life{}), w.run("b", &life{})
		w.pass(5 * time.Second)
		told(0, "at the first start")
		reload := func(rank int) {
			w.cfg.Policies = []config.Policy{{AutoApproveMaxRiskRank: rank, Notify: config.NotifySilent}}
			w.ok(a.Reload(context.Background(), w.cfg))
			w.ok(b.Reload(context.Background(), w.cfg))
			w.pass(30 * time.Second)
		}
		reload(1)
		reload(0)
		told(0, "of nothing looser")
		reload(2)
		told(1, "of a higher ceiling, by two bots,")
		if n := w.log.count("allows more now"); n != 2 {
			t.Errorf("logged %d times by two bots", n)
		}
		reload(1)
		reload(2)
		told(2, "of a second rise")
		a.stop()
		b.stop()
		known, err := w.store.Setting(context.Background(), knownSetting)
		w.ok(err)
		w.cfg.Policies[0].AutoApproveTools = []string{"wipe"}
		c := w.run("c", &life{})
		w.pass(time.Minute)
		told(3, "after a start with more")
		c.stop()
		// That they were told was not kept, and meanwhile there is more to tell.
		w.ok(w.store.SetSetting(context.Background(), knownSetting, known))
		w.cfg.Policies[0].AutoApproveTools = []string{"wipe", "format"}
		w.run("d", &life{})
		w.pass(time.Minute)
		told(4, "after a start with still more")
	})
}
