package main

import (
	"context"
	"fmt"
	"time"

	"countersign/delivery"
	"countersign/simulator/page"
)

// Board implements [page.Faults].
func (f *demoFaults) Board() (page.Board, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return page.Board{
		Parts: f.parts(), Faults: f.faults(),
		Behind: f.catchUp.behind, Log: append([]page.Happening(nil), f.happens...),
	}, f.turned
}

// parts says how everything is. The caller holds mu.
func (f *demoFaults) parts() []page.Part {
	telegram := page.Part{Name: "Telegram", State: "up", OK: true}
	switch {
	case !f.shut.IsZero():
		telegram = page.Part{Name: "Telegram", State: "answers 429", Until: f.shut}
	case f.slow != nil:
		telegram = page.Part{Name: "Telegram", State: "slow"}
	}
	redis := page.Part{Name: "Redis", State: "up", OK: true}
	if !f.away.IsZero() {
		redis = page.Part{Name: "Redis", State: "down", Until: f.away}
	}
	list := []page.Part{f.botPart(), redis, telegram}
	if f.blocked {
		list = append(list, page.Part{Name: "Ann", State: "has blocked the bot"})
	}
	return list
}

func (f *demoFaults) botPart() page.Part {
	p := page.Part{Name: "Bot"}
	switch f.bot {
	case botDown:
		p.State = "down"
	case botStarting:
		p.State = "starting"
	case botStandsBy:
		p.State = "waits for the lease"
	case botServes:
		p.State, p.OK = "up", true
	}
	return p
}

// faults lists what can be pressed. The caller holds mu.
func (f *demoFaults) faults() []page.Fault {
	kill := page.Fault{
		Name: faultKill, Title: "Kill the bot", Ending: "Start it again", On: f.bot == botDown,
		Hint: fmt.Sprintf("By SIGKILL. Tap and ask meanwhile, then start it again: it takes up to %d s until the dead one's lease ends, and nothing was lost.",
			int(delivery.LeaseTTL.Seconds())),
	}
	if f.bot != botDown {
		kill.Command = fmt.Sprintf("kill -9 %d", f.process.pid())
	}
	return []page.Fault{
		kill,
		{
			Name: faultRedis, Title: "Restart Redis", On: !f.away.IsZero(), Until: f.away,
			Hint: fmt.Sprintf("It is away for %s. A tap is answered with words, and tried until it counts.", f.pace.outage),
		},
		{
			Name: faultSlow, Title: "Slow Telegram", Ending: "Make it quick again", On: f.slow != nil,
			Hint: fmt.Sprintf("Every call takes %s longer. Taps still count once each.", f.pace.slow),
		},
		{
			Name: faultFlood, Title: fmt.Sprintf("429 for %s", f.pace.flood), On: !f.shut.IsZero(), Until: f.shut,
			Hint: "Telegram takes no message. Answers still count; cards follow when the time is over.",
		},
		{
			Name: faultBlock, Title: "Ann blocks the bot", Ending: "Ann unblocks it", On: f.blocked,
			Hint: "Her cards stand still; Olga can still answer. What nobody can be asked is refused.",
		},
	}
}

// catchUp follows how cards and events get on in a trouble and after it.
type catchUp struct {
	on     bool
	since  time.Time // the end of the trouble; zero: it lasts
	had    bool      // there was something to catch up with
	behind []page.Behind
}

// follow measures what waits, as long as there is a trouble or something to catch up
// with, and says when all is well again.
func (f *demoFaults) follow(ctx context.Context) {
	f.mu.Lock()
	c := f.catchUp
	troubled, reachable := f.troubled(), f.away.IsZero()
	f.mu.Unlock()
	if troubled {
		c.on, c.since = true, time.Time{}
	}
	if !c.on {
		return
	}
	if !troubled && c.since.IsZero() {
		c.since = f.now()
	}
	if reachable {
		if behind, err := f.lag.measure(ctx); err == nil {
			c.behind = behind
		} else {
			reachable = false
		}
	}
	c.had = c.had || len(c.behind) > 0
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := fmt.Sprint(c.behind) != fmt.Sprint(f.catchUp.behind)
	f.catchUp = c
	switch {
	case !troubled && reachable && len(c.behind) == 0:
		f.catchUp = catchUp{}
		if c.had {
			f.say("Everything has caught up, %.1f s later.", f.now().Sub(c.since).Seconds())
			return
		}
	}
	if changed {
		f.wake()
	}
}

// troubled reports whether anything is amiss. The caller holds mu.
func (f *demoFaults) troubled() bool {
	for _, p := range f.parts() {
		if !p.OK {
			return true
		}
	}
	return false
}
