package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"countersign/cards"
	"countersign/config"
	"countersign/simulator"
	"countersign/store/storetest"
	"countersign/telegram"
)

// duelRounds is how often two decisions meet at the same instant.
const duelRounds = 200

// TestYesAgainstReject has one owner's Yes and another's Reject handled by two
// bots at the same instant, on one Redis: one answer each time, and the card
// says which.
func TestYesAgainstReject(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		d := newDuel(t, s)
		won := map[string]int{}
		for round := range duelRounds {
			id := fmt.Sprintf("duel-%d", round)
			card := d.confirming(id, time.Hour)
			yes, reject := d.update(d.ann, card, cards.LetterYes), d.update(d.olga, card, cards.LetterReject)
			d.atOnce(
				func() error { return d.bots[0].words.Handle(d.ctx, []telegram.RawUpdate{yes}) },
				func() error { return d.bots[1].words.Handle(d.ctx, []telegram.RawUpdate{reject}) },
			)
			won[d.onlyAnswer(id, card)]++
		}
		if won["approved"]+won["rejected"] != duelRounds {
			t.Errorf("%v, want %d approved or rejected", won, duelRounds)
		}
		t.Logf("%v", won)
	})
}

// TestYesAgainstSweep has a Yes and the sweep meet at the deadline.
func TestYesAgainstSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		d := newDuel(t, s)
		sweep, err := d.bots[1].sweeper()
		if err != nil {
			t.Fatal(err)
		}
		won := map[string]int{}
		for round := range duelRounds {
			id := fmt.Sprintf("sweep-%d", round)
			card := d.confirming(id, 10*time.Second)
			yes := d.update(d.ann, card, cards.LetterYes)
			// In every other round the deadline has passed a moment before.
			if round%2 == 0 {
				s.Advance(t, 11*time.Second)
			}
			d.atOnce(
				func() error { return d.bots[0].words.Handle(d.ctx, []telegram.RawUpdate{yes}) },
				func() error { return sweep.Sweep(d.ctx) },
			)
			won[d.onlyAnswer(id, card)]++
		}
		if won["approved"] != duelRounds/2 || won["lapsed"] != duelRounds/2 {
			t.Errorf("%v, want what was in time approved and the rest lapsed", won)
		}
	})
}

// A duel is two bots on one Redis, of which the first draws the cards.
type duel struct {
	t         *testing.T
	ctx       context.Context
	server    *storetest.Server
	sim       *simulator.Server
	ann, olga *simulator.Person
	bots      [2]*App
	draw      func()
	offset    int64
}

