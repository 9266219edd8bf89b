package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"countersign/delivery"
	"countersign/simulator"
	"countersign/telegram"
)

// An arrival is one call that comes to wait.
type arrival struct {
	after time.Duration // since the one before
	class delivery.Class
	chat  int64
	leave time.Duration // how long it waits at most; 0: for ever
}

func arrivals(t *rapid.T) []arrival {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) arrival {
		return arrival{
			after: time.Duration(rapid.IntRange(0, 900).Draw(t, "after")) * time.Millisecond *
				time.Duration(rapid.IntRange(0, 1).Draw(t, "gap")),
			class: delivery.Class(rapid.IntRange(int(delivery.StepEdit), int(delivery.Word)).Draw(t, "class")),
			chat:  rapid.SampledFrom([]int64{1, 2, -1, -2}).Draw(t, "chat"),
			leave: time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 5000}).Draw(t, "leave")) * time.Millisecond,
		}
	}), 1, 80).Draw(t, "arrivals")
}

// TestPaceKeepsEveryLimit wants no window of time to hold more than the limits,
// all who stay to be served, and first come first served among equals.
func TestPaceKeepsEveryLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := delivery.Limits{
			PerSecond:      rapid.SampledFrom([]float64{0, 0.5, 2, 2.5, 30}).Draw(rt, "per second"),
			ChatPerSecond:  rapid.SampledFrom([]float64{0, 0.3, 1, 7}).Draw(rt, "chat per second"),
			GroupPerMinute: rapid.SampledFrom([]int{0, 1, 5, 20}).Draw(rt, "group per minute"),
		}
		who := arrivals(rt)
		var calls []served
		synctest.Test(t, func(t *testing.T) { calls = serve(t, l, who) })
		stay := 0
		for _, a := range who {
			if a.leave == 0 {
				stay++
			}
		}
		if len(calls) < stay {
			rt.Fatalf("%d calls served of %d that stayed", len(calls), stay)
		}
		keepsLimits(rt, l, calls)
		keepsOrder(rt, calls)
	})
}

// serve has calls arrive at a pace, and lists those it lets through.
func serve(t *testing.T, l delivery.Limits, who []arrival) []served {
	q := queueAt(t, l)
	for i, a := range who {
		<-time.After(a.after)
		leave := q.join(fmt.Sprintf("%d/%03d", a.class, i), a.class, a.chat)
		if a.leave != 0 {
			time.AfterFunc(a.leave, leave)
		}
	}
	calls := q.served()
	idle(t, q.pace)
	return calls
}

func keepsLimits(t *rapid.T, l delivery.Limits, calls []served) {
	all := map[int64][]time.Duration{0: {}}
	for _, c := range calls {
		all[0] = append(all[0], c.at)
		all[c.chat] = append(all[c.chat], c.at)
	}
	for chat, at := range all {
		for first := range at {
			for last := first; last < len(at); last++ {
				n, span := float64(last-first+1), (at[last] - at[first]).Seconds()
				const rounding = 1e-6
				switch {
				case chat == 0:
					// So many in any window of a second, or one in as long as it takes.
					most := max(1, float64(int(l.PerSecond)))
					if l.PerSecond > 0 && n > most && span < most/l.PerSecond-rounding {
						t.Fatalf("%v calls in %vs, in all", n, span)
					}
				case l.ChatPerSecond > 0 && n > 3+span*l.ChatPerSecond+rounding:
					t.Fatalf("%v calls in %vs to chat %d", n, span, chat)
				}
				if chat < 0 && l.GroupPerMinute > 0 && n > float64(l.GroupPerMinute) && span < 60-rounding {
					t.Fatalf("%v calls in %vs to group %d", n, span, chat)
				}
			}
		}
	}
}

// keepsOrder wants calls of one class to one chat in the order they came; among
// those of one instant none is first.
func keepsOrder(t *rapid.T, calls []served) {
	last := map[string]served{}
	for _, c := range calls {
		class, _, _ := strings.Cut(c.name, "/")
		equals := fmt.Sprint(class, "/", c.chat)
		if before := last[equals]; c.name < before.name && c.at > before.at {
			t.Fatalf("%s was served after %s", c.name, before.name)
		}
		if c.name > last[equals].name {
			last[equals] = c
		}
	}
}

// TestPaceFitsTelegram sends 300 cards to five chats through the pace, to a
// server that keeps Telegram's limits by the same clock. None is refused, and it
// takes no longer than the limits make it.
func TestPaceFitsTelegram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chats []int64
		least time.Duration // by the limits alone
	}{
		// 60 each, after a burst of 3: one a second.
		"direct chats": {[]int64{ann, ben, cleo, dora, 1005}, 57 * time.Second},
		// 60 each: 20 at once, then 20 after each minute; the last of them one a second.
		"groups": {[]int64{-1001, -1002, -1003, -1004, -1005}, 120*time.Second + 17*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := simulator.New(simulator.Options{Now: time.Now, Limits: simulator.TelegramLimits()})
				defer sim.Close()
				for _, id := range c.chats {
					if id > 0 {
						sim.AddUser(id, "P").Start()
					} else {
						sim.AddSupergroup(id, "G")
					}
				}
				client, err := telegram.New(telegram.Config{Token: sim.Token(), APIURL: "http://bot.invalid", HTTP: sim.Client()})
				if err != nil {
					t.Fatal(err)
				}
				took := sendAll(t, client, delivery.NewPace(telegramLimits, time.Now), c.chats, 60)
				for _, call := range sim.Calls("sendMessage") {
					if call.Code != 200 {
						t.Errorf("refused: %s", call)
					}
				}
				t.Logf("%d cards in %v, the least is %v", 60*len(c.chats), took, c.least)
				if took < c.least || took > c.least+time.Second {
					t.Errorf("took %v, want %v or a little more", took, c.least)
				}
			})
		})
	}
}

// sendAll sends so many cards to each chat, all at once, and returns how long it
// took.
func sendAll(t *testing.T, b delivery.Bot, p *delivery.Pace, chats []int64, each int) time.Duration {
	began := time.Now()
	errs := make(chan error)
	for _, id := range slices.Repeat(chats, each) {
		go func() {
			_, err := p.Wait(context.Background(), delivery.NewCard, id)
			if err == nil {
				_, err = b.Send(t.Context(), telegram.Outgoing{Chat: id, HTML: "card"})
			}
			errs <- err
		}()
	}
	for range each * len(chats) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	return time.Since(began)
}
