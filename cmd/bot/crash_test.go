//go:build !race

// The race detector would take minutes, and meets the same code in other tests.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/delivery"
	"countersign/sweeper"
)

// everyPoint is the variable that has each single command and call be a point of
// its own; it takes minutes.
const everyPoint = "COUNTERSIGN_EVERY_POINT"

// TestKilledAtEveryPoint kills the bot at commands to Redis and calls to Telegram
// in the course of a day, before they have their effect and after, and has another
// go on: at each kind of them the first time, half way and the last time.
// Whatever the point, it all comes to the same end: one answer to each request,
// nothing claimed or audited twice, cards that say what the rows say, and a
// message too many at the most for each that was sent and not recorded.
func TestKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	times := map[string]int{}
	for _, name := range crashPoints(t) {
		times[name]++
	}
	for name, n := range times {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, nth := range someTimes(n) {
				for _, e := range []ending{killedBefore, killedAfter} {
					inBubble(t, func(w *bubble) { newDay(w, name, nth, e).goes() })
				}
			}
		})
	}
}

// someTimes chooses of the times that something happens.
func someTimes(n int) (nths []int) {
	if os.Getenv(everyPoint) == "" {
		return slices.Compact([]int{1, (n + 1) / 2, n})
	}
	for nth := range n {
		nths = append(nths, nth+1)
	}
	return nths
}

// Every kind of point is one that the text on reliability names.
func TestCrashPointsAreNamed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	points := crashPoints(t)
	slices.Sort(points)
	for _, p := range slices.Compact(points) {
		if !strings.Contains(string(text), "`"+p+"`") {
			t.Errorf("docs/reliability.md does not name the point %q", p)
		}
	}
}

// crashPoints are the commands and calls of a day on which nobody dies.
func crashPoints(t *testing.T) (points []string) {
	inBubble(t, func(w *bubble) {
		d := newDay(w, "", 0, goesOn)
		d.goes()
		points = d.first.names()
	})
	return points
}

// A day is what happens to some approvals, by a bot that is driven step by step
// and dies at one of them.
type day struct {
	*bubble
	first  *life
	point  string
	app    *App
	life   *life
	draw   *delivery.Reconciler
	sweeps *sweeper.Sweeper
	ctx    context.Context
	end    context.CancelFunc
	boots  int
}

// newDay begins a day on which the bot dies the nth time that it comes to a point.
func newDay(w *bubble, point string, nth int, e ending) *day {
	d := &day{bubble: w, point: fmt.Sprintf("%s, time %d (before it: %v)", point, nth, e == killedBefore)}
	seen := 0
	d.first = &life{ended: make(chan struct{}), at: func(name string) ending {
		if name == point {
			seen++
		}
		if name != point || seen != nth {
			return goesOn
		}
		return e
	}}
	d.boot(d.first)
	return d
}

// boot starts a bot, under the same name or another.
func (d *day) boot(l *life) {
	d.boots++
	if d.end != nil {
		d.end()
		_ = d.app.Close()
	}
	d.life = l
	d.app = d.build(fmt.Sprintf("bot-%d", d.boots/2), l)
	d.ctx, d.end = context.WithCancel(context.Background())
	if l.ended != nil {
		go func(ctx context.Context, end func()) {
			select {
			case <-l.ended:
				end()
			case <-ctx.Done():
			}
		}(d.ctx, d.end)
	}
	d.draw = d.app.reconciler()
	var err error
	d.sweeps, err = d.app.sweeper()
	d.ok(err)
}

// works has the bot do all there is to do, and where it dies has another go on.
func (d *day) works() {
	for !d.worked() {
		if d.life.alive() {
			d.Fatalf("killed at %s: the bot lives, and cannot work", d.point)
		}
		d.boot(&life{})
		d.pass(11 * time.Second) // what the dead one held is free by then
	}
}

// worked is one round of everything; it reports false where the bot died.
func (d *day) worked() bool {
	if err := d.app.store.Alive(d.ctx, streamKeys(d.cfg)); err != nil {
		return false
	}
	for range 2 {
		if !d.intakes() || !d.hears() || !d.app.leader.Take(d.ctx) {
			return false
		}
		if d.sweeps.Sweep(d.ctx) != nil || d.draw.Once(d.ctx) != nil || !d.life.alive() {
			return false
		}
	}
	d.app.words.Wait()
	return d.life.alive()
}

