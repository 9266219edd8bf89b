package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxQueries is how many taps are remembered before old ones are forgotten.
const maxQueries = 10_000

// maxAnswer is how long the text of an answer can be, in code points.
const maxAnswer = 200

// callbackLife is how long an undelivered callback query waits for the bot.
const callbackLife = 150 * time.Second

// A query is a tap and its answer. The server's mutex guards it.
type query struct {
	CallbackQuery
	at     time.Time
	chat   int64
	answer *CallbackAnswer
}

// A CallbackAnswer is what the person who tapped was told.
type CallbackAnswer struct {
	ID        string // of the callback query
	Text      string // empty: the button only stops glowing
	Alert     bool
	URL       string
	CacheTime int64 // seconds
	At        time.Time
}

func answerCallbackQuery(s *Server, c *call) (any, error) {
	if utf8.RuneCountInString(c.text("text")) > maxAnswer {
		return nil, s.errs.wrong("MESSAGE_TOO_LONG")
	}
	q := s.queries[c.text("callback_query_id")]
	const tooOld = "query is too old and response timeout expired or query ID is invalid"
	switch {
	case q == nil:
		return nil, s.errs.wrong(tooOld)
	case q.answer != nil || c.at.Sub(q.at) > s.options.AnswerWithin:
		return nil, s.errs.state(tooOld)
	}
	q.answer = &CallbackAnswer{
		ID: q.ID, Text: c.text("text"), Alert: c.bool("show_alert"), URL: c.text("url"),
		CacheTime: c.int("cache_time", 0), At: c.at,
	}
	if q.answer.CacheTime > 0 {
		c.warn("an answer with cache_time: the client can repeat it without asking the bot")
	}
	s.note(Change{Kind: CallbackAnswered, Chat: q.chat, User: q.From.ID, Callback: q.ID, Text: q.answer.Text, Alert: q.answer.Alert})
	return true, nil
}

// A Press is a tap in detail.
type Press struct {
	Chat, Message int64
	// Text names the button: its text, or the beginning of it. If it is empty, Row and
	// Col do, from 0.
	Text     string
	Row, Col int
	// Data, if given, is sent in place of the button's. The server refuses data that is
	// not on the message's present keyboard, unless Forged: clients of ill will, and
	// taps that cross an edit, get such data through.
	Data   *string
	Forged bool
	// Inaccessible makes the update carry only ids of the message, as for a message that
	// is too old or deleted. Without makes it carry no message at all, like a tap on a
	// message sent via inline mode.
	Inaccessible, Without bool
}

// Press taps a button and returns the id of the callback query.
func (p *Person) Press(press Press) (id string, err error) {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.chats[press.Chat]
	if ch == nil {
		return "", fmt.Errorf("tap: there is no chat %d", press.Chat)
	}
	if !ch.isPrivate() && !ch.members[p.ID].present() {
		return "", fmt.Errorf("tap: %s is not in chat %d", p.name(), press.Chat)
	}
	stored := ch.message(press.Message)
	if stored == nil && !press.Forged {
		return "", fmt.Errorf("tap: there is no message %d in chat %d", press.Message, press.Chat)
	}
	data, err := press.data(stored)
	if err != nil {
		return "", err
	}
	q := &query{
		CallbackQuery: CallbackQuery{
			ID: strconv.FormatInt(1_000_000_000+s.nextID(), 10), From: s.users[p.ID].User,
			ChatInstance: strconv.FormatInt(press.Chat*31, 10), Data: data,
		},
		at: s.options.Now(), chat: press.Chat,
	}
	switch {
	case press.Without:
		q.InlineMessageID = "inline-" + q.ID
	case press.Inaccessible || stored == nil:
		q.Message = mustJSON(map[string]any{"chat": ch.Chat, "message_id": press.Message, "date": 0})
	default:
		q.Message = mustJSON(stored.current())
	}
	s.forgetQueries()
	s.queries[q.ID] = q
	s.note(Change{Kind: CallbackTapped, Chat: ch.ID, Message: press.Message, User: p.ID, Callback: q.ID, Data: data})
	s.enqueue("callback_query", q.CallbackQuery, callbackLife, fmt.Sprintf("user %d", p.ID))
	return q.ID, nil
}

// forgetQueries forgets taps that nobody can answer any more, once there are many. The
// next look is due when there are twice as many as it left, so that no tap has to pay for
// all those before it. The caller holds mu.
func (s *Server) forgetQueries() {
	if len(s.queries) < max(maxQueries, s.manyQueries) {
		return
	}
	old := s.options.Now().Add(-max(time.Hour, s.options.AnswerWithin))
	maps.DeleteFunc(s.queries, func(_ string, q *query) bool { return q.at.Before(old) })
	s.manyQueries = 2 * len(s.queries)
}

// data finds what the tap sends.
func (press Press) data(stored *message) (string, error) {
	var shown Message
	if stored != nil {
		shown = *stored.current()
	}
	if press.Data != nil {
		if press.Forged || shown.offers(*press.Data) {
			return *press.Data, nil
		}
		return "", errors.New("tap: DATA_INVALID: the data is not on the message's keyboard")
	}
	row, col := press.Row, press.Col
	if press.Text != "" {
		var ok bool
		if row, col, ok = shown.find(press.Text); !ok {
			return "", fmt.Errorf("tap: message %d has no button %q; it has %s", press.Message, press.Text, shown.buttonTexts())
		}
	}
	if row < 0 || row >= len(shown.Keyboard()) || col < 0 || col >= len(shown.Keyboard()[row]) {
		return "", fmt.Errorf("tap: message %d has no button in row %d, column %d", press.Message, row, col)
	}
	b := shown.Keyboard()[row][col]
	if b.CallbackData == "" {
		return "", fmt.Errorf("tap: button %q sends nothing to the bot", b.Text)
	}
	return b.CallbackData, nil
}

// offers reports whether a button of the message carries the data.
func (m Message) offers(data string) bool {
	for _, row := range m.Keyboard() {
		for _, b := range row {
			if b.CallbackData == data {
				return true
			}
		}
	}
	return false
}

func (m Message) buttonTexts() json.RawMessage {
	texts := []string{}
	for _, row := range m.Keyboard() {
		for _, b := range row {
			texts = append(texts, b.Text)
		}
	}
	return mustJSON(texts)
}

// WaitAnswer returns the answer to a callback query, when it has come.
func (s *Server) WaitAnswer(ctx context.Context, id string) (CallbackAnswer, error) {
	var answer CallbackAnswer
	err := s.Wait(ctx, func() bool {
		a, ok := s.Answer(id)
		answer = a
		return ok
	})
	if err != nil {
		return answer, fmt.Errorf("wait for the answer to callback query %s: %w", id, err)
	}
	return answer, nil
}

// Answer returns the answer to a callback query, if it has come.
func (s *Server) Answer(id string) (CallbackAnswer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queries[id]
	if q == nil || q.answer == nil {
		return CallbackAnswer{}, false
	}
	return *q.answer, true
}
