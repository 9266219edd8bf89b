package delivery_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/approval"
	"countersign/delivery"
	"countersign/simulator"
	"countersign/store"
	"countersign/telegram"
)

// passing are failures that pass, and how many messages a card may have cost
// once each has struck one call: a call whose fate is unknown is made again.
var passing = []struct {
	name  string
	fault simulator.Fault
	most  int
}{
	{"5xx", simulator.Fault{Code: 500}, 1},
	{"5xx after the effect", simulator.Fault{Code: 500, Applied: true}, 2},
	{"HTML", simulator.Fault{Kind: simulator.BadGateway}, 1},
	{"HTML after the effect", simulator.Fault{Kind: simulator.BadGateway, Applied: true}, 2},
	{"no with status 200", simulator.Fault{Kind: simulator.NotOK, Code: 500}, 1},
	{"half an answer", simulator.Fault{Kind: simulator.CutJSON}, 1},
	{"a reset before the effect", simulator.Fault{Kind: simulator.Reset}, 1},
	{"a reset after the effect", simulator.Fault{Kind: simulator.Reset, Applied: true}, 2},
	{"no answer", simulator.Fault{Kind: simulator.Hang}, 1},
	{"no answer, but an effect", simulator.Fault{Kind: simulator.Hang, Applied: true}, 2},
	{"an answer in pieces", simulator.Fault{Kind: simulator.SlowBody, Delay: 3 * time.Second}, 1},
	{"an answer in pieces that takes too long", simulator.Fault{Kind: simulator.SlowBody, Delay: time.Minute}, 2},
	{"a late answer", simulator.Fault{Kind: simulator.Late, Delay: 5 * time.Second}, 1},
	{"a redirect", simulator.Fault{Kind: simulator.Redirect, Location: "http://elsewhere.invalid/"}, 1},
	{"too many requests", simulator.Fault{Code: 429, Parameters: &simulator.Parameters{RetryAfter: 7}}, 1},
	{"unauthorized", simulator.Fault{Code: 401, Description: "Unauthorized"}, 1},
	{"a conflict", simulator.Fault{Code: 409, Description: "Conflict"}, 1},
	{"no rights", simulator.Fault{Code: 400, Description: "Bad Request: not enough rights to send text messages to the chat"}, 1},
	{"an unknown no", simulator.Fault{Code: 400, Description: "Bad Request: something new"}, 1},
}

func TestFailuresOfSendsPass(t *testing.T) {
	t.Parallel()
	for _, c := range passing {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				c.fault.Method, c.fault.Chat, c.fault.Count = "sendMessage", ann, 1
				hit := w.sim.Fault(c.fault)
				w.start("a", start{})
				w.open("a1", in(chat(ann), chat(ben)))
				settle()
				w.post(ben) // other chats are served meanwhile
				pass(2 * time.Minute)
				if hit.Hits() != 1 {
					w.Fatalf("the fault struck %d times", hit.Hits())
				}
				if n := len(w.sim.BotMessages(ann)); n < 1 || n > c.most {
					w.Errorf("%d messages, want at most %d", n, c.most)
				}
				w.inLine("a1")
				w.decide("a1", byOperator(approval.DecisionApproved))
				pass(time.Second)
				quiet(w, "a1")
			})
		})
	}
}

func TestFailuresOfEditsPass(t *testing.T) {
	t.Parallel()
	for _, c := range passing {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				w.start("a", start{})
				w.open("a1", in(chat(ann), chat(ben)))
				settle()
				c.fault.Method, c.fault.Chat, c.fault.Count = "editMessageText", ann, 1
				hit := w.sim.Fault(c.fault)
				w.decide("a1", byAnn())
				settle()
				if m := w.post(ben); !has("Rejected by Ann")(m) {
					w.Errorf("the other chat waits: %s", m.Text)
				}
				pass(2 * time.Minute)
				if hit.Hits() != 1 {
					w.Fatalf("the fault struck %d times", hit.Hits())
				}
				w.post(ann)
				quiet(w, "a1")
			})
		})
	}
}

