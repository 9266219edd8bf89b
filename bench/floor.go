package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// A floor does the least work that shows owner and runtime what the bot shows them.
// It checks nothing, remembers nothing and survives nothing.
type floor struct {
	rdb    *redis.Client
	api    string
	http   *http.Client
	row    *redis.Script
	answer *redis.Script
	cards  chan asked
}

// A asked is a request on its way to a card.
type asked struct{ id, title string }

// floorSenders is how many connections cards go over.
const floorSenders = 32

func newFloor(rdb *redis.Client, api string) *floor {
	return &floor{
		rdb: rdb, api: api,
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * floorSenders}},
		row: redis.NewScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'state', 'open', 'request', ARGV[1])
return 1`),
		answer: redis.NewScript(`if redis.call('HGET', KEYS[1], 'state') ~= 'open' then return 0 end
redis.call('HSET', KEYS[1], 'state', 'approved', 'answer', ARGV[1])
redis.call('XADD', KEYS[2], '*', 'type', 'approval.answered', 'subject', ARGV[2], 'data', ARGV[1])
redis.call('XADD', KEYS[3], '*', 'type', 'approval.answered', 'subject', ARGV[2], 'data', ARGV[1])
return 1`),
		cards: make(chan asked, 1024),
	}
}

// run works until ctx ends.
func (f *floor) run(ctx context.Context) error {
	for _, s := range []*redis.Script{f.row, f.answer} {
		if err := s.Load(ctx, f.rdb).Err(); err != nil {
			return err
		}
	}
	err := f.rdb.XGroupCreateMkStream(ctx, keyRequests, floorGroup, "0").Err()
	if err != nil && !redis.HasErrorPrefix(err, "BUSYGROUP") {
		return err
	}
	errs := make(chan error, floorSenders+2)
	for range floorSenders {
		go func() { errs <- f.send(ctx) }()
	}
	go func() { errs <- f.read(ctx) }()
	go func() { errs <- f.listen(ctx) }()
	return <-errs
}

const floorGroup = "floor"

// read takes requests off the stream, many at once.
func (f *floor) read(ctx context.Context) error {
	for {
		res, err := f.rdb.XReadGroup(ctx, &redis.XReadGroupArgs{
			Group: floorGroup, Consumer: "one", Streams: []string{keyRequests, ">"}, Count: 256, Block: time.Second,
		}).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return err
		}
		entries := res[0].Messages
		batch := make([]asked, len(entries))
		ids := make([]string, len(entries))
		_, err = f.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, e := range entries {
				data, _ := e.Values["data"].(string)
				var q struct {
					ID   string `json:"approval_id"`
					Card struct {
						Title string `json:"title"`
					} `json:"card"`
				}
				if err := json.Unmarshal([]byte(data), &q); err != nil {
					return err
				}
				batch[i], ids[i] = asked{q.ID, q.Card.Title}, e.ID
				f.row.EvalSha(ctx, p, []string{keyRow + q.ID}, data)
			}
			p.XAck(ctx, keyRequests, floorGroup, ids...)
			return nil
		})
		if err != nil {
			return err
		}
		for _, a := range batch {
			f.cards <- a
		}
	}
}

// send sends cards, one after the other.
func (f *floor) send(ctx context.Context) error {
	for {
		select {
		case a := <-f.cards:
			if err := f.post(ctx, deedSend, floorCard(a.title, 0, "Approve", "a:"+a.id)); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

type (
	floorButton struct {
		Text string `json:"text"`
		Data string `json:"callback_data"`
	}
	floorMessage struct {
		Chat     int64  `json:"chat_id"`
		Message  int64  `json:"message_id,omitempty"`
		Text     string `json:"text"`
		Keyboard *struct {
			Rows [][]floorButton `json:"inline_keyboard"`
		} `json:"reply_markup,omitempty"`
	}
)

// floorCard is a card with one button, or with none.
func floorCard(text string, message int64, button, data string) floorMessage {
	m := floorMessage{Chat: owner, Message: message, Text: text}
	if button != "" {
		m.Keyboard = &struct {
			Rows [][]floorButton `json:"inline_keyboard"`
		}{[][]floorButton{{{button, data}}}}
	}
	return m
}

// post makes one call.
func (f *floor) post(ctx context.Context, method string, params any) error {
	_, err := f.call(ctx, method, params)
	return err
}

func (f *floor) call(ctx context.Context, method string, params any) ([]byte, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.api+"/bot"+token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := f.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// An update is what the floor reads of one.
type update struct {
	ID  int64 `json:"update_id"`
	Tap struct {
		ID      string `json:"id"`
		Data    string `json:"data"`
		Message struct {
			ID int64 `json:"message_id"`
		} `json:"message"`
	} `json:"callback_query"`
}

// listen takes taps.
func (f *floor) listen(ctx context.Context) error {
	errs := make(chan error, 1)
	offset := int64(0)
	for {
		body, err := f.call(ctx, deedPoll, map[string]int64{"offset": offset, "timeout": 25})
		if err != nil {
			return err
		}
		var got struct {
			Result []update `json:"result"`
		}
		if err := json.Unmarshal(body, &got); err != nil {
			return err
		}
		for _, u := range got.Result {
			offset = u.ID + 1
			go func() {
				if err := f.tapped(ctx, u); err != nil {
					select {
					case errs <- err:
					default:
					}
				}
			}()
		}
		select {
		case err := <-errs:
			return err
		default:
		}
	}
}

// tapped asks for a yes, or takes it.
func (f *floor) tapped(ctx context.Context, u update) error {
	id := u.Tap.Data[2:]
	card := floorCard("Really? "+titleOf(id), u.Tap.Message.ID, "Yes", "y:"+id)
	if strings.HasPrefix(u.Tap.Data, "y:") {
		data := fmt.Sprintf(`{"approval_id":%s,"decision":"approved","approved":true,"by":{"surface":"telegram","id":"%d"}}`,
			strconv.Quote(id), owner)
		if err := f.answer.EvalSha(ctx, f.rdb, []string{keyRow + id, keyAnswers, keyAnswer + id}, data, id).Err(); err != nil {
			return err
		}
		card = floorCard("Approved: "+titleOf(id), u.Tap.Message.ID, "", "")
	}
	if err := f.post(ctx, deedAnswer, map[string]string{"callback_query_id": u.Tap.ID}); err != nil {
		return err
	}
	return f.post(ctx, deedEdit, card)
}
