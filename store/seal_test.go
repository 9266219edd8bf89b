package store_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// signing makes of a check one whose store signs with the first of some keys.
func (e *env) signing(ns ...byte) *env {
	e.Helper()
	o := storetest.Options(e.server)
	o.Signing = storetest.SigningKeys(e.TB, ns...)
	o.Owners = func() []int64 { return []int64{ann, ben} }
	signing := *e
	var err error
	signing.store, err = e.other(o)
	e.ok(err)
	return &signing
}

// tamper changes fields of a row as somebody would who may write rows.
func (e *env) tamper(id string, fields ...any) {
	e.Helper()
	e.ok(e.rdb.HSet(e.ctx, e.keys.Row(id), fields...).Err())
}

// refusedFor checks that an approval was refused for its seal, signed, with nothing of
// what the row held, and that both owners are told.
func (e *env) refusedFor(id, code string) {
	e.Helper()
	events := e.events(e.keys.Answer(id))
	if len(events) != 1 {
		e.Fatalf("%d answers of %s, want one", len(events), id)
	}
	data := events[0]["data"].(string)
	if _, err := storetest.SigningKeys(e.TB, 1).Check([]byte(data)); err != nil {
		e.Errorf("the answer: %v", err)
	}
	a, err := approval.DecodeAnswer([]byte(data))
	e.ok(err)
	same(e, "decision", a.Decision, approval.DecisionRefused)
	same(e, "code", approval.ReasonCode(a.Reason), code)
	same(e, "by", a.By, approval.By{Surface: approval.Intake, ID: "seal"})
	if a.Terms+a.Pin+a.Runtime+a.RunID != "" || a.Calls != nil || a.Context != nil || strings.Contains(data, "Trash") {
		e.Errorf("the answer holds what the row held: %s", data)
	}
	r := e.read(id)
	same(e, "state", r.Row.State, approval.Refused)
	same(e, "deadline", e.score(e.keys.Deadlines(), id).IsZero(), true)
	lines := e.audits()
	same(e, "audited as", lines[len(lines)-1].To+" "+lines[len(lines)-1].Code, "refused "+code)
	for _, owner := range []int64{ann, ben} {
		nid := fmt.Sprintf("tampered:%s:%d", id, owner)
		n, sent, err := e.store.ReadNotice(e.ctx, nid)
		e.ok(err)
		if n == nil || n.Kind != store.Tampered || n.Chat != owner || sent {
			e.Fatalf("notice to %d: %+v", owner, n)
		}
		same(e, "names", n.IDs, []string{id})
		same(e, "due", e.score(e.keys.DirtyKey(), "n:"+nid).IsZero(), false)
		e.livesFor(e.keys.NoticeKey(nid), storetest.Retention)
	}
}

// tamperings are changes of a row that its seal finds, by name.
func tamperings(e *env, id string) map[string]func() {
	other := string(storetest.Request(id, storetest.WithUndo(days), storetest.With("tool", "delete_account")))
	field := e.keys.Row(id)
	change := func(fields ...any) func() { return func() { e.tamper(id, fields...) } }
	shorten := func(name string) func() { return func() { e.ok(e.rdb.HDel(e.ctx, field, name).Err()) } }
	return map[string]func(){
		"the request":                   change("request", other),
		"the request and its digests":   change("request", other, "terms", "sha256:"+strings.Repeat("0", 64)),
		"a request that is none":        change("request", "{"),
		"the request of another":        change("request", string(storetest.Request("other"))),
		"no request":                    shorten("request"),
		"terms":                         change("terms", "sha256:"+strings.Repeat("1", 64)),
		"the pin":                       change("pin", "sha256:"+strings.Repeat("1", 64)),
		"the owners":                    change("owners", ",1001,1002,666,"),
		"no owners":                     shorten("owners"),
		"the quorum":                    change("quorum", "2"),
		"the deadline":                  change("expires_at", fmt.Sprint(e.now().Add(1000*hour).UnixMilli())),
		"a deadline that is none":       change("expires_at", "soon"),
		"when it was opened":            change("opened_at", "1"),
		"the stream":                    change("stream", "mine"),
		"the seal":                      change("seal", base64.StdEncoding.EncodeToString(make([]byte, 64))),
		"a seal that is none":           change("seal", "?"),
		"the revision":                  change("rev", "many"),
		"a revision past counting":      change("rev", fmt.Sprint(int64(math.MaxInt64))),
		"no revision":                   shorten("rev"),
		"no state":                      shorten("state"),
		"a state without an answer":     change("state", "approved"),
		"an answer without a state":     change("answer", `{"approval_id":"`+id+`","decision":"approved","approved":true,"by":{"surface":"cli","id":"x"},"at":"2026-01-01T00:00:00Z"}`),
		"a forgotten open row":          func() { e.tamper(id, "forgotten_at", "1"); e.ok(e.rdb.HDel(e.ctx, field, "request").Err()) },
		"approved with a forged answer": change("state", "approved", "answer", `{"approval_id":"`+id+`","decision":"approved","approved":true,"by":{"surface":"cli","id":"x"},"at":"2026-01-01T00:00:00Z"}`),
	}
}

