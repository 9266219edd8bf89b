package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/config"
	"countersign/queue"
	"countersign/simulator"
)

// A play is a stage with a bot on it, and a time by which everything has to
// have happened.
type play struct {
	*stage
	ctx  context.Context
	stop func()
}

func newPlay(t *testing.T, change ...func(*config.Config)) *play {
	t.Helper()
	t.Parallel()
	return playOn(t, newStage(t, change...))
}

// playOn puts a bot on a stage.
func playOn(t *testing.T, st *stage) *play {
	t.Helper()
	p := &play{stage: st}
	p.stop = p.start("bot-1")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	p.ctx = ctx
	t.Cleanup(cancel)
	t.Cleanup(func() {
		for _, r := range p.sim.Refusals() {
			t.Errorf("Telegram refused %v", r)
		}
	})
	return p
}

func (p *play) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// restart stops the bot, does what is to happen meanwhile, and starts another.
func (p *play) restart(meanwhile func()) {
	p.t.Helper()
	p.stop()
	meanwhile()
	p.stop = p.start("bot-2")
}

// asked publishes a request of three emails to trash, changed by fields.
func (p *play) asked(id, runtime string, changes ...func(data map[string]any)) queue.Pending {
	p.t.Helper()
	data := map[string]any{
		"approval_id": id, "runtime": runtime, "tool": "trash_email", "arguments": map[string]any{"ids": []string{"m1", "m2"}},
		"card": map[string]any{"title": "Trash " + id, "action": "Trash them", "lines": []string{"Big sale", "Last chance"}},
	}
	for _, change := range changes {
		change(data)
	}
	raw, err := json.Marshal(data)
	p.ok(err)
	pending, err := p.client.Request(p.ctx, queue.Request{Data: raw})
	p.ok(err)
	return pending
}

// card waits for a card in a chat.
func (p *play) card(chat int64, id string) simulator.Message {
	p.t.Helper()
	m, err := p.sim.WaitMessage(p.ctx, chat, func(m simulator.Message) bool {
		// An id with a full stop may look like an address, and is kept from being a link.
		return strings.Contains(strings.ReplaceAll(m.Text, "\u2060", ""), "Trash "+id) && m.Keyboard() != nil
	})
	p.ok(err)
	return p.recorded(m)
}

// recorded waits until the bot knows a message of its own again: a test is
// faster than a person.
func (p *play) recorded(m simulator.Message) simulator.Message {
	p.t.Helper()
	key := fmt.Sprintf("{%s}:bot:message:%d:%d", p.cfg.Redis.Namespace, m.Chat.ID, m.MessageID)
	for {
		n, err := p.redis.Exists(p.ctx, key).Result()
		p.ok(err)
		if n == 1 {
			return m
		}
		if !wait(p.ctx, 5*time.Millisecond) {
			p.t.Fatalf("message %d was not recorded", m.MessageID)
		}
	}
}

// shows waits until a message says all of that.
func (p *play) shows(m simulator.Message, parts ...string) simulator.Message {
	p.t.Helper()
	m, err := p.sim.WaitEdit(p.ctx, m, func(m simulator.Message) bool {
		for _, part := range parts {
			if !strings.Contains(m.Text, part) {
				return false
			}
		}
		return true
	})
	if err != nil {
		p.t.Fatalf("waiting for %q: %v", parts, err)
	}
	return m
}

// offers waits until a message has a button.
func (p *play) offers(m simulator.Message, button string) simulator.Message {
	p.t.Helper()
	m, err := p.sim.WaitEdit(p.ctx, m, func(m simulator.Message) bool { _, ok := m.Button(button); return ok })
	if err != nil {
		p.t.Fatalf("waiting for the button %q: %v", button, err)
	}
	return m
}

// taps taps a button and wants these words in the answer; "" wants none.
func (p *play) taps(who *simulator.Person, m simulator.Message, button, words string) {
	p.t.Helper()
	a, err := who.TapWait(p.ctx, m, button)
	p.ok(err)
	p.said(a.Text, words)
}

func (p *play) said(got, want string) {
	p.t.Helper()
	if want == "" && got != "" || !strings.Contains(got, want) {
		p.t.Errorf("said %q, want %q", got, want)
	}
}

// confirms taps the action and then Yes.
func (p *play) confirms(who *simulator.Person, m simulator.Message, words string) {
	p.t.Helper()
	p.taps(who, m, "Trash them", "")
	p.yes(who, p.offers(m, "Yes"), words)
}

// yes taps Yes, again while the bot has yet to record that the card shows it: a
// test is faster than a person.
func (p *play) yes(who *simulator.Person, m simulator.Message, words string) {
	p.t.Helper()
	for {
		a, err := who.TapWait(p.ctx, m, "Yes")
		p.ok(err)
		if !strings.HasPrefix(a.Text, "Wait until the card shows the question") {
			p.said(a.Text, words)
			return
		}
	}
}

// answered waits for the answer of a decision.
func (p *play) answered(pending queue.Pending, want approval.Decision) queue.Answer {
	p.t.Helper()
	a, err := p.client.Await(p.ctx, pending)
	p.ok(err)
	if a.Decision != want {
		p.t.Errorf("%s was %s, want %s", pending.ID, a.Decision, want)
	}
	return a
}

// open wants an approval to be open still.
func (p *play) open(id string) {
	p.t.Helper()
	row, err := p.client.Row(p.ctx, id)
	p.ok(err)
	if row.State != approval.Open {
		p.t.Errorf("%s is %s", id, row.State)
	}
}