func newDuel(t *testing.T, s *storetest.Server) *duel {
	d := &duel{t: t, ctx: t.Context(), server: s}
	d.sim = simulator.New(simulator.Options{Now: time.Now, Token: "7000000:test-token", Username: "countersign_bot"})
	t.Cleanup(func() { _ = d.sim.Close() })
	d.ann, d.olga = d.sim.AddUser(annID, "Ann"), d.sim.AddUser(olgaID, "Olga")
	d.sim.AddSupergroup(teamID, "Team", d.ann, d.olga)
	cfg := config.Default()
	cfg.Telegram.Token = config.NewSecret(d.sim.Token())
	cfg.Telegram.APIURL = "http://simulator.invalid"
	cfg.Telegram.Limits = config.Limits{}
	cfg.Redis.URL, cfg.Redis.Namespace = config.NewRedisURL(s.URL()), s.Namespace()
	cfg.People = []config.Person{{ID: annID, Name: "Ann", Role: config.RoleOwner}, {ID: olgaID, Name: "Olga", Role: config.RoleOwner}}
	cfg.Routes = []config.RouteRule{{Chats: []config.Chat{{ID: teamID}}, Quorum: 1}}
	cfg.Confirm.Dwell = 0
	for i := range d.bots {
		app, err := NewApp(cfg, AppOptions{
			Log: zerolog.New(testWriter{t}).Level(zerolog.ErrorLevel), Now: time.Now, Random: rand.Reader,
			Jitter: func() float64 { return 0 }, Name: fmt.Sprintf("bot-%d", i), HTTP: d.sim.Client(),
		})
		if err != nil {
			t.Fatal(err)
		}
		d.bots[i] = app
		t.Cleanup(func() { app.words.Wait(); _ = app.Close() })
	}
	reconciler := d.bots[0].reconciler()
	d.draw = func() {
		if !d.bots[0].leader.Take(d.ctx) {
			t.Fatal("the lease cannot be taken")
		}
		if err := reconciler.Once(d.ctx); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// confirming asks for an approval and opens Ann's confirm step on its card.
func (d *duel) confirming(id string, expires time.Duration) simulator.Message {
	d.t.Helper()
	data := fmt.Sprintf(`{"approval_id":%q,"tool":"x","arguments":{},"expires_in":%d,"card":{"title":"Do %s"}}`, id, int(expires.Seconds()), id)
	err := d.server.Client().XAdd(d.ctx, &redis.XAddArgs{
		Stream: d.server.Keys().Requests(), Values: []any{"type", "approval.requested", "data", data},
	}).Err()
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.bots[0].intake.Step(d.ctx); err != nil {
		d.t.Fatal(err)
	}
	d.draw()
	card := d.newest("Do " + id)
	action := d.update(d.ann, card, cards.LetterAction)
	if err := d.bots[0].words.Handle(d.ctx, []telegram.RawUpdate{action}); err != nil {
		d.t.Fatal(err)
	}
	d.draw()
	return d.newest("Do " + id)
}

func (d *duel) newest(text string) simulator.Message {
	d.t.Helper()
	all := d.sim.BotMessages(teamID)
	for i := len(all) - 1; i >= 0; i-- {
		if strings.Contains(all[i].Text, text) && all[i].ReplyMarkup != nil {
			return all[i]
		}
	}
	d.t.Fatalf("no card says %q", text)
	return simulator.Message{}
}

// update is a tap on the button with a letter, as an update of its own.
func (d *duel) update(who *simulator.Person, card simulator.Message, letter byte) telegram.RawUpdate {
	d.t.Helper()
	for _, row := range card.ReplyMarkup.Rows {
		for _, b := range row {
			if b.CallbackData[0] == letter {
				who.TapData(card, b.CallbackData)
			}
		}
	}
	for {
		raws, err := d.bots[0].client.Updates(d.ctx, d.offset, 0, 1)
		if err != nil || len(raws) != 1 {
			d.t.Fatalf("%d updates: %v", len(raws), err)
		}
		d.offset = raws[0].ID + 1
		if u, err := telegram.Decode(raws[0].Raw); err == nil && u.Callback != nil {
			return raws[0]
		}
	}
}

// atOnce does two things at the same instant.
func (d *duel) atOnce(a, b func() error) {
	d.t.Helper()
	var ready, done sync.WaitGroup
	ready.Add(2)
	start := make(chan struct{})
	errs := make([]error, 2)
	for i, do := range []func() error{a, b} {
		done.Go(func() {
			ready.Done()
			<-start
			errs[i] = do()
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	for _, err := range errs {
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

// onlyAnswer returns the decision, after holding row, both streams and the card
// to it.
func (d *duel) onlyAnswer(id string, card simulator.Message) string {
	d.t.Helper()
	var decisions []string
	for _, stream := range []string{d.server.Keys().Answer(id), d.server.Keys().Answers()} {
		entries, err := d.server.Client().XRange(d.ctx, stream, "-", "+").Result()
		if err != nil {
			d.t.Fatal(err)
		}
		for _, e := range entries {
			if e.Values["subject"] != id {
				continue
			}
			var a struct{ Decision string }
			if err := json.Unmarshal([]byte(e.Values["data"].(string)), &a); err != nil {
				d.t.Fatal(err)
			}
			decisions = append(decisions, a.Decision)
		}
	}
	if len(decisions) != 2 || decisions[0] != decisions[1] {
		d.t.Fatalf("%s was answered %v, want one answer on each stream", id, decisions)
	}
	d.draw()
	now, _ := d.sim.Message(card.Chat.ID, card.MessageID)
	if badge, _, _ := strings.Cut(now.Text, "\n"); !strings.Contains(strings.ToLower(badge), decisions[0]) {
		d.t.Fatalf("%s was %s, but its card says %q", id, decisions[0], badge)
	}
	return decisions[0]
}
