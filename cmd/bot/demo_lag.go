package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/simulator"
	"countersign/simulator/page"
	"countersign/store"
)

// A demoLag measures what the bot has not caught up with, from outside: by what Telegram
// holds for it, by the requests that it has not read, and by cards that are not as their
// rows are. Its methods may be called from several goroutines.
type demoLag struct {
	sim   *simulator.Server
	rdb   redis.UniversalClient
	keys  store.Keys
	asked func() []string // approvals, by id
}

// measureWithin bounds one look.
const measureWithin = time.Second

// measure counts what waits, and leaves out what does not.
func (l demoLag) measure(ctx context.Context) ([]page.Behind, error) {
	ctx, cancel := context.WithTimeout(ctx, measureWithin)
	defer cancel()
	events, err := l.unread(ctx)
	if err != nil {
		return nil, err
	}
	stale, err := l.stale(ctx)
	if err != nil {
		return nil, err
	}
	all := []page.Behind{
		waiting(l.sim.PendingUpdates(), "tap or word", "taps or words"),
		waiting(events, "event of a runtime", "events of runtimes"),
		waiting(stale, "card", "cards"),
	}
	return slices.DeleteFunc(all, func(b page.Behind) bool { return b.Count == 0 }), nil
}

// waiting says how many of something wait.
func waiting(count int, one, more string) page.Behind {
	if count == 1 {
		return page.Behind{What: one, Count: count}
	}
	return page.Behind{What: more, Count: count}
}

// unread counts the events that the bot has not read, or not dealt with.
func (l demoLag) unread(ctx context.Context) (int, error) {
	groups, err := l.rdb.XInfoGroups(ctx, l.keys.Requests()).Result()
	if err != nil {
		return 0, fmt.Errorf("unread events: %w", err)
	}
	count := 0
	for _, g := range groups {
		waiting, err := l.rdb.XRange(ctx, l.keys.Requests(), "("+g.LastDeliveredID, "+").Result()
		if err != nil {
			return 0, fmt.Errorf("unread events: %w", err)
		}
		count += int(g.Pending) + len(waiting)
	}
	return count, nil
}

// stale counts the approvals of which a card is missing, or asks what is answered.
func (l demoLag) stale(ctx context.Context) (int, error) {
	rows := map[string]*redis.SliceCmd{}
	_, err := l.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, id := range l.asked() {
			rows[id] = p.HMGet(ctx, l.keys.Row(id), "state", "ref")
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("stale cards: %w", err)
	}
	messages := l.messages()
	count := 0
	for _, row := range rows {
		state, _ := row.Val()[0].(string)
		ref, _ := row.Val()[1].(string)
		if ref != "" && isStale(approval.State(state), ref, messages) {
			count++
		}
	}
	return count, nil
}

// messages are those of the bot, everywhere.
func (l demoLag) messages() []simulator.Message {
	var all []simulator.Message
	for _, p := range demoPeople() {
		all = append(all, l.sim.BotMessages(p.ID)...)
	}
	return append(append(all, l.sim.BotMessages(demoPayments)...), l.sim.BotMessages(demoOperations)...)
}

// isStale reports whether one of an approval's cards is not as its row is.
func isStale(state approval.State, ref string, messages []simulator.Message) bool {
	shown := false
	for _, m := range messages {
		if !strings.Contains(m.Text, "#"+ref) {
			continue
		}
		shown = true
		if _, asks := m.Button("Reject"); asks && state != approval.Open {
			return true
		}
	}
	return !shown && state != approval.Refused // what was refused at once never had a card
}
