package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign/simulator"
	"countersign/simulator/page"
)

// Faults by name.
const (
	faultKill  = "kill"  // the bot's process
	faultRedis = "redis" // is away for a while
	faultSlow  = "slow"  // Telegram
	faultFlood = "flood" // Telegram takes nothing for a while
	faultBlock = "block" // Ann blocks the bot
)

// demoFaults brings troubles about and says how everything fares. It implements
// [page.Faults] and is safe for concurrent use.
type demoFaults struct {
	now           func() time.Time
	pace          demoPace
	sim           *simulator.Server
	mini          *miniredis.Miniredis
	configuration []byte    // of the bot
	log           io.Writer // what the bot logs
	lag           demoLag

	acting sync.Mutex // held while a fault is begun or ended, so that none is begun twice

	mu      sync.Mutex // guards everything below
	process *demoProcess
	bot     botState
	away    time.Time // when Redis is back; zero: it is there
	shut    time.Time // when Telegram takes messages again; zero: it does
	slow    *simulator.FaultHandle
	blocked bool
	catchUp catchUp
	happens []page.Happening
	turned  chan struct{} // closed when the board changes
}

// botState says how the bot's process is.
type botState int

const (
	botDown     botState = iota
	botStarting          // it is not ready yet
	botStandsBy          // it is ready, and another one's lease still counts
	botServes
)

// happeningsKept is how many the page shows.
const happeningsKept = 30

// say keeps what happened and wakes those who watch. The caller holds mu.
func (f *demoFaults) say(format string, args ...any) {
	f.happens = append(f.happens, page.Happening{At: f.now(), Text: fmt.Sprintf(format, args...)})
	f.happens = f.happens[max(0, len(f.happens)-happeningsKept):]
	f.wake()
}

// wake wakes those who watch. The caller holds mu.
func (f *demoFaults) wake() {
	close(f.turned)
	f.turned = make(chan struct{})
}

// Begin implements [page.Faults].
func (f *demoFaults) Begin(_ context.Context, fault string) error {
	f.acting.Lock()
	defer f.acting.Unlock()
	switch fault {
	case faultKill:
		f.kill()
	case faultRedis:
		f.takeRedisAway()
	default:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.troubleTelegram(fault)
	}
	return nil
}

// End implements [page.Faults].
func (f *demoFaults) End(_ context.Context, fault string) error {
	f.acting.Lock()
	defer f.acting.Unlock()
	switch fault {
	case faultKill:
		return f.start()
	case faultRedis:
		return f.bringRedisBack()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.relieveTelegram(fault)
	return nil
}

// start starts the bot, unless it is there.
func (f *demoFaults) start() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bot != botDown {
		return nil
	}
	p, err := startProcess(f.configuration, f.log)
	if err != nil {
		return err
	}
	f.process, f.bot = p, botStarting
	f.say("The bot was started: process %d.", p.pid())
	return nil
}

// kill kills the bot's process, if there is one.
func (f *demoFaults) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bot == botDown {
		return
	}
	f.process.kill()
	f.bot = botDown
	f.say("The bot was killed: SIGKILL to process %d, in the middle of whatever it did.", f.process.pid())
}

// takeRedisAway closes the embedded server. It comes back by itself.
func (f *demoFaults) takeRedisAway() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.away.IsZero() {
		return
	}
	f.mini.Close()
	f.away = f.now().Add(f.pace.outage)
	f.say("Redis went away. Nobody can be asked, and nothing can be answered.")
}

// bringRedisBack lets the embedded server go on with its data, at its old address.
func (f *demoFaults) bringRedisBack() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away.IsZero() {
		return nil
	}
	// Its reads that block look at this context, which Close has ended.
	f.mini.Lock()
	f.mini.Ctx, f.mini.CtxCancel = context.WithCancel(context.Background())
	f.mini.Unlock()
	if err := f.mini.Restart(); err != nil {
		return fmt.Errorf("start Redis again: %w", err)
	}
	f.away = time.Time{}
	f.say("Redis is back, with its data.")
	return nil
}

// troubleTelegram begins what befalls Telegram. The caller holds mu.
func (f *demoFaults) troubleTelegram(fault string) {
	switch {
	case fault == faultSlow && f.slow == nil:
		f.slow = f.sim.Fault(simulator.Fault{Kind: simulator.Slow, Delay: f.pace.slow})
		f.say("Telegram became slow: every call takes %s longer.", spoken(f.pace.slow))
	case fault == faultFlood && f.shut.IsZero():
		f.shut = f.now().Add(f.pace.flood)
		f.sim.Shut(f.shut)
		f.say("Telegram answers 429: the bot may neither send nor edit for %s.", spoken(f.pace.flood))
	case fault == faultBlock && !f.blocked:
		f.blocked = true
		f.sim.Person(demoAnn).Block()
		f.say("Ann blocked the bot.")
	}
}

// relieveTelegram ends what befell Telegram. The caller holds mu.
func (f *demoFaults) relieveTelegram(fault string) {
	switch {
	case fault == faultSlow && f.slow != nil:
		f.slow.Remove()
		f.slow = nil
		f.say("Telegram is as quick as ever.")
	case fault == faultFlood && !f.shut.IsZero():
		f.shut = time.Time{}
		f.sim.Shut(f.shut)
		f.say("Telegram takes messages again.")
	case fault == faultBlock && f.blocked:
		f.blocked = false
		f.sim.Person(demoAnn).Unblock()
		f.say("Ann unblocked the bot.")
	}
}

// lookEvery is how often the state of things is looked at.
const lookEvery = 150 * time.Millisecond

// Run watches over everything until ctx ends, and then stops the bot.
func (f *demoFaults) Run(ctx context.Context) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return f.stop()
		case <-look.C:
			if err := f.look(ctx); err != nil {
				return err
			}
		}
	}
}

// look ends what ends by itself, and follows how the bot gets on.
func (f *demoFaults) look(ctx context.Context) error {
	now := f.now()
	f.mu.Lock()
	back := !f.away.IsZero() && !now.Before(f.away)
	open := !f.shut.IsZero() && !now.Before(f.shut)
	f.followBot()
	f.mu.Unlock()
	for fault, over := range map[string]bool{faultRedis: back, faultFlood: open} {
		if !over {
			continue
		}
		if err := f.End(ctx, fault); err != nil {
			return err
		}
	}
	f.follow(ctx)
	return nil
}

// followBot notes how the bot's process gets on. The caller holds mu.
func (f *demoFaults) followBot() {
	if f.bot == botDown {
		return
	}
	select {
	case <-f.process.done:
		f.bot = botDown
		f.say("The bot's process %d ended: %s.", f.process.pid(), strings.TrimSpace(f.process.cmd.ProcessState.String()))
		return
	default:
	}
	select {
	case <-f.process.ready:
	default:
		return
	}
	switch {
	case f.bot != botServes && f.sim.Polling():
		f.bot = botServes
		f.say("The bot listens to Telegram.")
	case f.bot == botStarting:
		f.bot = botStandsBy
		f.wake()
	}
}

// stop stops the bot cleanly. It needs Redis for that.
func (f *demoFaults) stop() error {
	f.acting.Lock()
	defer f.acting.Unlock()
	if err := f.bringRedisBack(); err != nil {
		return err
	}
	f.mu.Lock()
	p := f.process
	if f.bot == botDown {
		p = nil
	}
	f.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.stop()
}
