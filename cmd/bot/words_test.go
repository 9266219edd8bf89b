package main

import (
	"strings"
	"testing"

	"countersign/approval"
	"countersign/config"
	"countersign/simulator"
)

// reply waits for what the bot says in reply to a message.
func (p *play) reply(to simulator.Message, words string) simulator.Message {
	p.t.Helper()
	m, err := p.sim.WaitMessage(p.ctx, to.Chat.ID, func(m simulator.Message) bool {
		return m.ReplyToMessage != nil && m.ReplyToMessage.MessageID == to.MessageID
	})
	if err != nil {
		p.t.Fatalf("waiting for a reply to %q: %v", to.Text, err)
	}
	p.said(m.Text, words)
	return m
}

// asks waits for the question for a typed yes.
func (p *play) asks(to simulator.Message) simulator.Message {
	p.t.Helper()
	return p.recorded(p.reply(to, "reply yes to this message within"))
}

// silence wants no word to messages of a chat: what comes after them there is
// answered, and they are not.
func (p *play) silence(messages ...simulator.Message) {
	p.t.Helper()
	chat := messages[0].Chat.ID
	p.reply(p.ann.Send(chat, "/help@countersign_bot"), "Agents ask here")
	for _, m := range p.sim.BotMessages(chat) {
		for _, to := range messages {
			if m.ReplyToMessage != nil && m.ReplyToMessage.MessageID == to.MessageID {
				p.t.Errorf("%q was answered by %q", to.Text, m.Text)
			}
		}
	}
}

func TestTypedInADirectChat(t *testing.T) {
	p := newPlay(t)
	p.reply(p.ann.Send(annID, "approve"), "Agents ask here")
	pending := p.asked("a1", "iris")
	card := p.card(annID, "a1")
	p.reply(p.ann.Send(annID, "no, don't approve"), "Agents ask here")
	p.asks(p.ann.Send(annID, "Approve!"))
	p.reply(p.ann.Send(annID, "yes please"), "Agents ask here")
	p.open("a1")
	p.reply(p.ann.Send(annID, "yes"), "Approved.")
	if a := p.answered(pending, approval.DecisionApproved); a.By.Method != approval.Typed || a.By.ID != "1001" {
		t.Errorf("by %+v", a.By)
	}
	p.shows(card, "Approved by Ann")
	p.reply(p.ann.Reply(card, "reject"), "Already approved by Ann")
}

func TestTypedInAGroup(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "both")
	card := p.card(teamID, "a1")
	p.silence(p.ann.Send(teamID, "approve"), p.ann.Send(teamID, "yes"))
	p.reply(p.ann.Reply(card, "approve it please"), "That decides nothing")
	question := p.asks(p.ann.Reply(card, "approve"))
	if !strings.Contains(string(question.ReplyInterface), "force_reply") {
		t.Errorf("the question opens no reply: %s", question.ReplyInterface)
	}
	p.reply(p.olga.Reply(question, "yes"), "Ann is confirming this.")
	p.reply(p.ben.Reply(question, "yes"), "You may read this, but not answer it.")
	p.reply(p.ann.Reply(question, "yes"), "Approved.")
	p.answered(pending, approval.DecisionApproved)
	p.shows(card, "Approved by Ann")

	const reason = "wrong ones: *not* <these> & _those_"
	pending = p.asked("a2", "both")
	p.reply(p.olga.Reply(p.card(teamID, "a2"), "Reject "+reason), "Rejected.")
	if a := p.answered(pending, approval.DecisionRejected); a.Reason != reason {
		t.Errorf("reason %q", a.Reason)
	}
}

func TestCommandsByReference(t *testing.T) {
	p := newPlay(t)
	p.asked("a1", "both")
	pending := p.asked("a2", "both")
	p.card(teamID, "a1")
	card := p.card(teamID, "a2")
	row, err := p.client.Row(p.ctx, "a2")
	p.ok(err)
	p.reply(p.ann.Send(teamID, "/approve@countersign_bot "+row.Ref+" but not the second"), "That decides nothing")
	p.reply(p.ann.Send(teamID, "/approve@countersign_bot ZZZZZ"), "Unknown here, or gone. /pending shows what is open.")
	list := p.reply(p.ann.Send(teamID, "/pending@countersign_bot"), "#"+row.Ref)
	p.said(list.Text, "Trash a1")
	// A word by reference, confirmed by a button.
	p.asks(p.ann.Send(teamID, "/approve@countersign_bot "+strings.ToLower(row.Ref)))
	card = p.offers(card, "Yes")
	p.ann.Send(teamID, "/show@countersign_bot "+row.Ref)
	p.reply(card, "Here it is.")
	p.yes(p.ann, card, "Approved.")
	p.answered(pending, approval.DecisionApproved)
	p.open("a1")
}

