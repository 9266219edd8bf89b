package main

import (
	"encoding/json"
	"testing"

	"countersign/approval"
	"countersign/simulator"
)

func TestStrangersAndReaders(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "both")
	card := p.card(teamID, "a1")
	for _, button := range []string{"Trash them", "Reject", "Exact call"} {
		p.taps(p.sam, card, button, "This bot does not know you, so that decides nothing.")
	}
	for _, button := range []string{"Trash them", "Reject"} {
		p.taps(p.ben, card, button, "You may read this, but not answer it.")
	}
	p.reply(p.ben.Reply(card, "approve"), "You may read this, but not answer it.")
	p.silence(p.sam.Reply(card, "approve"), p.sam.Reply(card, "reject"))
	p.open("a1")
	p.confirms(p.ann, card, "Approved.")
	p.answered(pending, approval.DecisionApproved)
	p.taps(p.olga, p.shows(card, "Approved by Ann"), "Exact call", "")
}

func TestTheOwnersNameIsNotTheOwner(t *testing.T) {
	p := newPlay(t)
	p.asked("a1", "both")
	card := p.card(teamID, "a1")
	double := p.sim.AddAccount(simulator.User{ID: 4242, FirstName: "Ann", Username: "ann"})
	double.Start()
	double.Send(teamID, "hello")
	p.taps(double, card, "Reject", "This bot does not know you, so that decides nothing.")
	p.silence(double.Reply(card, "reject"))
	p.open("a1")
}

// Words that are not certainly a person's own, now, in this chat, are dropped.
func TestWordsOfNobody(t *testing.T) {
	p := newPlay(t)
	p.asked("a1", "both")
	card := p.card(teamID, "a1")
	post := func(d simulator.Draft) simulator.Message {
		t.Helper()
		d.Chat, d.ReplyTo = teamID, card.MessageID
		m, err := p.ann.Post(d)
		p.ok(err)
		return m
	}
	p.team.Promote(annID, simulator.AllRights())
	dropped := []simulator.Message{
		post(simulator.Draft{Text: "reject", Anonymous: true}),
		post(simulator.Draft{Text: "reject", Forwarded: true}),
		post(simulator.Draft{Text: "reject", Scheduled: true}),
		post(simulator.Draft{Text: "reject", ViaBot: &simulator.User{ID: 99, IsBot: true, FirstName: "Inline"}}),
		post(simulator.Draft{Text: "reject", Document: "reject.txt", Content: []byte("reject")}),
		post(simulator.Draft{Text: "reject", ExternalReply: json.RawMessage(
			`{"origin":{"type":"hidden_user","date":1,"sender_user_name":"X"}}`)}),
	}
	harmless := p.ann.Send(teamID, "hello")
	dropped = append(dropped, p.ann.Edit(harmless, "/reject@countersign_bot"))
	p.silence(dropped...)
	p.open("a1")
	// The same administrator's tap carries their own id.
	p.taps(p.ann, card, "Reject", "Rejected.")
}

// What a forged client sends is a key to nothing.
func TestForgedData(t *testing.T) {
	p := newPlay(t)
	p.asked("a1", "both")
	p.asked("a2", "both")
	p.asked("a3", "iris")
	first, second, elsewhere := p.card(teamID, "a1"), p.card(teamID, "a2"), p.card(annID, "a3")
	reject, _ := second.Button("Reject")
	other, _ := elsewhere.Button("Reject")
	for _, data := range []string{reject.CallbackData, other.CallbackData, "rAAAAAAAAAAAAAAAA.1", "\x00", "approve"} {
		id, err := p.ann.Press(simulator.Press{Chat: teamID, Message: first.MessageID, Data: &data, Forged: true})
		p.ok(err)
		a, err := p.sim.WaitAnswer(p.ctx, id)
		p.ok(err)
		p.said(a.Text, "Unknown here, or gone.")
	}
	for _, id := range []string{"a1", "a2", "a3"} {
		p.open(id)
	}
	// A message too old to be shown, and one that is none.
	id, err := p.ann.Press(simulator.Press{Chat: teamID, Message: first.MessageID, Text: "Reject", Without: true})
	p.ok(err)
	a, err := p.sim.WaitAnswer(p.ctx, id)
	p.ok(err)
	p.said(a.Text, "Unknown here, or gone.")
	id, err = p.ann.Press(simulator.Press{Chat: teamID, Message: first.MessageID, Text: "Reject", Inaccessible: true})
	p.ok(err)
	a, err = p.sim.WaitAnswer(p.ctx, id)
	p.ok(err)
	p.said(a.Text, "Rejected.")
}
