package store

import (
	"cmp"
	"context"
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

// A Reading is one approval as it stood at one instant.
type Reading struct {
	Now      time.Time
	ID       string
	Row      *approval.Row // nil where there is none
	Step     *approval.Step
	Votes    []approval.Vote // in order
	Reminded bool            // its reminders are due
	Cards    []Card          // oldest message first
	CardID   string          // the card by which it was found, "" otherwise

	moves   Moves  // see Home
	rev     string // the row's revision, as it is kept
	marks   string // likewise, how often it was marked beside its changes
	due     string // when it is to be looked at, in ms, "" for never; only of what was read by itself
	covered string // what the row's seal covers, as it is kept; "" where no key is configured
}

// Card returns the card of that id, or nil.
func (r *Reading) Card(id string) *Card {
	for i := range r.Cards {
		if r.Cards[i].ID == id {
			return &r.Cards[i]
		}
	}
	return nil
}

// Due reports whether the approval is to be looked at by now; only of what one of the
// Read methods read.
func (r *Reading) Due() bool { return r.due != "" && !millis(r.due).After(r.Now) }

// SeenBy lists the pages, from 0, that an approval's cards have shown to a
// person, or reports that the whole list was.
func (r *Reading) SeenBy(user int64) (pages []int, all bool) {
	for _, c := range r.Cards {
		for _, p := range c.Seen[user] {
			if p == SeenAll {
				all = true
				continue
			}
			pages = append(pages, int(number(p)))
		}
	}
	return pages, all
}

// At returns the newest card of a chat on which it can be answered, neither
// retired nor a reader's copy, or nil.
func (r *Reading) At(chat int64) *Card {
	for i := len(r.Cards) - 1; i >= 0; i-- {
		if c := &r.Cards[i]; c.Chat == chat && !c.Retired && !c.Reader {
			return c
		}
	}
	return nil
}

// What a card's field topicless holds, beside "" where its topic is fine.
const (
	Topicless = "0" // what follows the card goes to the main chat
	Astray    = "1" // the card itself does too
)

// A Card is one card's whereabouts.
type Card struct {
	ID        string
	Chat      int64
	Thread    int
	Sent      bool           // Telegram took it; it may not have said as which message
	Trying    time.Time      // unsent: when the last call that tried to send it is over at the latest; zero: none did
	Message   int            // 0 where it is not known
	Drawn     string         // digest of what the message shows, "" if unknown
	Copies    map[int]string // further messages of this card, and what they show
	Page      int
	Exact     bool
	Reader    bool               // a reader's copy, without deciding buttons
	Retired   bool               // shown again below
	Topicless bool               // its topic takes nothing more: what is sent of it goes to the main chat
	Astray    bool               // so the card itself stands there
	Failed    string             // why it can never be shown, "" if it can
	Doubt     string             // why it may be that it can no longer be shown, "" if that is known
	Notice    int                // the lapse notice's message, 0 if none, -1 if sent and not known
	Reminder  int                // likewise
	Seen      map[int64][]string // pages each person has had shown; "all" for the file
}

// Read reads one approval.
func (s *Store) Read(ctx context.Context, id string) (*Reading, error) {
	return s.read(ctx, "id", id)
}

// ReadByCard reads the approval of a card, by the card's id.
func (s *Store) ReadByCard(ctx context.Context, card string) (*Reading, error) {
	return s.read(ctx, "card", card)
}

// ReadByRef reads the approval of a short reference, in upper case.
func (s *Store) ReadByRef(ctx context.Context, ref string) (*Reading, error) {
	return s.read(ctx, "ref", ref)
}

// ReadByMessage reads the approval to which a message of ours in that chat
// belongs: a card, a question or a notice.
func (s *Store) ReadByMessage(ctx context.Context, chat int64, message int) (*Reading, error) {
	return s.read(ctx, "message", strconv.FormatInt(chat, 10)+":"+strconv.Itoa(message))
}

func (s *Store) read(ctx context.Context, how, what string) (*Reading, error) {
	keys, args := s.reads(how, what)
	v, err := s.run(ctx, "read", keys, args...)
	if err != nil {
		return nil, err
	}
	return s.parseReading(v)
}

// reads is what the script that reads is given.
func (s *Store) reads(how, what string) (keys []string, args []any) {
	return []string{s.keys.dirty()}, []any{s.keys.Prefix(), how, what, flag(s.signs != nil)}
}

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
