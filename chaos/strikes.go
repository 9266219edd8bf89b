package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"syscall"
	"time"

	"countersign/chaos/verdict"
	"countersign/simulator"
)

// storm carries the schedule out at the pace of what is asked. It returns when
// every strike is over and everything runs again.
func (r *run) storm(ctx context.Context, asked *pace) {
	var under sync.WaitGroup
	defer under.Wait()
	for _, s := range schedule(r.options.seed, r.options.bots, r.options.webhook, r.options.over) {
		if !asked.await(ctx, s.at) {
			return
		}
		under.Go(func() { r.strike(ctx, s) })
	}
}

// strike does one thing.
func (r *run) strike(ctx context.Context, s strike) {
	switch s.kind {
	case killLeader, killAny:
		r.killBot(ctx, s)
	case terminate:
		r.terminateBot(ctx, s)
	case freezeLeader, freezeAny:
		r.freezeBot(ctx, s)
	case cutOne, cutAll, stallOne, snipOne, slowAll:
		r.cutOff(ctx, s)
	case tgBlocked, tgDeleted, tgNoise, hookTwice, hookLost:
		r.oddUpdate(ctx, s)
	case killRedis, freezeRedis, flushScripts, dropGroup, outOfMemory, readOnly, dropClients:
		r.strikeRedis(ctx, s)
	default:
		r.strikeTelegram(ctx, s)
	}
}

// struck is the bot that a strike means: the leader where there is one.
func (r *run) struck(ctx context.Context, s strike) (n int, leads bool) {
	leader := r.db.leader(ctx)
	if (s.kind == killLeader || s.kind == freezeLeader) && leader >= 0 && leader < len(r.bots) {
		return leader, true
	}
	return s.bot, s.bot == leader
}

func (r *run) killBot(ctx context.Context, s strike) {
	n, leads := r.struck(ctx, s)
	b := r.bots[n]
	b.control.Lock()
	defer b.control.Unlock()
	end := r.ledger.strike(s.kind, n)
	b.kill()
	end()
	if leads {
		r.measure(ctx, "cards are drawn again after the leader was killed")
	}
	pause(ctx, s.last)
	r.revive(n)
}

// revive starts a bot that was ended.
func (r *run) revive(n int) {
	if err := r.bots[n].start(); err != nil {
		r.say("bot-%d cannot be started: %v", n, err)
	}
}

// stopWithin is how long a bot may take to stop, and some more for a machine
// that is busy.
const stopWithin = 14 * time.Second

func (r *run) terminateBot(ctx context.Context, s strike) {
	b := r.bots[s.bot]
	b.control.Lock()
	defer b.control.Unlock()
	if !b.serving(30 * time.Second) {
		return // a program that has not begun yet may end at once
	}
	end := r.ledger.strike(s.kind, s.bot)
	begun := time.Now()
	b.signal(syscall.SIGTERM)
	select {
	case <-b.done():
		r.took("a stop", time.Since(begun))
		if err := b.exit(); err != nil {
			r.say("bot-%d did not stop cleanly: %v", s.bot, err)
		}
	case <-time.After(stopWithin):
		r.say("bot-%d did not stop within %v", s.bot, stopWithin)
		b.kill()
	}
	end()
	pause(ctx, s.last)
	r.revive(s.bot)
}

func (r *run) freezeBot(ctx context.Context, s strike) {
	n, _ := r.struck(ctx, s)
	b := r.bots[n]
	b.control.Lock()
	defer b.control.Unlock()
	end := r.ledger.strike(s.kind, n)
	defer end()
	b.signal(syscall.SIGSTOP)
	pause(ctx, s.last)
	b.signal(syscall.SIGCONT)
}

// cutOff breaks the way between bots and Redis.
func (r *run) cutOff(ctx context.Context, s strike) {
	hit, who := []*cutter{r.bots[s.bot].cutter}, s.bot
	if s.kind == cutAll || s.kind == slowAll {
		who, hit = -1, nil
		for _, b := range r.bots {
			hit = append(hit, b.cutter)
		}
	}
	end := r.ledger.strike(s.kind, who)
	defer end()
	m := map[string]mode{cutOne: cut, cutAll: cut, stallOne: stalling, slowAll: slow}[s.kind]
	for _, c := range hit {
		if s.kind == snipOne {
			c.snipAfter(s.n)
			continue
		}
		c.set(m)
	}
	pause(ctx, s.last)
	for _, c := range hit {
		c.set(passing)
		c.snipAfter(0)
	}
}

// strikeRedis strikes the server itself.
func (r *run) strikeRedis(ctx context.Context, s strike) {
	r.db.control.Lock()
	defer r.db.control.Unlock()
	end := r.ledger.strike(s.kind, -1)
	defer end()
	rdb := r.db.client
	switch s.kind {
	case killRedis:
		r.db.kill()
		pause(ctx, s.last/2)
		if err := r.db.up(context.WithoutCancel(ctx)); err != nil {
			r.say("Redis: %v", err)
		}
		r.measure(ctx, "cards are drawn again after Redis is back")
	case freezeRedis:
		r.db.freeze(ctx, s.last)
	case flushScripts:
		_ = rdb.ScriptFlush(ctx).Err()
	case dropGroup:
		_ = rdb.XGroupDestroy(ctx, keyOf("requests"), "countersign").Err()
	case outOfMemory:
		_ = rdb.ConfigSet(ctx, "maxmemory", "1").Err()
		pause(ctx, s.last/2)
		r.insist(ctx, "config", "set", "maxmemory", "0")
	case readOnly:
		// A replica of nobody that ever answers: it refuses writes and keeps its data.
		_ = rdb.Do(ctx, "replicaof", "127.0.0.1", "1").Err()
		pause(ctx, s.last/2)
		r.insist(ctx, "replicaof", "no", "one")
	case dropClients:
		_ = rdb.Do(ctx, "client", "kill", "type", "normal", "skipme", "yes").Err()
	}
}