// sealChecks are the rules of rows that bear a seal.
func sealChecks() []check {
	all := []check{
		{"open", "with a key a row bears the intake's seal", func(e *env) {
			e = e.signing(1)
			r := e.open("a1")
			same(e, "seal", r.Row.Seal, approval.SealHolds)
			keys := storetest.SigningKeys(e.TB, 1)
			seal := e.field(e.keys.Row("a1"), "seal")
			want := fmt.Sprintf(`{"approval_id":"a1","expires_at":%d,"opened_at":%d,"owners":[1001,1002],"pin":%q,"quorum":1,"stream":%q,"terms":%q}`,
				r.Row.ExpiresAt.UnixMilli(), r.Row.OpenedAt.UnixMilli(), r.Row.Pin, r.Row.Stream, r.Row.Terms)
			if keys.CheckText([]byte(want), seal) == "" {
				e.Errorf("the seal is not over %s", want)
			}
			same(e, "by another key", storetest.SigningKeys(e.TB, 2).CheckText([]byte(want), seal), "")
		}},
		{"open", "a row that opens answered bears a seal and a signed answer", func(e *env) {
			e = e.signing(1)
			for i, state := range []approval.State{approval.Approved, approval.Lapsed, approval.Withdrawn, approval.Refused} {
				id := fmt.Sprint("a", i)
				surface := map[approval.State]approval.Surface{
					approval.Approved: approval.Policy, approval.Lapsed: approval.Sweeper,
					approval.Withdrawn: approval.Runtime, approval.Refused: approval.Intake,
				}[state]
				e.opens(answeredAtOnce(e.opening(id), state, surface, ""), store.Opened)
				same(e, "seal of "+id, e.read(id).Row.Seal, approval.SealHolds)
				data := e.events(e.keys.Answer(id))[0]["data"].(string)
				_, err := storetest.SigningKeys(e.TB, 1).Check([]byte(data))
				e.ok(err)
			}
		}},
		{"open", "a row is dated by the opening, and what opens answered by the same moment", func(e *env) {
			o := answeredAtOnce(e.opening("a1"), approval.Lapsed, approval.Sweeper, "")
			o.Now = o.Now.Add(-3 * e.tick())
			e.opens(o, store.Opened)
			row := e.read("a1").Row
			same(e, "opened", row.OpenedAt, o.Now)
			same(e, "answered", row.AnswerAt, o.Now)
		}},
		{"open", "nothing opens without a seal where the namespace is signed", func(e *env) {
			e.ok(e.signing(1).store.BeginSigning(e.ctx))
			e.unchanged(func() {
				_, _, err := e.store.Open(e.ctx, e.opening("a1"))
				wantSigns(e, err)
				_, _, err = e.store.Open(e.ctx, answeredAtOnce(e.opening("a2"), approval.Refused, approval.Intake, "x"))
				wantSigns(e, err)
				wantSigns(e, e.store.BeginSigning(e.ctx))
			})
		}},
		{"decide", "nothing is answered without a signature where the namespace is signed", func(e *env) {
			e.open("a1")
			e.ok(e.store.BeginSigning(e.ctx))
			e.ok(e.signing(1).store.BeginSigning(e.ctx))
			e.unchanged(func() {
				_, _, err := e.store.Decide(e.ctx, e.read("a1"), byOperator(approval.DecisionApproved))
				wantSigns(e, err)
			})
		}},
		{"undo", "no undo is asked for without a signature where the namespace is signed", func(e *env) {
			e.executed("a1")
			e.ok(e.signing(1).store.BeginSigning(e.ctx))
			e.unchanged(func() {
				_, _, err := e.store.Undo(e.ctx, e.read("a1"), ann, telegram(ann))
				wantSigns(e, err)
			})
		}},
		{"decide", "every way out of open works on a row whose seal holds", func(e *env) {
			e = e.signing(1)
			e.open("a1")
			a := yes(e.shown("a1", ann), ann)
			a.Confirm.Dwell = 0
			e.decides(e.read("a1"), a, store.Done)
			e.open("a2")
			e.decides(e.read("a2"), reject(ben), store.Done)
			e.decides(e.open("a3"), e.withdraw(), store.Done)
			e.decides(e.open("a4"), byOperator(approval.DecisionApproved), store.Done)
			ids := []string{"a1", "a2", "a3", "a4"}
			if e.server.IsEmbedded() { // else it is the row that is moved in time
				e.open("a5")
				e.advance(hour)
				e.decides(e.read("a5"), lapse(), store.Done)
				ids = append(ids, "a5")
			}
			for _, id := range ids {
				same(e, "seal of "+id, e.read(id).Row.Seal, approval.SealHolds)
			}
		}},
		{"decide", "a row is good under a key that signs no more, and under its public half", func(e *env) {
			before := e.signing(1)
			before.open("a1")
			after := e.signing(2, 1)
			same(e, "seal", after.read("a1").Row.Seal, approval.SealHolds)
			after.decides(after.read("a1"), byOperator(approval.DecisionApproved), store.Done)
			data := e.events(e.keys.Answer("a1"))[0]["data"].(string)
			key, err := storetest.SigningKeys(e.TB, 2).Check([]byte(data))
			e.ok(err)
			same(e, "signed by", key, storetest.SigningKeys(e.TB, 2).Signer())
			same(e, "without the old key", e.signing(2).read("a1").Row.Seal, approval.SealBroken)
		}},
		{"decide", "a row from before the first key is refused as unsealed, whatever was attempted", func(e *env) {
			e.open("a1")
			e = e.signing(1)
			same(e, "seal", e.read("a1").Row.Seal, approval.SealAbsent)
			e.decides(e.read("a1"), byOperator(approval.DecisionApproved), store.Meddled)
			e.refusedFor("a1", "unsealed")
		}},
		{"decide", "a row that was answered before the first key stays as it was answered", func(e *env) {
			e.approved("a1")
			e = e.signing(1)
			same(e, "seal", e.read("a1").Row.Seal, approval.SealAbsent)
			e.unchanged(func() {
				status, _, err := e.store.Refuse(e.ctx, e.read("a1"))
				e.ok(err)
				same(e, "status", status, store.NotOpen)
			})
		}},
		{"decide", "what was answered is never answered again, though somebody opens its row", func(e *env) {
			e.approved("a1")
			e.ok(e.rdb.HDel(e.ctx, e.keys.Row("a1"), "answer").Err())
			e.tamper("a1", "state", "open")
			for _, a := range []store.Attempt{byOperator(approval.DecisionApproved), reject(ann), unreachable()} {
				e.refuses(e.read("a1"), a, store.NotOpen)
			}
			e = e.signing(1)
			e.unchanged(func() { _, _, err := e.store.Refuse(e.ctx, e.read("a1")); e.ok(err) })
		}},
		{"decide", "nor is it where its answer's stream is gone", func(e *env) {
			e.approved("a1")
			e.ok(e.rdb.Del(e.ctx, e.keys.Answer("a1")).Err())
			e.refuses(e.read("a1"), byOperator(approval.DecisionApproved), store.NotOpen)
		}},
		{"decide", "a row whose seal holds is not refused for it", func(e *env) {
			e = e.signing(1)
			r := e.open("a1")
			e.unchanged(func() {
				status, _, err := e.store.Refuse(e.ctx, r)
				e.ok(err)
				same(e, "status", status, store.Changed)
			})
		}},
		{"decide", "a row that is changed between its reading and its answer is not answered as it was", func(e *env) {
			e = e.signing(1)
			for i, field := range []string{"terms", "pin", "opened_at", "expires_at", "stream", "owners", "quorum", "seal", "request"} {
				id := fmt.Sprint("a", i)
				r := e.open(id)
				value := " " + e.field(e.keys.Row(id), field)
				if field == "request" {
					value = string(storetest.Request(id, storetest.With("tool", "delete_account")))
				}
				e.tamper(id, field, value)
				e.decides(r, byOperator(approval.DecisionApproved), store.Meddled)
				e.refusedFor(id, "tampered")
			}
		}},
		{"decide", "nor one whose fields are parted otherwise", func(e *env) {
			e = e.signing(1)
			r := e.open("a1")
			// The same bytes in a row, parted elsewhere.
			terms, pin := e.field(e.keys.Row("a1"), "terms"), e.field(e.keys.Row("a1"), "pin")
			e.tamper("a1", "terms", terms+pin[:1], "pin", pin[1:])
			e.decides(r, byOperator(approval.DecisionApproved), store.Meddled)
		}},
		{"decide", "a vote on a row that was changed is none", func(e *env) {
			e = e.signing(1)
			e.open("a1", quorum(2))
			cid := e.card("a1")
			r := e.step("a1", ann, cid)
			e.sent("a1", cid, "edit", message, r.Step.Rev)
			r = e.read("a1")
			e.tamper("a1", "quorum", "1")
			a := yes(r, ann)
			a.Confirm.Dwell = 0
			e.decides(r, a, store.Meddled)
			e.refusedFor("a1", "tampered")
		}},
		{"undo", "no undo is asked for on a row that was changed, before its reading or after", func(e *env) {
			e = e.signing(1)
			e.executed("a1")
			r := e.read("a1")
			e.tamper("a1", "request", string(storetest.Request("a1", storetest.WithUndo(days), storetest.With("tool", "mine"))))
			for _, reading := range []*store.Reading{r, e.read("a1")} {
				e.unchanged(func() { e.asksUndo(reading, ann, store.Meddled) })
			}
		}},
		{"undo", "an undo is signed", func(e *env) {
			e = e.signing(1)
			e.executed("a1")
			e.asksUndo(e.read("a1"), ann, store.Done)
			for _, event := range e.events(e.keys.Answer("a1")) {
				_, err := storetest.SigningKeys(e.TB, 1).Check([]byte(event["data"].(string)))
				e.ok(err)
			}
			same(e, "seal", e.read("a1").Row.Seal, approval.SealHolds)
		}},
		{"decide", "a row that was changed after its answer is seen, and keeps its answer", func(e *env) {
			for i, name := range []string{"the request", "no request", "the pin", "the owners", "the deadline", "the seal"} {
				id := fmt.Sprint("a", i)
				e := e.signing(1)
				e.executed(id)
				tamperings(e, id)[name]()
				r := e.read(id)
				same(e, "seal", r.Row.Seal, approval.SealBroken)
				same(e, "title", r.Row.Title(), id)
				e.unchanged(func() {
					status, _, err := e.store.Refuse(e.ctx, r)
					e.ok(err)
					same(e, "status", status, store.NotOpen)
				})
			}
		}},
		{"decide", "the answer of a row is believed only if it is signed and to this row", func(e *env) {
			e = e.signing(1)
			e.approved("a1")
			e.approved("a2")
			good := e.field(e.keys.Row("a1"), "answer")
			for name, answer := range map[string]string{
				"another row's": e.field(e.keys.Row("a2"), "answer"),
				"altered":       strings.Replace(good, `"root"`, `"ann"`, 1),
				"unsigned":      good[:strings.Index(good, `,"sig"`)] + "}",
			} {
				e.tamper("a1", "answer", answer)
				same(e, name, e.read("a1").Row.Seal, approval.SealBroken)
			}
			e.tamper("a1", "answer", good)
			same(e, "restored", e.read("a1").Row.Seal, approval.SealHolds)
			e.tamper("a1", "state", "rejected")
			same(e, "another state", e.read("a1").Row.Seal, approval.SealBroken)
		}},
	}
	for _, name := range tamperingNames() {
		all = append(all, check{"decide", "a row is never approved in which somebody changed " + name, func(e *env) {
			e = e.signing(1)
			e.open("a1")
			tamperings(e, "a1")[name]()
			r := e.read("a1")
			same(e, "seal", r.Row.Seal, approval.SealBroken)
			status, _, err := e.store.Refuse(e.ctx, r)
			e.ok(err)
			same(e, "status", status, store.Meddled)
			e.refusedFor("a1", "tampered")
		}})
	}
	return append(all, restoredChecks()...)
}

func tamperingNames() []string {
	return []string{
		"the request", "the request and its digests", "a request that is none", "the request of another", "no request",
		"terms", "the pin", "the owners", "no owners", "the quorum", "the deadline", "a deadline that is none",
		"when it was opened", "the stream", "the seal", "a seal that is none", "the revision", "a revision past counting", "no revision", "no state",
		"a state without an answer", "an answer without a state", "a forgotten open row", "approved with a forged answer",
	}
}

func wantSigns(e *env, err error) {
	e.Helper()
	if !errors.Is(err, store.ErrNamespaceSigns) {
		e.Errorf("got %v, want %v", err, store.ErrNamespaceSigns)
	}
}
