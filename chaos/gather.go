package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/chaos/verdict"
	"countersign/simulator"
)

// gather puts together what the run left behind.
func (r *run) gather(ctx context.Context) (*verdict.Evidence, error) {
	e := &verdict.Evidence{
		Seed: r.options.seed, Dwell: dwell, Window: window, Slack: slack, Began: r.began, Calm: r.calm, Ended: time.Now(),
		Owners: []int64{annID, olgaID, doraID}, Messages: r.hub.messages(), Calls: r.front.log(),
		Answered: map[string]verdict.Toast{}, Left: r.left, Said: r.said,
	}
	l := r.ledger
	for _, id := range l.order {
		e.Asked = append(e.Asked, *l.asked[id])
	}
	e.Taps, e.Words, e.Operator, e.Claims, e.Reports = l.taps, l.words, l.operator, l.claims, l.reports
	e.Told, e.Deletions, e.Strikes = l.told, l.deletions, l.strikes
	for _, t := range e.Taps {
		if a, ok := r.sim.Answer(t.ID); ok {
			e.Answered[t.ID] = verdict.Toast{Text: a.Text, At: a.At}
		}
	}
	applied(e.Calls, r.sim.Calls("sendMessage", "editMessageText", "answerCallbackQuery", "sendChatAction"))
	slices.SortFunc(e.Messages, func(a, b verdict.Message) int {
		if a.Chat != b.Chat {
			return int(a.Chat - b.Chat)
		}
		return int(a.ID - b.ID)
	})
	for _, refused := range r.sim.Refusals() {
		if refused.Method != "" {
			e.Said = append(e.Said, "Telegram refused as wrong in itself: "+refused.String())
		}
	}
	return e, r.redisEvidence(ctx, e)
}

// applied notes which calls had their effect, by the simulator's own log.
func applied(calls []verdict.Call, log []simulator.Call) {
	type key struct {
		method, approval, badge, callback string
		chat, message                     int64
		buttons                           string
	}
	of := map[key][]simulator.Call{}
	for _, c := range log {
		var k *simulator.Keyboard
		_ = json.Unmarshal(c.Params["reply_markup"], &k)
		b := buttons(k)
		id, _, badge := "", "", ""
		if c.Method == "sendMessage" || c.Method == "editMessageText" {
			id, _, badge = describe(plain(c.Text("text")), b)
		}
		at := key{c.Method, id, badge, c.Text("callback_query_id"), c.Int("chat_id"), c.Int("message_id"), strings.Join(b, " ")}
		of[at] = append(of[at], c)
	}
	slices.SortStableFunc(calls, func(a, b verdict.Call) int { return a.From.Compare(b.From) })
	for i := range calls {
		c := &calls[i]
		message := c.Message
		if c.Method == "sendMessage" {
			message = 0
		}
		k := key{c.Method, c.Approval, c.Badge, c.Callback, c.Chat, message, strings.Join(c.Buttons, " ")}
		for j, found := range of[k] {
			if !found.At.Before(c.From) && !found.At.After(c.Until) {
				c.Applied = found.Applied
				c.Out = found.Class == simulator.State && found.Code == http.StatusForbidden
				c.Late = c.Callback != "" && found.Class == simulator.State
				of[k] = slices.Delete(slices.Clone(of[k]), j, j+1)
				break
			}
		}
	}
}

// redisEvidence reads the namespace.
func (r *run) redisEvidence(ctx context.Context, e *verdict.Evidence) error {
	rdb := r.db.client
	var err error
	if e.Rows, err = hashes(ctx, rdb, keyOf("row", "")); err != nil {
		return err
	}
	if e.Held, err = hashes(ctx, rdb, keyOf("claim", "")); err != nil {
		return err
	}
	known, err := hashes(ctx, rdb, keyOf("bot", "card", ""))
	if err != nil {
		return err
	}
	for id, h := range known {
		e.Cards = append(e.Cards, cardOf(id, h))
	}
	slices.SortFunc(e.Cards, func(a, b verdict.Card) int { return strings.Compare(a.Approval+a.ID, b.Approval+b.ID) })
	if e.Answers, err = events(ctx, rdb, keyOf("answers")); err != nil {
		return err
	}
	e.Own = map[string][]verdict.Event{}
	for _, a := range e.Asked {
		if e.Own[a.ID], err = events(ctx, rdb, keyOf("answer", a.ID)); err != nil {
			return err
		}
	}
	entries, err := rdb.XRange(ctx, keyOf("dead"), "-", "+").Result()
	for _, m := range entries {
		reason, fields := fmt.Sprint(m.Values["reason"]), fmt.Sprint(m.Values["fields"])
		code, _, _ := strings.Cut(reason, ":")
		e.Dead = append(e.Dead, verdict.DeadLetter{Reason: code, ID: verdict.ApprovalIn(fields)})
	}
	return err
}

// hashes reads all hashes whose key begins so, by what follows.
func hashes(ctx context.Context, rdb *redis.Client, prefix string) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	it := rdb.Scan(ctx, 0, prefix+"*", 1000).Iterator()
	for it.Next(ctx) {
		h, err := rdb.HGetAll(ctx, it.Val()).Result()
		if err != nil {
			return nil, err
		}
		all[strings.TrimPrefix(it.Val(), prefix)] = h
	}
	return all, it.Err()
}

func events(ctx context.Context, rdb *redis.Client, key string) ([]verdict.Event, error) {
	entries, err := rdb.XRange(ctx, key, "-", "+").Result()
	var all []verdict.Event
	for _, m := range entries {
		text := func(name string) string { s, _ := m.Values[name].(string); return s }
		all = append(all, verdict.Event{Entry: m.ID, Type: text("type"), Subject: text("subject"), Data: text("data")})
	}
	return all, err
}

func cardOf(id string, h map[string]string) verdict.Card {
	number := func(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n }
	c := verdict.Card{
		ID: id, Approval: h["approval"], Chat: number(h["chat"]), Message: number(h["message"]), Failed: h["failed"],
		Retired: h["retired"] == "1", Reader: h["reader"] == "1",
	}
	for field := range h {
		if copied, ok := strings.CutPrefix(field, "copy:"); ok {
			c.Copies = append(c.Copies, number(copied))
		}
	}
	slices.Sort(c.Copies)
	return c
}