// TestPausesGrow wants a server that stays away to be asked less and less, and
// at once when the approval changes.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		fault := w.sim.Fault(simulator.Fault{Method: "sendMessage", Code: 502})
		w.start("a", start{})
		w.open("a1")
		pass(4 * time.Minute)
		calls := w.sim.Calls("sendMessage")
		if n := len(calls); n < 6 || n > 10 {
			w.Errorf("%d tries in four minutes", n)
		}
		for i := 2; i < len(calls); i++ {
			now, before := calls[i].At.Sub(calls[i-1].At), calls[i-1].At.Sub(calls[i-2].At)
			if now < before-2*time.Second || now > 63*time.Second {
				w.Errorf("pause %d is %v after one of %v", i, now, before)
			}
		}
		w.decide("a1", byOperator(approval.DecisionRejected))
		settle()
		if n := len(w.sim.Calls("sendMessage")); n != len(calls)+1 {
			w.Errorf("%d tries at once after a change, want 1", n-len(calls))
		}
		fault.Remove()
		pass(time.Minute + time.Second)
		w.post(ann)
		quiet(w, "a1")
	})
}

// TestFinishedCardsWaitLonger wants a finished card that cannot be drawn until
// somebody changes something to be tried hourly in the end, an open one every
// minute.
func TestFinishedCardsWaitLonger(t *testing.T) {
	t.Parallel()
	for _, says := range []string{
		"Bad Request: something new",
		"Bad Request: not enough rights to send text messages to the chat",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				fault := w.sim.Fault(simulator.Fault{Method: "sendMessage", Code: 400, Description: says})
				w.start("a", start{})
				w.open("open", func(o *store.Opening) { o.ExpiresAt = o.Now.Add(2 * time.Hour) })
				w.open("finished", in(chat(ben)))
				w.decide("finished", byOperator(approval.DecisionApproved))
				pass(70 * time.Minute)
				tries := map[int64][]time.Time{}
				for _, c := range w.sim.Calls("sendMessage") {
					tries[c.Int("chat_id")] = append(tries[c.Int("chat_id")], c.At)
				}
				if n := len(tries[ann]); n < 65 {
					w.Errorf("an open card was tried %d times in 70 minutes", n)
				}
				if n := len(tries[ben]); n < 6 || n > 8 {
					w.Errorf("a finished card was tried %d times in 70 minutes", n)
				}
				fault.Remove()
				w.report("finished", nil) // a change is drawn at once
				settle()
				w.post(ben)
				w.inLine("finished")
			})
		})
	}
}

// TestTimedOutCallIsFollowedByAPause wants the pause to count from the failure,
// not from when the call began.
func TestTimedOutCallIsFollowedByAPause(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sim.Fault(simulator.Fault{Method: "sendMessage", Kind: simulator.Hang, Count: 1})
		w.start("a", start{})
		w.open("a1")
		pass(time.Minute)
		calls := w.sim.Calls("sendMessage")
		if len(calls) != 2 {
			w.Fatalf("%d calls, want 2", len(calls))
		}
		if gap := calls[1].At.Sub(calls[0].At); gap < delivery.CallTimeout+time.Second {
			w.Errorf("called again %v after a call that timed out after %v", gap, delivery.CallTimeout)
		}
	})
}

func TestLimitHoldsOnlyItsChat(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sim.Fault(simulator.Fault{
			Method: "sendMessage", Chat: ann, Count: 1, Code: 429, Parameters: &simulator.Parameters{RetryAfter: 30},
		})
		w.start("a", start{})
		w.open("a1")
		settle()
		w.open("a2", in(chat(ann), chat(ben)))
		w.open("a3", in(chat(ben)))
		settle()
		w.posts(ben, 2)
		pass(29 * time.Second)
		if n := len(w.sim.Calls("sendMessage")); n != 3 {
			w.Errorf("%d sends while the chat is held, want 3", n)
		}
		pass(2 * time.Second)
		w.posts(ann, 2)
		quiet(w, "a1", "a2", "a3")
	})
}

func TestLimitsOfTwoChatsHoldTheBot(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		for _, c := range []int64{ann, ben} {
			w.sim.Fault(simulator.Fault{Method: "sendMessage", Chat: c, Count: 1, Code: 429, Parameters: &simulator.Parameters{RetryAfter: 20}})
		}
		w.start("a", start{})
		w.open("a1", in(chat(ann), chat(ben)))
		settle()
		w.open("a2", in(chat(cleo)))
		pass(19 * time.Second)
		w.posts(cleo, 0)
		pass(2 * time.Second)
		w.post(cleo)
		quiet(w, "a1", "a2")
	})
}

