package delivery_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"countersign/delivery"
	"countersign/simulator"
	"countersign/telegram"
)

func (w *world) speaker(l delivery.Limits) *delivery.Speaker {
	return delivery.NewSpeaker(w.bot(), delivery.NewPace(l, w.now), zerolog.New(w.log))
}

func word(chat int64) telegram.Outgoing {
	return telegram.Outgoing{Chat: chat, HTML: "<b>Nothing is open.</b>", Plain: "Nothing is open."}
}

func TestSayingThroughFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault simulator.Fault
		tries int
		waits time.Duration // at least
		fails telegram.Kind // 0: it is said
	}{
		{"none", simulator.Fault{Count: 1, Method: "getMe"}, 1, 0, 0},
		{"5xx once", simulator.Fault{Count: 1}, 2, time.Second, 0},
		{"a reset", simulator.Fault{Count: 1, Kind: simulator.Reset}, 2, time.Second, 0},
		{"a limit", simulator.Fault{Count: 1, Code: 429, Parameters: &simulator.Parameters{RetryAfter: 9}}, 2, 9 * time.Second, 0},
		{"formatting", simulator.Fault{Count: 1, Code: 400, Description: "Bad Request: can't parse entities: x"}, 2, 0, 0},
		{"5xx for good", simulator.Fault{}, 3, 3 * time.Second, telegram.Server},
		{"blocked", simulator.Fault{Code: 403, Description: "Forbidden: bot was blocked by the user"}, 1, 0, telegram.Blocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(w *world) {
				if c.fault.Method == "" {
					c.fault.Method = "sendMessage"
				}
				w.sim.Fault(c.fault)
				began := w.now()
				sent, err := w.speaker(delivery.Limits{}).Say(w.Context(), word(ann))
				took := w.now().Sub(began)
				if n := len(w.sim.Calls("sendMessage")); n != c.tries {
					w.Errorf("%d tries, want %d", n, c.tries)
				}
				if took < c.waits || took > c.waits+time.Second {
					w.Errorf("took %v, want %v", took, c.waits)
				}
				var e *telegram.Error
				switch {
				case c.fails != 0:
					if !errors.As(err, &e) || e.Kind != c.fails {
						w.Errorf("error %v, want kind %s", err, c.fails)
					}
				case err != nil:
					w.Errorf("not said: %v", err)
				default:
					if m := w.post(ann); int(m.MessageID) != sent.MessageID || m.Text != "Nothing is open." {
						w.Errorf("said %d: %q", m.MessageID, m.Text)
					}
				}
			})
		})
	}
}

// TestQuestionsComeBeforeWords wants who confirms to be asked before strangers
// are told anything.
func TestQuestionsComeBeforeWords(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		s := w.speaker(delivery.Limits{PerSecond: 1})
		done := make(chan string, 3)
		say := func(name string, how func() (telegram.Sent, error)) {
			go func() {
				if _, err := how(); err != nil {
					name = err.Error()
				}
				done <- name
			}()
			settle()
		}
		say("first", func() (telegram.Sent, error) { return s.Say(w.Context(), word(ann)) })
		say("word", func() (telegram.Sent, error) { return s.Say(w.Context(), word(ann)) })
		say("question", func() (telegram.Sent, error) { return s.Ask(w.Context(), word(ben)) })
		got := []string{<-done, <-done, <-done}
		if want := []string{"first", "question", "word"}; !slices.Equal(got, want) {
			w.Errorf("said %v, want %v", got, want)
		}
	})
}

// TestWordsGrowOld has a group ask for far more than may be said there: what
// waits for a minute is dropped, and nobody is left waiting.
func TestWordsGrowOld(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		s := w.speaker(delivery.Limits{GroupPerMinute: 20})
		const asked = 1000
		results := make(chan error, asked)
		for i := range asked {
			go func() {
				var err error
				switch i % 3 {
				case 0:
					_, err = s.Say(w.Context(), word(team))
				case 1:
					_, err = s.Ask(w.Context(), word(team))
				default:
					_, err = s.File(w.Context(), telegram.Document{Chat: team, Name: "list.txt", Content: []byte("1. Alpha")})
				}
				results <- err
			}()
		}
		pass(time.Minute + time.Second)
		if n := len(results); n != asked {
			w.Fatalf("%d are still waiting", asked-n)
		}
		said := 0
		for range asked {
			switch err := <-results; {
			case err == nil:
				said++
			case !errors.Is(err, delivery.ErrTooLate):
				w.Errorf("error %v", err)
			}
		}
		if n := len(w.sim.BotMessages(team)); n != said || n < 20 || n > 40 {
			w.Errorf("%d messages, %d said", n, said)
		}
		began := w.now()
		w.sim.Fault(simulator.Fault{Method: "sendMessage", Count: 1, Code: 429, Parameters: &simulator.Parameters{RetryAfter: 3600}})
		if _, err := s.Say(w.Context(), word(ben)); !errors.Is(err, delivery.ErrTooLate) || w.now().Sub(began) != time.Minute {
			w.Errorf("after %v: %v", w.now().Sub(began), err)
		}
	})
}

// TestAnswersToTapsNeverWait answers while every limit is used up.
func TestAnswersToTapsNeverWait(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		s := w.speaker(delivery.Limits{PerSecond: 0.01, ChatPerSecond: 0.01})
		w.start("a", start{})
		w.open("a1")
		settle()
		_, err := s.Say(w.Context(), word(ann))
		w.ok(err)
		began := w.now()
		for range 3 {
			id := w.sim.Person(ann).Tap(w.sim.BotMessages(ann)[0], "Reject")
			s.Answer(w.Context(), id, "Not recorded yet", true)
			if a, ok := w.sim.Answer(id); !ok || a.Text != "Not recorded yet" {
				w.Errorf("answered with %+v, %v", a, ok)
			}
		}
		if took := w.now().Sub(began); took != 0 {
			w.Errorf("answers waited for %v", took)
		}
	})
}

// TestLateAnswersAreNoNews wants an answer that comes too late to be passed over
// in silence, and any other failure to be told.
func TestLateAnswersAreNoNews(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		s := w.speaker(delivery.Limits{})
		w.start("a", start{})
		w.open("a1")
		settle()
		id := w.sim.Person(ann).Tap(w.post(ann), "Reject")
		pass(time.Minute)
		s.Answer(w.Context(), id, "", false)
		if n := w.log.count("not answered"); n != 0 {
			w.Errorf("%d lines about a late answer", n)
		}
		w.sim.Fault(simulator.Fault{Method: "answerCallbackQuery", Count: 1})
		s.Answer(w.Context(), w.sim.Person(ann).Tap(w.post(ann), "Reject"), "", false)
		if n := w.log.count("not answered"); n != 1 {
			w.Errorf("%d lines about a failed answer, want 1", n)
		}
	})
}

func TestFilesWaitTheirTurn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		s := w.speaker(delivery.Limits{ChatPerSecond: 1})
		began := w.now()
		for range 4 {
			_, err := s.File(w.Context(), telegram.Document{Chat: ann, Name: "list.txt", Content: []byte("1. Alpha")})
			w.ok(err)
		}
		if took := w.now().Sub(began); took != time.Second {
			w.Errorf("four files took %v, want 1s", took)
		}
	})
}