func (d *day) intakes() bool {
	for {
		n, err := d.app.intake.Step(d.ctx)
		if err != nil {
			return false
		}
		if n == 0 {
			return true
		}
	}
}

// hears handles what people did, as the poller does.
func (d *day) hears() bool {
	for d.sim.PendingUpdates() > 0 {
		offset, err := d.app.store.Offset(d.ctx)
		if err != nil {
			return false
		}
		raws, err := d.app.client.Updates(d.ctx, offset, 0, 50)
		if err != nil || d.app.words.Handle(d.ctx, raws) != nil {
			return false
		}
		d.app.words.Wait()
		if len(raws) > 0 {
			offset = raws[len(raws)-1].ID + 1
		}
		if d.app.store.SetOffset(d.ctx, offset) != nil {
			return false
		}
		d.pass(time.Second)
		if _, err := d.app.client.Updates(d.ctx, offset, 0, 50); err != nil { // confirms them
			return false
		}
	}
	return true
}

// taps has Ann tap a button of a card, until the card has followed.
func (d *day) taps(id, button, then string) {
	d.Helper()
	d.works()
	m, ok := d.card(annID, id)
	if !ok {
		d.Fatalf("killed at %s: %s has no card", d.point, id)
	}
	if _, there := m.Button(button); !there {
		d.Fatalf("killed at %s: no button %q on\n%s", d.point, button, m.Text)
	}
	d.ann.Tap(m, button)
	d.works()
	if m, _ = d.card(annID, id); !strings.Contains(m.Text, then) {
		d.Fatalf("killed at %s: after %q the card of %s says\n%s", d.point, button, id, m.Text)
	}
	d.pass(time.Second)
}

const crowdOf = 6 // lapse together, and share a notice

// goes lets a day go by and looks at what came of it.
func (d *day) goes() {
	d.works() // what /start has to say
	pending := d.ask("a1", "both", time.Hour)
	d.ask("a2", "iris", time.Hour)
	d.ask("a3", "iris", time.Hour)
	d.ask("a4", "iris", 30*time.Minute)
	d.ask("a2", "iris", 2*time.Hour) // the same terms
	d.publish("approval.requested", `{"approval_id":"a2","tool":"other","arguments":{},"card":{"title":"Other"}}`)
	d.publish("approval.requested", `{"approval_id":"a5","tool":"x"}`)
	d.works()
	for i := range crowdOf {
		d.ask(fmt.Sprintf("c%d", i), "iris", 20*time.Minute)
	}

	d.taps("a1", "Trash it", "Trash it?")
	d.taps("a1", "Yes", "Approved by Ann")
	d.claims("a1", pending.Pin)
	d.publish("approval.reported", `{"approval_id":"a1","outcome":"executed","message":"Done."}`)
	d.taps("a1", "Undo", "Approved by Ann")
	d.publish("approval.reported", `{"approval_id":"a1","outcome":"undone"}`)
	d.publish("approval.withdrawn", `{"approval_id":"a3"}`)
	d.publish("approval.reported", `{"approval_id":"a3","outcome":"executed"}`) // never approved: an alarm
	d.works()
	if m, ok := d.card(annID, "a2"); ok {
		d.ann.Reply(m, "reject not those")
	}
	d.works()
	d.pass(20 * time.Minute)
	d.works() // a shared notice for the crowd
	d.pass(10 * time.Minute)
	d.works() // a notice for a4
	d.pass(time.Minute)
	d.works() // what was put off
	d.end()
	d.holds()
	_ = d.app.Close()
}

func (d *day) publish(kind, data string) {
	d.Helper()
	d.ok(d.rdb.Do(context.Background(), "xadd", "{approvals}:requests", "*", "type", kind, "data", data).Err())
}

// claims claims as the runtime does, once.
func (d *day) claims(id, pin string) {
	d.Helper()
	d.ok(d.client.Claim(context.Background(), id, pin, "worker"))
}