func TestRefusedFormattingGoesPlain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		parse := simulator.Fault{
			Code: 400, Description: "Bad Request: can't parse entities: Unsupported start tag \"b\" at byte offset 0",
			When: func(c simulator.Call) bool { return c.Text("parse_mode") == "HTML" },
		}
		fault := w.sim.Fault(parse)
		p := w.start("a", start{})
		w.open("a1")
		settle()
		m := w.post(ann)
		if len(m.Keyboard()) == 0 {
			w.Error("the plain card has no buttons")
		}
		w.inLine("a1")
		w.openStep("a1", ann)
		settle()
		w.inLine("a1")
		if !hasButton(w.post(ann), "Yes") {
			w.Error("the plain step has no Yes")
		}
		if got := p.counts.of("formatting_refused"); got != 2 {
			w.Errorf("counted %d times, want 2", got)
		}
		fault.Remove()
		w.decide("a1", byOperator(approval.DecisionApproved))
		settle()
		quiet(w, "a1")
	})
}

// TestServerWithoutTimeTag wants the same cards without the tag, after the first
// refusal without another.
func TestServerWithoutTimeTag(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.refused = 1
		p := w.start("a", start{})
		w.open("a1", in(chat(ann)))
		settle()
		w.open("a2", in(chat(ben)))
		w.decide("a1", byOperator(approval.DecisionApproved))
		settle()
		// What the server takes is the card as it is drawn without the tag.
		w.configure(func(p *delivery.Present) { p.Cards.TimeTag = false })
		w.inLine("a1", "a2")
		if bold := w.post(ann).Entities; len(bold) == 0 {
			w.Error("the card lost its formatting with the tag")
		}
		if n := p.counts.of("formatting_refused"); n != 0 {
			w.Errorf("%d cards went plain", n)
		}
		if n := w.log.count("does not know"); n != 1 {
			w.Errorf("told %d times", n)
		}
	}, func(o *simulator.Options) { o.NoTgTime = true })
}

// TestUndecodedSendIsSent has Telegram say that it sent, but not what.
func TestUndecodedSendIsSent(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, send: func(_ context.Context, _ telegram.Outgoing, next func() (telegram.Sent, error)) (telegram.Sent, error) {
				_, err := next()
				return telegram.Sent{Undecoded: true}, err
			}}
		}})
		w.open("a1")
		settle()
		m := w.post(ann)
		w.remind("a1")
		settle()
		w.posts(ann, 2)
		quiet(w)
		// A tap says which message it was.
		r := w.read("a1")
		_, err := w.store.Look(w.Context(), "a1", r.Cards[0].ID, store.View{Message: int(m.MessageID), Chat: m.Chat.ID})
		w.ok(err)
		pass(lifetime)
		w.decide("a1", byDeadline())
		settle()
		m, _ = w.sim.Message(ann, m.MessageID)
		if !has("Lapsed")(m) {
			w.Errorf("the adopted message says\n%s", m.Text)
		}
		w.posts(ann, 3)
		quiet(w, "a1")
	})
}

func (w *world) remind(id string) {
	w.Helper()
	w.ok(w.store.Remind(w.Context(), id))
}

// TestPanicStopsNothingElse has one card panic while it is sent, and one while
// it is planned.
func TestPanicStopsNothingElse(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		var sick atomic.Bool
		sick.Store(true)
		owner := w.present.Owner
		w.configure(func(p *delivery.Present) {
			p.Owner = func(user int64) bool {
				if sick.Load() && user == cleo {
					panic("no owner")
				}
				return owner(user)
			}
		})
		p := w.start("a", start{bot: func(b delivery.Bot) delivery.Bot {
			return valve{Bot: b, send: func(_ context.Context, m telegram.Outgoing, next func() (telegram.Sent, error)) (telegram.Sent, error) {
				if sick.Load() && strings.Contains(m.Plain, "Halted") {
					panic("no halts")
				}
				return next()
			}}
		}})
		w.open("planned", func(o *store.Opening) { o.Owners = []int64{cleo} })
		w.openHalt("sent")
		w.open("well", in(chat(ben)))
		settle()
		w.post(ben)
		w.posts(ann, 0)
		if n := p.counts.of("panics"); n != 2 {
			w.Errorf("%d panics, want 2", n)
		}
		pass(30 * time.Second)
		if n := p.counts.of("panics"); n != 2 {
			w.Errorf("%d panics within half a minute", n)
		}
		sick.Store(false)
		pass(time.Minute)
		w.posts(ann, 2)
		quiet(w, "planned", "sent", "well")
	})
}
