package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"countersign/cards"
	"countersign/chaos/verdict"
	"countersign/simulator"
)

// glance is how long somebody waits for a card to change before they try again.
const glance = 4 * time.Second

// A person acts on one approval, as a person does: they look, tap what they see,
// look again, and go on until the card says how it ended.
type person struct {
	*run
	plan plan
	rng  *rand.Rand
}

// answer has somebody do what is planned.
func (p *person) answer(ctx context.Context) {
	switch p.plan.fate {
	case unanswered, strange, takenBack, takenFirst, malformed:
		return
	case operatorYes:
		p.order(ctx, "approve")
		return
	case operatorNo:
		p.order(ctx, "reject")
		return
	}
	if p.plan.fate == lastMoment {
		p.nearDeadline(ctx)
		return
	}
	for try := 0; !p.ended(ctx); try++ {
		if _, ok := p.card(ctx, p.plan.who); !ok && try > 0 {
			p.bringBack(ctx, p.plan.who)
		}
		if p.plan.route.quorum > 1 && p.approving() {
			for _, who := range p.plan.route.owners {
				p.approve(ctx, who, try)
				p.found(ctx, glance/4, over)
			}
			p.found(ctx, patience(try), over)
			continue
		}
		switch p.plan.fate {
		case noButton:
			p.tapWhere(ctx, p.plan.who, cards.LetterReject)
		case noWord:
			p.say(ctx, p.plan.who, "/reject", " not these")
		case duel:
			p.duel(ctx)
		default:
			p.approve(ctx, p.plan.who, try)
		}
		p.found(ctx, patience(try), over)
	}
}

// patience is how long somebody waits for what they did to show, before they do it
// again: longer each time.
func patience(try int) time.Duration { return glance * time.Duration(min(1+try, 5)) }

func (p *person) approving() bool {
	return p.plan.fate != noButton && p.plan.fate != noWord && p.plan.fate != duel
}

// ended reports whether a card shows how it ended, or nobody waits any longer.
func (p *person) ended(ctx context.Context) bool {
	_, ok := p.found(ctx, time.Millisecond, over)
	return ok || ctx.Err() != nil || p.settledRow(ctx)
}

// settledRow reports whether the row has its answer. People cannot see that; it
// keeps them from trying for ever where their chat is out.
func (p *person) settledRow(ctx context.Context) bool {
	state, err := p.db.client.HGet(ctx, keyOf("row", p.plan.id), "state").Result()
	return err == nil && state != "open"
}

// found waits for a message about the approval.
func (p *person) found(ctx context.Context, within time.Duration, fits func(simulator.Message) bool) (simulator.Message, bool) {
	return p.hub.find(ctx, p.plan.id, within, fits)
}

// approve goes all the way to a Yes, unless something comes between.
func (p *person) approve(ctx context.Context, who int64, try int) {
	fate := p.plan.fate
	switch {
	case p.plan.halt:
		p.tapWhere(ctx, who, cards.LetterAction)
	case fate == byCommand && try%2 == 0:
		p.yes(ctx, who, p.say(ctx, who, "/approve", ""))
	case fate == byReply && try%2 == 0:
		p.yes(ctx, who, p.replyTo(ctx, who, "approve"))
	case fate == mixed && try%2 == 0:
		p.replyTo(ctx, who, "Approve.")
		p.tapWhere(ctx, who, cards.LetterYes)
	default:
		p.tapWhere(ctx, who, cards.LetterAction)
		if fate == hesitant && try == 0 {
			p.tapWhere(ctx, who, cards.LetterCancel)
			p.tapWhere(ctx, who, cards.LetterAction)
		}
		if fate == withdrawRace {
			go p.withdraw(ctx)
		}
		p.tapWhere(ctx, who, cards.LetterYes)
		if p.rng.IntN(8) == 0 {
			p.tapWhere(ctx, who, cards.LetterYes) // a nervous finger
		}
	}
}

// tapWhere waits for a button with a letter in a chat of somebody's, and taps it
// after a moment of thought. It reports whether there was one.
func (p *person) tapWhere(ctx context.Context, who int64, letter byte) bool {
	m, ok := p.found(ctx, glance, func(m simulator.Message) bool {
		return button(m, letter) != "" && (m.Chat.ID < 0 || m.Chat.ID == who)
	})
	if !ok {
		return false
	}
	if letter == cards.LetterYes {
		pause(ctx, time.Duration(p.rng.IntN(700))*time.Millisecond) // also before the dwell is over
	}
	for range 2 {
		tap := p.press(who, m, button(m, letter), false)
		if tap == "" || !p.hub.toast(ctx, tap, 2*glance) { // the button glows so long
			break
		}
		if a, _ := p.sim.Answer(tap); !strings.Contains(a.Text, "too quick") {
			break
		}
		pause(ctx, dwell)
	}
	return true
}

