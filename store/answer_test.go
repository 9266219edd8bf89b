package store_test

import (
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// answeredAtOnce gives an opening its answer from the start.
func answeredAtOnce(o store.Opening, state approval.State, by approval.Surface, reason string) store.Opening {
	o.State, o.Reason = state, reason
	o.By = approval.By{Surface: by, ID: string(by)}
	return o
}

// answered checks all that an answer comes with, and returns its data.
func (e *env) answered(id string, d approval.Decision) *approval.Answer {
	e.Helper()
	r := e.read(id)
	same(e, "state", r.Row.State, approval.State(d))
	data := e.field(e.keys.Row(id), "answer")
	a, err := approval.DecodeAnswer([]byte(data))
	e.ok(err)
	same(e, "decision", a.Decision, d)
	same(e, "id", a.ID, id)
	if a.By.Surface == "" || a.By.ID == "" {
		e.Errorf("the answer does not say by whom: %+v", a.By)
	}
	e.at("answered_at", r.Row.AnswerAt.Add(e.server.Moved()), e.now().Add(e.server.Moved()))

	own, all := e.events(e.keys.Answer(id)), e.events(e.keys.Answers())
	same(e, "events of the approval", len(own), 1)
	same(e, "all answers have the same event", all[len(all)-1:], own)
	e.ok(timeOf(own[0]["time"]))
	delete(own[0], "time")
	same(e, "event", own[0], map[string]any{
		"type": "approval.answered", "id": id + "/answered", "source": "countersign", "subject": id,
		"specversion": "1.0", "datacontenttype": "application/json", "data": data,
	})

	for _, key := range []string{e.keys.Deadlines(), e.keys.Reminders()} {
		same(e, key, e.score(key, id), time.Time{})
	}
	lapsed := !e.score(e.keys.LapsedKey(), id).IsZero()
	same(e, "is among the lapsed", lapsed, d == approval.DecisionLapsed)
	same(e, "has a memory", e.there(e.keys.Memory(id)), false)
	for _, key := range []string{e.keys.Row(id), e.keys.Answer(id), e.keys.Ref(r.Row.Ref)} {
		e.livesFor(key, storetest.Retention)
	}
	return a
}

func timeOf(v any) error {
	s, _ := v.(string)
	_, err := time.Parse("2006-01-02T15:04:05.000Z", s)
	return err
}

// openedAnsweredChecks are about rows that are answered from the start.
func openedAnsweredChecks() []check {
	atOnce := func(state approval.State, by approval.Surface, reason string) func(e *env) {
		return func(e *env) {
			o := answeredAtOnce(e.opening("a1"), state, by, reason)
			o.RemindAt = o.ExpiresAt.Add(-time.Minute)
			if state == approval.Lapsed {
				o.ExpiresAt = e.now().Add(-time.Minute)
			}
			e.marked("a1", func() { e.opens(o, store.Opened) })
			a := e.answered("a1", approval.Decision(state))
			same(e, "terms", a.Terms, o.Terms)
			same(e, "pin", a.Pin, o.Pin)
			same(e, "context", string(a.Context), `{"wait":"w-1"}`)
			same(e, "reason", a.Reason, reason)
			if state == approval.Lapsed {
				e.at("lapse", e.score(e.keys.LapsedKey(), "a1"), e.now())
			}
			same(e, "row has its request", e.there(e.keys.Row("a1")) && e.read("a1").Row.Request != nil, state != approval.Refused)
			last := "a1 open>" + string(state) + " " + string(by) + "/" + string(by)
			if state == approval.Refused {
				e.audited("a1 requested>refused intake/intake")
				same(e, "audit lines", len(e.audits()), 1)
				return
			}
			e.audited("a1 requested>open intake/"+e.keys.Requests(), last)
		}
	}
	return []check{
		{"open", "a request past its deadline opens lapsed", atOnce(approval.Lapsed, approval.Sweeper, "")},
		{"open", "a policy's approval opens approved", atOnce(approval.Approved, approval.Policy, "")},
		{"open", "the policy's reason is audited, whether it passes or asks", func(e *env) {
			asked := e.opening("a1")
			asked.Code = "above_ceiling"
			e.opens(asked, store.Opened)
			passed := answeredAtOnce(e.opening("a2"), approval.Approved, approval.Policy, "invalid: no code of a refusal")
			passed.Code = "ceiling"
			e.opens(passed, store.Opened)
			var codes []string
			for _, l := range e.audits() {
				codes = append(codes, l.ID+" "+l.To+" "+l.Code)
			}
			same(e, "reason codes", codes, []string{"a1 open above_ceiling", "a2 open ", "a2 approved ceiling"})
		}},
		{"open", "a refusal of what could be read repeats it", atOnce(approval.Refused, approval.Intake, "unroutable: no chats")},
		{"open", "a request withdrawn before it came opens withdrawn, and the withdrawal is forgotten", func(e *env) {
			e.withdrawn("a1", e.keys.Requests(), "", true)
			atOnce(approval.Withdrawn, approval.Runtime, "not needed")(e)
			same(e, "remembered", e.there(e.keys.WithdrawnKey("a1")), false)
		}},
		{"open", "a refusal of what could not be read has no terms, no pin and no request", func(e *env) {
			e.opens(e.unreadable("a1"), store.Opened)
			a := e.answered("a1", approval.DecisionRefused)
			same(e, "terms and pin", a.Terms+a.Pin, "")
			same(e, "reason code", e.audits()[0].Code, "invalid")
			row := e.read("a1").Row
			same(e, "row's terms", row.Terms, "sha256:raw")
			same(e, "deadline", row.ExpiresAt, time.Time{})
			same(e, "request", row.Request, nil)
		}},
	}
}
