package main

import (
	"context"
	"fmt"
	"strconv"
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
			Hint: fmt.Sprintf("It is away for %s. A tap is answered with words, and tried until it counts.", spoken(f.pace.outage)),
		},
		{
			Name: faultSlow, Title: "Slow Telegram", Ending: "Make it quick again", On: f.slow != nil,
			Hint: fmt.Sprintf("Every call takes %s longer. A tap still counts, and once.", spoken(f.pace.slow)),
		},
		{
			Name: faultFlood, Title: fmt.Sprintf("429 for %s", spoken(f.pace.flood)), On: !f.shut.IsZero(), Until: f.shut,
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
	had    bool      // something has waited
	behind []page.Behind
}

// follow measures what waits, from a trouble on until everything has caught up, and says
// how long that took.
func (f *demoFaults) follow(ctx context.Context) {
	f.mu.Lock()
	c, well, reachable := f.catchUp, f.well(), f.away.IsZero()
	switch {
	case f.troubled():
		c.on, c.since = true, time.Time{}
	case c.on && c.since.IsZero():
		c.since = f.now()
	}
	f.mu.Unlock()
	if !c.on {
		return
	}
	known := false
	if reachable {
		if behind, err := f.lag.measure(ctx); err == nil { // else what was known last stands
			c.behind, known = behind, true
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c.had = c.had || len(c.behind) > 0
	changed := fmt.Sprint(c.behind) != fmt.Sprint(f.catchUp.behind)
	f.catchUp = c
	switch {
	case well && known && len(c.behind) == 0 && !c.since.IsZero():
		f.catchUp = catchUp{}
		if !c.had {
			f.say("Nothing had to be caught up with.")
			return
		}
		f.say("Everything has caught up, %.1f s after the trouble ended.", f.now().Sub(c.since).Seconds())
	case changed:
		f.wake()
	}
}

// troubled reports whether a fault lasts. The caller holds mu.
func (f *demoFaults) troubled() bool {
	return f.bot == botDown || !f.away.IsZero() || !f.shut.IsZero() || f.slow != nil || f.blocked
}

// well reports whether every part is as it should be. The caller holds mu.
func (f *demoFaults) well() bool {
	for _, p := range f.parts() {
		if !p.OK {
			return false
		}
	}
	return true
}

// spoken writes a duration for people.
func spoken(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
}
