package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/approval"
)

// parseReading reads what lib.lua's reading() returns. Where the row or its votes
// are not as our scripts write them, the error is an [UnreadableError]; where keys
// are configured, such a row is one whose seal does not hold.
func (s *Store) parseReading(v any) (*Reading, error) {
	parts, ok := v.([]any)
	if !ok || len(parts) < 5 {
		return nil, fmt.Errorf("store: unexpected reading %T", v)
	}
	r := &Reading{Now: millis(asString(parts[0])), ID: asString(parts[1])}
	row, memory := asMap(parts[2]), asMap(parts[3])
	unreadable := func(err error) error {
		return &UnreadableError{ID: r.ID, Now: r.Now, Err: err, rev: row["rev"], marks: row["marks"]}
	}
	var err error
	if len(row) > 0 {
		r.rev, r.marks = row["rev"], row["marks"]
		if r.Row, err = parseRow(r.ID, row); err != nil && s.signs == nil {
			return nil, unreadable(err)
		}
		if s.signs != nil {
			r.Row.Seal, r.covered = s.judge(r.Row, row, err), covered(row)
			if len(parts) > 8 && r.Row.Seal == approval.SealHolds && !agrees(r.Row, parts[8]) {
				r.Row.Seal = approval.SealBroken
			}
		}
	}
	r.Step = parseStep(memory)
	r.Reminded = memory["remind"] != ""
	if r.Votes, err = parseVotes(memory); err != nil {
		return nil, unreadable(fmt.Errorf("votes: %w", err))
	}
	cards, _ := parts[4].([]any)
	for _, c := range cards {
		pair, ok := c.([]any)
		if !ok || len(pair) != 2 {
			continue
		}
		r.Cards = append(r.Cards, parseCard(asString(pair[0]), asMap(pair[1])))
	}
	slices.SortFunc(r.Cards, func(a, b Card) int {
		if a.Message != b.Message {
			return a.Message - b.Message
		}
		return strings.Compare(a.ID, b.ID)
	})
	if len(parts) > 6 {
		r.CardID = asString(parts[5])
		r.settleIn(asMap(parts[6]))
	}
	if len(parts) > 7 {
		r.due = asString(parts[7])
	}
	return r, nil
}

// parseRow reads a row's fields. With an error it returns what could be read.
func parseRow(id string, f map[string]string) (*approval.Row, error) {
	var faults []error
	fault := func(field string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", field, err))
		}
	}
	r := &approval.Row{
		ID: id, State: approval.State(f["state"]), Ref: f["ref"], Rev: number(f["rev"]),
		Stream: f["stream"], Terms: f["terms"], Pin: f["pin"], Tier: f["tier"],
		OpenedAt: millis(f["opened_at"]), ExpiresAt: millis(f["expires_at"]),
		AnswerAt: millis(f["answered_at"]), ReportAt: millis(f["reported_at"]), UndoUntil: millis(f["undo_until"]),
		Forgotten: millis(f["forgotten_at"]),
		Quorum:    int(number(f["quorum"])),
	}
	for _, o := range strings.FieldsFunc(f["owners"], func(c rune) bool { return c == ',' }) {
		r.Owners = append(r.Owners, number(o))
	}
	if f["chats"] != "" {
		fault("chats", json.Unmarshal([]byte(f["chats"]), &r.Chats))
	}
	if f["quiet"] != "" {
		fault("quiet", json.Unmarshal([]byte(f["quiet"]), &r.Quiet))
	}
	if raw, ok := f["request"]; ok {
		r.Raw = []byte(raw)
		q, err := approval.Decode(r.Raw)
		if fault("request", err); err == nil {
			r.Request = &q
		}
	}
	if f["answer"] != "" {
		a, err := approval.DecodeAnswer([]byte(f["answer"]))
		if fault("answer", err); err == nil {
			r.Answer = a
		}
	}
	if f["report"] != "" {
		p, err := approval.DecodeReport([]byte(f["report"]))
		if fault("report", err); err == nil {
			r.Report = &p
		}
	}
	if f["claimed_at"] != "" {
		r.Claim = &approval.ClaimRecord{By: f["claimed_by"], At: millis(f["claimed_at"]), Pin: f["pin"]}
	}
	if f["undo"] != "" {
		r.Undo = new(approval.By)
		fault("undo", json.Unmarshal([]byte(f["undo"]), r.Undo))
	}
	return r, errors.Join(faults...)
}