func TestShowAgain(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "iris")
	old := p.card(annID, "a1")
	row, err := p.client.Row(p.ctx, "a1")
	p.ok(err)
	p.ann.Send(annID, "/show "+row.Ref)
	fresh, err := p.sim.WaitMessage(p.ctx, annID, func(m simulator.Message) bool {
		return m.MessageID != old.MessageID && strings.Contains(m.Text, "Trash a1") && m.Keyboard() != nil
	})
	p.ok(err)
	retired := p.shows(old, "Shown again below")
	if retired.Keyboard() != nil {
		t.Errorf("the old card kept its buttons: %+v", retired.Keyboard())
	}
	p.confirms(p.ann, fresh, "Approved.")
	p.answered(pending, approval.DecisionApproved)
	p.shows(fresh, "Approved by Ann")
	p.shows(old, "Approved by Ann")
}

// A card that is shown again in another topic of a forum stands there alone.
func TestShowAgainInAnotherTopic(t *testing.T) {
	const forumID = -1009876543210
	p := newPlay(t, func(c *config.Config) {
		c.Routes = append([]config.RouteRule{{
			Match: config.Match{Runtime: "forum*"}, Chats: []config.Chat{{ID: forumID}}, Quorum: 1,
		}}, c.Routes...)
	})
	forum := p.sim.AddForum(forumID, "Forum", p.ann, p.olga)
	topic := forum.AddTopic("Approvals")
	pending := p.asked("a1", "forum")
	old := p.card(forumID, "a1")
	row, err := p.client.Row(p.ctx, "a1")
	p.ok(err)
	_, err = p.ann.Post(simulator.Draft{Chat: forumID, Thread: topic, Text: "/show@countersign_bot " + row.Ref})
	p.ok(err)
	fresh, err := p.sim.WaitMessage(p.ctx, forumID, func(m simulator.Message) bool {
		return m.MessageThreadID == topic && strings.Contains(m.Text, "Trash a1")
	})
	p.ok(err)
	p.shows(old, "Shown again below")
	p.confirms(p.olga, fresh, "Approved.")
	p.answered(pending, approval.DecisionApproved)
	p.shows(fresh, "Approved by Olga")
	p.shows(old, "Approved by Olga")
	cards := 0
	for _, m := range p.sim.BotMessages(forumID) {
		if strings.Contains(m.Text, "Trash a1") {
			cards++
		}
	}
	if cards != 2 {
		t.Errorf("%d cards stand in the forum", cards)
	}
}

func TestShowToAReaderIsACopy(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "iris")
	card := p.card(annID, "a1")
	row, err := p.client.Row(p.ctx, "a1")
	p.ok(err)
	p.ben.Send(benID, "/show "+row.Ref)
	mine := p.card(benID, "a1")
	for _, button := range []string{"Trash them", "Reject", "Yes"} {
		if _, ok := mine.Button(button); ok {
			t.Errorf("a reader's copy has the button %q", button)
		}
	}
	p.confirms(p.ann, card, "Approved.")
	p.answered(pending, approval.DecisionApproved)
	p.shows(mine, "Approved by Ann")
}

func TestTypedHaltAsks(t *testing.T) {
	p := newPlay(t)
	pending := p.asked("a1", "iris", func(data map[string]any) {
		delete(data, "tool")
		delete(data, "arguments")
		data["kind"], data["card"] = "halt", map[string]any{"title": "Trash a1 stopped"}
	})
	p.card(annID, "a1")
	p.asks(p.ann.Send(annID, "approve"))
	p.open("a1")
	p.reply(p.ann.Send(annID, "yes"), "Approved.")
	p.answered(pending, approval.DecisionApproved)
}
