package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// What can be done to a run.
const (
	killLeader   = "bot.kill the leader"
	killAny      = "bot.kill one of them"
	terminate    = "bot.term one of them"
	freezeLeader = "bot.stop the leader for longer than its lease"
	freezeAny    = "bot.stop one of them"

	killRedis    = "redis.kill"
	freezeRedis  = "redis.stop"
	flushScripts = "redis.script flush"
	dropGroup    = "redis.group destroyed"
	outOfMemory  = "redis.out of memory"
	readOnly     = "redis.read-only"
	dropClients  = "redis.client kill"

	cutOne   = "net.cut one bot"
	cutAll   = "net.cut all bots"
	stallOne = "net.stall one bot"
	snipOne  = "net.cut within a command"
	slowAll  = "net.slow"

	tg429Chat  = "telegram.429 in one chat"
	tg429All   = "telegram.429 everywhere"
	tg500      = "telegram.500"
	tgGateway  = "telegram.502 in HTML"
	tgCutJSON  = "telegram.cut JSON after the effect"
	tgNotOK    = "telegram.200 with ok:false"
	tgReset    = "telegram.reset before the effect"
	tgLost     = "telegram.reset after the effect"
	tgHang     = "telegram.hang"
	tgSlow     = "telegram.slow body"
	tgLate     = "telegram.late after the effect"
	tgConflict = "telegram.409 to the poller"
	tgPollLost = "telegram.updates lost on their way"
	tgBlocked  = "telegram.an owner blocks the bot"
	tgDeleted  = "telegram.a card is deleted"
	tgNoise    = "telegram.updates that are none of ours"
	hookTwice  = "webhook.delivered twice"
	hookLost   = "webhook.answer lost"
)

// heavy are the strikes against processes, Redis and the network, as often as
// they come in a minute.
func heavy() []string {
	return []string{
		killLeader, killLeader, killAny, killAny, terminate, freezeLeader, freezeAny, freezeAny,
		killRedis, killRedis, freezeRedis, flushScripts, dropGroup, outOfMemory, readOnly, dropClients,
		cutOne, cutOne, cutAll, stallOne, stallOne, snipOne, snipOne, snipOne, slowAll,
	}
}

// light are Telegram's faults.
func light(webhook bool) []string {
	all := []string{
		tg429Chat, tg429All, tg500, tgGateway, tgCutJSON, tgNotOK, tgReset, tgLost, tgHang, tgSlow, tgLate,
		tgBlocked, tgDeleted, tgDeleted, tgNoise,
	}
	if webhook {
		return append(all, hookTwice, hookLost)
	}
	return append(all, tgConflict, tgPollLost)
}

// A strike is one fault to come.
type strike struct {
	at   time.Duration // by the pace of what is asked
	kind string
	bot  int           // where the kind names none
	last time.Duration // how long it lasts
	n    int           // how many calls, bytes or the like it strikes
	pick int           // chooses among what is there then
}

// schedule draws the strikes of a run. The same arguments draw the same.
func schedule(seed uint64, bots int, webhook bool, over time.Duration) []strike {
	rng := rand.New(rand.NewPCG(seed, 2))
	list := append(
		spread(rng, heavy(), bots, over, time.Minute),
		spread(rng, light(webhook), bots, over, 20*time.Second)...)
	for i := range list {
		list[i].at = min(list[i].at, asking(over)*99/100) // while there is still something to ask
	}
	slices.SortStableFunc(list, func(a, b strike) int { return int(a.at - b.at) })
	return list
}

// spread deals a deck over a time, anew each time it is through; round is how
// long it takes.
func spread(rng *rand.Rand, deck []string, bots int, over, round time.Duration) []strike {
	const calm = 2 * time.Second // at the start
	gap := round / time.Duration(len(deck))
	var list []strike
	var left []string
	for at := calm; at < over; at += gap {
		if len(left) == 0 {
			left = slices.Clone(deck)
			rng.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		}
		s := strike{
			at: at + time.Duration(rng.Int64N(int64(gap))), kind: left[0], bot: rng.IntN(bots),
			last: 300*time.Millisecond + time.Duration(rng.Int64N(int64(2500*time.Millisecond))),
			n:    1 + rng.IntN(12), pick: rng.IntN(1 << 20),
		}
		switch s.kind {
		case freezeLeader:
			s.last = 10*time.Second + time.Duration(rng.Int64N(int64(3*time.Second)))
		case snipOne:
			s.n = 1 + rng.IntN(4000)
		case tgHang, tgLate:
			s.n = 1 + rng.IntN(3)
		}
		left = left[1:]
		list = append(list, s)
	}
	return list
}

// asking is the part of a run's time in which approvals are asked.
func asking(over time.Duration) time.Duration { return over * 95 / 100 }

// A pace is how far asking has come, in the plan's time. Strikes keep to it: on a
// slow machine the storm is longer, and not deeper. It is safe for concurrent use.
type pace struct {
	mu   sync.Mutex // guards what follows
	at   time.Duration
	news chan struct{} // closed when at rises
}

func newPace() *pace { return &pace{news: make(chan struct{})} }

// reach says that everything before a time is asked.
func (p *pace) reach(at time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
	close(p.news)
	p.news = make(chan struct{})
}

// await waits until a time is reached, and reports false where ctx ended first.
func (p *pace) await(ctx context.Context, at time.Duration) bool {
	for {
		p.mu.Lock()
		reached, news := p.at >= at, p.news
		p.mu.Unlock()
		if reached {
			return true
		}
		select {
		case <-news:
		case <-ctx.Done():
			return false
		}
	}
}