func parseStep(f map[string]string) *approval.Step {
	if f["step_by"] == "" {
		return nil
	}
	return &approval.Step{
		By: number(f["step_by"]), Name: f["step_name"], Rev: number(f["step_rev"]),
		OpenedAt: millis(f["step_at"]), Chat: number(f["step_chat"]), CardID: f["step_card"],
		ShownAt: millis(f["step_shown"]), Question: int(number(f["step_question"])),
		QuestionChat: number(f["step_asked_chat"]),
	}
}

// A castVote is a vote as it is kept. Rev is the row's revision it was cast at:
// two votes may share a millisecond, but never a revision.
type castVote struct {
	approval.Vote
	Rev int64 `json:"rev"`
}

func parseVotes(f map[string]string) ([]approval.Vote, error) {
	var cast []castVote
	for k, v := range f {
		if !strings.HasPrefix(k, "vote:") {
			continue
		}
		var vote castVote
		if err := json.Unmarshal([]byte(v), &vote); err != nil {
			return nil, err
		}
		cast = append(cast, vote)
	}
	slices.SortFunc(cast, func(a, b castVote) int { return cmp.Compare(a.Rev, b.Rev) })
	votes := make([]approval.Vote, len(cast))
	for i, v := range cast {
		votes[i] = v.Vote
	}
	return votes, nil
}

func parseCard(id string, f map[string]string) Card {
	c := Card{
		ID: id, Chat: number(f["chat"]), Thread: int(number(f["thread"])), Sent: f["message"] != "", Message: int(number(f["message"])),
		Drawn: f["drawn"], Page: int(number(f["page"])), Exact: f["exact"] == "1", Reader: f["reader"] == "1",
		Retired: f["retired"] == "1", Topicless: f["topicless"] != "", Astray: f["topicless"] == Astray, Failed: f["failed"], Doubt: f["doubt"], Notice: beside(f["notice"]),
		Reminder: beside(f["reminder"]), Trying: millis(f["message_until"]), Copies: map[int]string{}, Seen: map[int64][]string{},
	}
	for k, v := range f {
		if m, ok := strings.CutPrefix(k, "copy:"); ok {
			c.Copies[int(number(m))] = v
		}
		if u, ok := strings.CutPrefix(k, "seen:"); ok && v != "" {
			c.Seen[number(u)] = strings.Split(v, ",")
		}
	}
	if c.Sent && c.Message == 0 {
		c.adopt()
	}
	return c
}

// adopt takes a copy for the message that Telegram did not name.
func (c *Card) adopt() {
	for _, m := range slices.Sorted(maps.Keys(c.Copies)) {
		c.Message, c.Drawn = m, c.Copies[m]
		delete(c.Copies, m)
		return
	}
}

// beside reads a message that was sent beside a card's own.
func beside(s string) int {
	if s == "0" {
		return -1 // sent, but Telegram did not say as which message
	}
	return int(number(s))
}

func asString(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

func asMap(v any) map[string]string {
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]string, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		m[asString(list[i])] = asString(list[i+1])
	}
	return m
}

// number reads what our own scripts wrote; what they did not write is 0.
func number(s string) int64 {
	if s == "" { // most fields are not there, and an error costs more than all the rest
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func millis(s string) time.Time {
	n := number(s)
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// toMillis writes a time as rows hold it; the zero time is 0.
func toMillis(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}