// holds looks at what is there at the end of the day.
func (d *day) holds() {
	d.Helper()
	for id, want := range map[string]string{"a1": "approved", "a2": "rejected", "a3": "withdrawn", "a4": "lapsed", "a5": "refused", "c0": "lapsed", "c5": "lapsed"} {
		d.once(id, want)
	}
	d.state("a1", approval.Undone)
	if dead := d.reasons(); !slices.Equal(dead, []string{"ran_unapproved", "terms_differ"}) {
		d.Errorf("set aside: %v", dead)
	}
	d.auditedOnce()
	if extra, unrecorded := d.inLine()+d.notices(), d.first.unrecorded(); extra > unrecorded {
		d.Errorf("%d messages too many, where %d were sent and not recorded", extra, unrecorded)
	}
	if d.Failed() {
		d.Fatalf("killed at %s", d.point)
	}
}

// reasons are why entries were set aside, in order of the alphabet.
func (d *day) reasons() (reasons []string) {
	d.Helper()
	entries, err := d.rdb.XRange(context.Background(), "{approvals}:dead", "-", "+").Result()
	d.ok(err)
	for _, e := range entries {
		reason, _, _ := strings.Cut(e.Values["reason"].(string), ":")
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	return reasons
}

// auditedOnce wants no transition to be audited twice.
func (d *day) auditedOnce() {
	d.Helper()
	lines, err := d.rdb.LRange(context.Background(), "{approvals}:bot:audit", 0, -1).Result()
	d.ok(err)
	seen := map[string]bool{}
	for _, line := range lines {
		var a struct {
			ID       string `json:"approval_id"`
			From, To string
		}
		d.ok(json.Unmarshal([]byte(line), &a))
		if step := fmt.Sprint(a); seen[step] {
			d.Errorf("audited twice: %s", line)
		} else {
			seen[step] = true
		}
	}
}

// inLine wants every card that is known to say what its row says, and returns
// how many messages there are beyond one for each.
func (d *day) inLine() (extra int) {
	d.Helper()
	for id, chats := range map[string][]int64{"a1": {annID, teamID}, "a2": {annID}, "a3": {annID}, "a4": {annID}, "c0": {annID}, "c5": {annID}} {
		r, err := d.store.Read(context.Background(), id)
		d.ok(err)
		known := 0
		for _, c := range r.Cards {
			known += 1 + len(c.Copies)
			m, ok := d.sim.Message(c.Chat, int64(c.Message))
			if want := badge(r.Row.State); !ok || !strings.Contains(m.Text, want) {
				d.Errorf("%s is %s, and its card in %d says\n%s", id, r.Row.State, c.Chat, m.Text)
			}
		}
		if known != len(chats) {
			d.Errorf("%s has %d known messages, want %d", id, known, len(chats))
		}
		for _, chat := range chats {
			extra += max(0, len(d.cards(chat, id))-1)
		}
	}
	return extra
}

func badge(s approval.State) string {
	switch s {
	case approval.Rejected, approval.Undone:
		return " by Ann"
	}
	return strings.ToUpper(string(s)[:1]) + string(s)[1:]
}

// notices wants each thing to be told of, and returns how many messages tell only
// of what was told before.
func (d *day) notices() (extra int) {
	d.Helper()
	told := map[string]bool{}
	for _, m := range d.sim.BotMessages(annID) {
		var names []string
		switch {
		case strings.Contains(m.Text, "is still open"):
			names = append(names, "the reminder of a4")
		case strings.Contains(m.Text, "was not approved. Look at"):
			names = append(names, "the alarm")
		case strings.Contains(m.Text, " lapsed unanswered: "):
			for line := range strings.Lines(m.Text) { // each names one, alone or with others
				if _, id, ok := strings.Cut(strings.TrimSpace(line), " Trash "); ok {
					names = append(names, "the lapse of "+id)
				}
			}
		}
		if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !told[name] }) {
			extra++
		}
		for _, name := range names {
			told[name] = true
		}
	}
	if want := 3 + crowdOf; len(told) != want { // the reminder, the alarm, a4 and the crowd
		d.Errorf("%d things were told of, want %d: %v", len(told), want, told)
	}
	return extra
}
