package setup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"countersign/setup"
	"countersign/simulator"
	"countersign/telegram"
)

const (
	annID = 1001
	token = "7000000:test-token"
	code  = "k7qf2xyz"
)

// A script is a terminal at which the answers are known beforehand. An answer may do
// something first.
type script struct {
	t       *testing.T
	answers []string
	before  map[string]func() // by a part of the prompt
	said    strings.Builder
}

func (s *script) Say(line string) { s.said.WriteString(line + "\n") }

func (s *script) Ask(ctx context.Context, prompt string) (string, error) {
	for part, do := range s.before {
		if strings.Contains(prompt, part) {
			do()
		}
	}
	if len(s.answers) == 0 {
		return "", errors.New("the input ended")
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	s.Say(prompt + answer)
	return answer, ctx.Err()
}

func (s *script) AskUnseen(ctx context.Context, prompt string) (string, error) {
	answer, err := s.Ask(ctx, prompt)
	return answer, err
}

// converses holds a conversation over a Bot API server without sockets.
func converses(s *script, sim *simulator.Server, change func(*setup.Options)) (setup.Result, error) {
	o := setup.Options{
		Terminal: s,
		Bot: func(token string) (setup.Telegram, error) {
			return telegram.New(telegram.Config{Token: token, APIURL: "http://bot-api.test", HTTP: sim.Client()})
		},
		Redis: func(context.Context, string, string) (setup.RedisAnswer, error) {
			return setup.RedisAnswer{Version: "7.0.15"}, nil
		},
		Exists:   func(string) bool { return false },
		Absolute: func(path string) (string, error) { return "/home/ann/" + path, nil },
		Code:     code, Output: "countersign.yaml", WaitFor: time.Minute,
	}
	if change != nil {
		change(&o)
	}
	return setup.Run(s.t.Context(), o)
}

func newServer(t *testing.T) (*simulator.Server, *simulator.Person) {
	sim := simulator.New(simulator.Options{Now: time.Now, Token: token, Username: "countersign_bot"})
	t.Cleanup(func() { _ = sim.Close() })
	return sim, sim.AddUser(annID, "Ann")
}

// expect checks that the conversation said each of the texts.
func (s *script) expect(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.said.String(), text) {
			s.t.Errorf("nobody said %q in\n%s", text, s.said.String())
		}
	}
}

// Another program that takes the updates is named, and one may look again once it has
// stopped.
func TestAnotherPoller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, ann := newServer(t)
		fault := sim.Fault(simulator.Fault{
			Method: "getUpdates", Code: 409,
			Description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
		})
		s := &script{t: t, answers: []string{token, "", "y", "", ""}, before: map[string]func(){
			"look again": func() {
				fault.Remove()
				ann.Send(annID, code)
			},
		}}
		if _, err := converses(s, sim, nil); err != nil {
			t.Fatalf("%v in\n%s", err, s.said.String())
		}
		s.expect("Another program takes what is sent to this bot", "Shall Ann (id 1001) approve")
	})
}

// Where more waits than can be looked at, somebody says who they are by hand.
func TestTooMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, ann := newServer(t)
		for range 100 {
			ann.Send(annID, "hello")
		}
		ann.Send(annID, code)
		s := &script{t: t, answers: []string{token, "1001", "Ann", "", ""}}
		if _, err := converses(s, sim, nil); err != nil {
			t.Fatalf("%v in\n%s", err, s.said.String())
		}
		s.expect("More waits for this bot", "The bot can write to you only once you have pressed Start.")
		if sim.PendingUpdates() != 101 {
			t.Errorf("%d updates wait, want all 101", sim.PendingUpdates())
		}
	})
}

// Nobody is the owner by words that are not their own, or said to others.
func TestNobodysCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, ann := newServer(t)
		sam := sim.AddUser(1004, "Sam")
		team := sim.AddSupergroup(-1001234567890, "Team", sam)
		written := sam.Send(team.ID, "/start@countersign_bot "+code)
		sam.Forward(written, sam.ID)
		sam.Send(sam.ID, "not "+code)
		s := &script{t: t, answers: []string{token, "", "y", "", ""}, before: map[string]func(){
			"wait on": func() { ann.Send(annID, "K"+code[1:]) }, // as a phone writes it
		}}
		if _, err := converses(s, sim, nil); err != nil {
			t.Fatalf("%v in\n%s", err, s.said.String())
		}
		s.expect("Nobody sent the code.", "Shall Ann (id 1001) approve", "Sam (id 1004) wrote to the bot, but not the code.")
	})
}

// A queue that a bot serves already is not shared; another name is asked for, and kept.
func TestServedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, ann := newServer(t)
		ann.Send(annID, code)
		dir := t.TempDir()
		s := &script{t: t, answers: []string{token, "", "", "", "", "nowhere/a.yaml", ""}}
		result, err := converses(s, sim, func(o *setup.Options) {
			o.Redis = func(_ context.Context, _, namespace string) (setup.RedisAnswer, error) {
				return setup.RedisAnswer{Served: namespace == "approvals"}, nil
			}
			o.Absolute = func(path string) (string, error) { return filepath.Join(dir, path), nil }
		})
		if err != nil {
			t.Fatalf("%v in\n%s", err, s.said.String())
		}
		s.expect("There is no folder nowhere.", `A bot serves the queue "approvals" there already.`, "Name of the new queue [approvals-2]: ")
		if err := result.Write(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "countersign.yaml"))
		if err != nil || !strings.Contains(string(text), `namespace: "approvals-2"`) {
			t.Errorf("%s (%v)", text, err)
		}
	})
}

// What appears between the question and the end is not overwritten, and no half of a
// configuration is left.
func TestWriteOverNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, ann := newServer(t)
		ann.Send(annID, code)
		dir := t.TempDir()
		s := &script{t: t, answers: []string{token, "", "", ""}}
		result, err := converses(s, sim, func(o *setup.Options) {
			o.Absolute = func(path string) (string, error) { return filepath.Join(dir, path), nil }
		})
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "countersign.token")
		if err := os.WriteFile(name, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := result.Write(); !errors.Is(err, os.ErrExist) {
			t.Errorf("the error is %v", err)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != "precious" {
			t.Errorf("it is now %q (%v)", text, err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Errorf("left: %v (%v)", left, err)
		}
	})
}

// A conversation ends where its context or its input does.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, _ := newServer(t)
		for n := range 2 {
			s := &script{t: t, answers: []string{token}[:n]}
			if _, err := converses(s, sim, nil); err == nil || !strings.Contains(err.Error(), "input ended") {
				t.Errorf("after %d answers: %v", n, err)
			}
		}
		if fmt.Sprint(sim.Calls("setWebhook", "deleteWebhook", "sendMessage")) != "[]" {
			t.Error("something was changed")
		}
	})
}