// insist sends a command to Redis until it is taken.
func (r *run) insist(ctx context.Context, command ...any) {
	ctx = context.WithoutCancel(ctx)
	for r.db.client.Do(ctx, command...).Err() != nil {
		pause(ctx, 50*time.Millisecond)
	}
}

// strikeTelegram has calls of the Bot API fail for a while, or a number of them.
func (r *run) strikeTelegram(ctx context.Context, s strike) {
	writing := func(c simulator.Call) bool {
		return c.Method != "getUpdates" && c.Method != "getMe" && c.Method != "setWebhook"
	}
	f := simulator.Fault{Count: s.n, When: writing}
	chats := chatIDs()
	switch s.kind {
	case tg429Chat:
		f.Chat, f.Count = chats[s.pick%len(chats)], 0
		f.Code, f.Description = 429, "Too Many Requests: retry after 1"
		f.Parameters = &simulator.Parameters{RetryAfter: 1}
	case tg429All:
		f.Code, f.Description = 429, "Too Many Requests: retry after 2"
		f.Parameters = &simulator.Parameters{RetryAfter: 2}
	case tgGateway:
		f.Kind = simulator.BadGateway
	case tgCutJSON:
		f.Kind = simulator.CutJSON
	case tgNotOK:
		f.Kind = simulator.NotOK
	case tgReset:
		f.Kind = simulator.Reset
	case tgLost:
		f.Kind, f.Applied = simulator.Reset, true
	case tgHang:
		f.Kind = simulator.Hang
	case tgSlow:
		f.Kind, f.Delay = simulator.SlowBody, s.last
	case tgLate:
		f.Kind, f.Delay = simulator.Late, 7*time.Second // longer than any call waits
	case tgConflict:
		f.Method, f.When, f.Count = "getUpdates", nil, 1
		f.Code, f.Description = 409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
	case tgPollLost:
		f.Method, f.When, f.Kind, f.Applied = "getUpdates", nil, simulator.Reset, true
	}
	h := r.sim.Fault(f)
	pause(ctx, s.last)
	h.Remove()
	r.ledger.counted(s.kind+" (calls)", h.Hits())
}

// oddUpdate does what people and Telegram do of themselves.
func (r *run) oddUpdate(ctx context.Context, s strike) {
	switch s.kind {
	case tgBlocked:
		r.dora.Lock()
		defer r.dora.Unlock()
		r.ledger.counted(s.kind, 1)
		r.sim.Person(doraID).Block()
		pause(ctx, s.last)
		r.sim.Person(doraID).Unblock()
	case tgDeleted:
		place, ok := r.hub.anyCard(s.pick)
		if !ok {
			return
		}
		if m, ok := r.sim.Message(place.Chat, place.Message); ok {
			r.ledger.delete(place)
			r.ledger.counted(s.kind, 1)
			r.sim.Delete(m)
		}
	case tgNoise:
		for i := range s.n {
			raw, err := json.Marshal(map[string]any{
				[]string{"message_reaction", "business_message", "callback_query", "message", "shrug"}[(s.pick+i)%5]: map[string]any{"odd": s.pick},
			})
			if err == nil {
				_, _ = r.sim.InjectUpdate(raw)
			}
		}
		r.ledger.counted(s.kind, s.n)
	case hookTwice, hookLost:
		what := deliveredTwice
		if s.kind == hookLost {
			what = answerLost
		}
		r.odd(what, s.n)
		r.ledger.counted(s.kind, s.n)
	}
}

// anyCard picks one of the newest cards.
func (h *hub) anyCard(pick int) (verdict.Place, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.newest) == 0 {
		return verdict.Place{}, false
	}
	return h.newest[pick%len(h.newest)], true
}

// chatIDs are the chats of all routes.
func chatIDs() []int64 {
	var all []int64
	for _, r := range routes() {
		all = append(all, r.chats...)
	}
	return all
}

// measure waits until a card is sent or edited, and keeps how long that took.
func (r *run) measure(ctx context.Context, what string) {
	begun := time.Now()
	go func() {
		for pause(ctx, 50*time.Millisecond) {
			if at, ok := r.front.drawnAfter(begun); ok {
				r.took(what, at.Sub(begun))
				return
			}
		}
	}()
}

// drawnAfter is when a card was first drawn after a moment.
func (f *front) drawnAfter(after time.Time) (at time.Time, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.calls) - 1; i >= 0 && f.calls[i].Until.After(after); i-- {
		if c := f.calls[i]; c.OK && c.Kind == verdict.ACard && c.From.After(after) {
			at, found = c.Until, true
		}
	}
	return at, found
}

// keyOf names a key of the run's namespace.
func keyOf(parts ...string) string {
	key := "{" + namespace + "}"
	for _, p := range parts {
		key = fmt.Sprintf("%s:%s", key, p)
	}
	return key
}