// press taps, and writes down that it did. It waits for nothing.
func (r *run) press(who int64, m simulator.Message, data string, forged bool) (id string) {
	at := time.Now()
	id, err := r.sim.Person(who).Press(simulator.Press{Chat: m.Chat.ID, Message: m.MessageID, Data: &data, Forged: forged})
	if err != nil {
		return "" // the button has gone meanwhile
	}
	r.ledger.tap(verdict.Tap{ID: id, By: who, Chat: m.Chat.ID, Message: m.MessageID, Data: data, At: at, Forged: forged})
	return id
}

// write writes a message about the approval and returns its id, 0 where it cannot be
// written.
func (p *person) write(who, chat, replyTo int64, text string) (message int64) {
	at := time.Now()
	m, err := p.sim.Person(who).Post(simulator.Draft{Chat: chat, ReplyTo: replyTo, Text: text})
	if err != nil {
		return 0
	}
	p.ledger.word(verdict.Word{By: who, Chat: chat, Message: m.MessageID, ReplyTo: replyTo, Approval: p.plan.id, Text: text, At: at})
	return m.MessageID
}

// card is the newest open card that somebody sees.
func (p *person) card(ctx context.Context, who int64) (simulator.Message, bool) {
	return p.found(ctx, glance, func(m simulator.Message) bool {
		return (button(m, cards.LetterAction) != "" || button(m, cards.LetterYes) != "") && (m.Chat.ID < 0 || m.Chat.ID == who)
	})
}

// bringBack asks for the card where it is gone, since somebody deleted it.
func (p *person) bringBack(ctx context.Context, who int64) {
	name := p.hub.remembered(p.plan.id)
	if name == "" {
		return
	}
	chat := p.plan.route.chats[0]
	if chat > 0 {
		who = chat
	}
	p.ledger.change(p.plan.id, func(a *verdict.Asked) { a.Shown[chat]++ })
	p.write(who, chat, 0, "/show "+name)
	p.card(ctx, who)
}

// say writes a command with the reference that a card shows.
func (p *person) say(ctx context.Context, who int64, command, rest string) (message int64) {
	m, ok := p.card(ctx, who)
	if !ok {
		return 0
	}
	return p.write(who, m.Chat.ID, 0, command+" "+ref(m)+rest)
}

// replyTo replies to the card.
func (p *person) replyTo(ctx context.Context, who int64, text string) (message int64) {
	m, ok := p.card(ctx, who)
	if !ok {
		return 0
	}
	return p.write(who, m.Chat.ID, m.MessageID, text)
}

// asksForYes is how a question can be told.
const asksForYes = "to this message within"

// yes replies to the question that came of a word, or to the card where none was
// asked.
func (p *person) yes(ctx context.Context, who, word int64) {
	m, ok := p.found(ctx, glance, func(m simulator.Message) bool {
		return m.MessageID > word && strings.Contains(m.Text, asksForYes) && (m.Chat.ID < 0 || m.Chat.ID == who)
	})
	if ok {
		p.write(who, m.Chat.ID, m.MessageID, "yes")
		return
	}
	p.replyTo(ctx, who, "yes")
}

// spy has a reader and strangers tap along: whatever they tap changes nothing.
func (p *person) spy(ctx context.Context) {
	for range 3 {
		m, ok := p.found(ctx, 20*time.Second, func(m simulator.Message) bool { return button(m, cards.LetterReject) != "" })
		if !ok {
			return
		}
		for _, who := range []int64{benID, samID, malID} {
			all := buttons(m.ReplyMarkup)
			data := all[p.rng.IntN(len(all))]
			switch {
			case m.Chat.ID > 0: // somebody else's chat: from their own, with its data
				own := simulator.Message{MessageID: m.MessageID, Chat: simulator.Chat{ID: who}}
				p.press(who, own, data, true)
			case p.rng.IntN(2) == 0:
				p.press(who, m, "y"+data[1:], true)
			default:
				p.press(who, m, data, false)
			}
			if m.Chat.ID < 0 && p.rng.IntN(3) == 0 {
				p.write(who, m.Chat.ID, m.MessageID, []string{"approve", "yes", "reject"}[p.rng.IntN(3)])
			}
		}
		pause(ctx, time.Duration(500+p.rng.IntN(1500))*time.Millisecond)
	}
}

// look has an owner turn pages, look at the exact call and have the card shown
// again.
func (p *person) look(ctx context.Context) {
	for _, letter := range []byte{cards.LetterExact, cards.LetterPage, cards.LetterExact} {
		m, ok := p.found(ctx, glance, func(m simulator.Message) bool {
			return button(m, letter) != "" && (m.Chat.ID < 0 || m.Chat.ID == p.plan.who)
		})
		if ok {
			p.press(p.plan.who, m, button(m, letter), false)
			pause(ctx, time.Duration(p.rng.IntN(800))*time.Millisecond)
		}
	}
	m, ok := p.card(ctx, p.plan.who)
	if !ok {
		return
	}
	if p.rng.IntN(2) == 0 {
		p.ledger.change(p.plan.id, func(a *verdict.Asked) { a.Shown[m.Chat.ID]++ })
		p.write(p.plan.who, m.Chat.ID, 0, fmt.Sprintf("/show %s", ref(m)))
	} else if m.Chat.ID < 0 {
		p.write(samID, m.Chat.ID, 0, "/pending")
	}
}
