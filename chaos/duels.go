package main

import (
	"context"
	"os/exec"
	"time"

	"countersign/cards"
	"countersign/chaos/verdict"
	"countersign/simulator"
)

// duel has one owner say Yes while another rejects.
func (p *person) duel(ctx context.Context) {
	owners := p.plan.route.owners
	other := owners[0]
	if other == p.plan.who {
		other = owners[1]
	}
	if !p.tapWhere(ctx, p.plan.who, cards.LetterAction) {
		return
	}
	m, ok := p.found(ctx, glance, func(m simulator.Message) bool { return button(m, cards.LetterYes) != "" && m.Chat.ID < 0 })
	if !ok { // in a direct chat nobody else sees the card
		p.tapWhere(ctx, p.plan.who, cards.LetterYes)
		p.tapWhere(ctx, other, cards.LetterReject)
		return
	}
	pause(ctx, 300*time.Millisecond)
	p.press(p.plan.who, m, button(m, cards.LetterYes), true)
	p.press(other, m, button(m, cards.LetterReject), true)
}

// nearDeadline opens the step and taps Yes as the deadline passes.
func (p *person) nearDeadline(ctx context.Context) {
	if !p.tapWhere(ctx, p.plan.who, cards.LetterAction) {
		return
	}
	ms, err := p.db.client.HGet(ctx, keyOf("row", p.plan.id), "expires_at").Int64()
	if err != nil {
		return
	}
	early := time.Duration(p.rng.IntN(120)-40) * time.Millisecond
	pause(ctx, max(time.Until(time.UnixMilli(ms))-early, 0))
	p.tapWhere(ctx, p.plan.who, cards.LetterYes)
}

// order answers at the command line.
func (p *person) order(ctx context.Context, word string) {
	p.found(ctx, time.Minute, func(m simulator.Message) bool { return button(m, cards.LetterReject) != "" })
	for try := 0; try < 20 && ctx.Err() == nil; try++ {
		at := time.Now()
		err := exec.CommandContext(ctx, p.bot, "--config", p.operatorConfig, "answer", p.plan.id, word).Run()
		p.ledger.ordered(verdict.Order{ID: p.plan.id, Decision: word + map[string]string{"approve": "d", "reject": "ed"}[word], At: at, Done: err == nil})
		if err == nil || p.settledRow(ctx) || !pause(ctx, time.Second) {
			return
		}
	}
}
