package queue_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"countersign/approval"
	"countersign/queue"
	"countersign/store/storetest"
)

// A conformance is the table that the clients of all languages pass.
type conformance struct {
	Canonical []struct{ Name, JSON, Canonical string }
	Requests  []struct {
		Name, Terms, Pin, Error string
		Data                    parts
	}
	Exchanges []exchange
}

// An exchange is what is in Redis, what a client does, and what comes of it.
type exchange struct {
	Name   string
	Redis  string // away, or ""
	Before struct {
		Alive   []string
		Rows    map[string]map[string]string
		Claims  map[string]map[string]string
		Answers map[string][]string
	}
	Do struct {
		Verb     string
		Data     json.RawMessage
		Stream   string
		NoCheck  bool `json:"no_check"`
		Pending  queue.Pending
		Timeout  float64
		ID       string `json:"approval_id"`
		Pin, By  string
		Keys     []string // public keys that are trusted, PEM
		Streams  []string
		Outcome  approval.State
		Message  string
		Results  []approval.Result
		UndoTill *time.Time `json:"undo_until"`
		Reason   string
	}
	Want string
	Sent []sentEvent
}

// A sentEvent is one entry that was added to an inbound stream.
type sentEvent struct{ Stream, Type, ID, Data string }

// parts are the bytes of a text: itself, or a list of texts, of texts repeated
// and of bytes in hex.
type parts []byte

// UnmarshalJSON puts the parts together.
func (p *parts) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		list = []json.RawMessage{data}
	}
	var out bytes.Buffer
	for _, part := range list {
		var (
			text     string
			repeated []any
			raw      struct{ Hex string }
		)
		switch {
		case json.Unmarshal(part, &text) == nil:
			out.WriteString(text)
		case json.Unmarshal(part, &repeated) == nil:
			out.WriteString(strings.Repeat(repeated[0].(string), int(repeated[1].(float64))))
		case json.Unmarshal(part, &raw) == nil:
			b, err := hex.DecodeString(raw.Hex)
			if err != nil {
				return err
			}
			out.Write(b)
		default:
			return fmt.Errorf("no part: %s", part)
		}
	}
	*p = out.Bytes()
	return nil
}

func readConformance(t *testing.T, replace ...string) conformance {
	t.Helper()
	data, err := os.ReadFile("../clients/conformance.json")
	must(t, err)
	var c conformance
	must(t, json.Unmarshal([]byte(strings.NewReplacer(replace...).Replace(string(data))), &c))
	if len(c.Canonical) == 0 || len(c.Requests) == 0 || len(c.Exchanges) == 0 {
		t.Fatal("the table is empty")
	}
	return c
}

func TestConformanceDigests(t *testing.T) {
	c := readConformance(t)
	for _, row := range c.Canonical {
		if got, err := approval.Canonical([]byte(row.JSON)); err != nil || string(got) != row.Canonical {
			t.Errorf("%s: %s, %v, want %s", row.Name, got, err, row.Canonical)
		}
	}
	for _, row := range c.Requests {
		q, err := approval.Decode(row.Data)
		wrong, pin := "", ""
		if err != nil {
			wrong = err.Error()
		}
		if q.Calls != nil {
			pin, err = approval.PinOf(q.Calls)
			must(t, err)
		}
		if terms := approval.TermsOrRaw(row.Data); terms != row.Terms || pin != row.Pin || wrong != row.Error {
			t.Errorf("%s: terms %s, pin %q, error %q; want %s, %q, %q", row.Name, terms, pin, wrong, row.Terms, row.Pin, row.Error)
		}
	}
}

func TestConformanceExchanges(t *testing.T) {
	for _, x := range readConformance(t).Exchanges {
		t.Run(x.Name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, s *storetest.Server) { x.in(t, s).run(t, s) })
		})
	}
}

// in is the exchange with its names of keys and times as they are on a server.
func (x exchange) in(t *testing.T, s *storetest.Server) exchange {
	t.Helper()
	tag := strings.TrimSuffix(s.Keys().Prefix(), ":")
	now := fmt.Sprint(s.Now(t).UnixMilli())
	all := readConformance(t, "{NS}", tag, "NOW-", now+"-").Exchanges
	return all[slices.IndexFunc(all, func(y exchange) bool { return y.Name == x.Name })]
}

func (x exchange) run(t *testing.T, s *storetest.Server) {
	x.prepare(t, s)
	var rdb redis.UniversalClient = s.Client()
	if !s.IsEmbedded() { // which knows no rights
		rdb = s.Login(t, "runtime", "(+xadd %W~"+s.Keys().Prefix()+"mail)")
	}
	if x.Redis == "away" {
		rdb = redis.NewClient(&redis.Options{
			Addr: deaf(t), MaxRetries: -1,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		defer rdb.Close()
	}
	options := []queue.Option{queue.WithSlice(5 * time.Millisecond)}
	if x.Do.Stream != "" {
		options = append(options, queue.WithStream(x.Do.Stream))
	}
	if len(x.Do.Keys) > 0 {
		keys, err := approval.ParseKeys([]byte(strings.Join(x.Do.Keys, "\n")))
		must(t, err)
		options = append(options, queue.WithKeys(keys))
	}
	got := x.act(within(t), queue.NewClient(rdb, s.Namespace(), options...))
	if got != x.Want {
		t.Errorf("came to %q, want %q", got, x.Want)
	}
	if diff := cmp.Diff(normal(t, x.Sent), normal(t, sentTo(t, s))); diff != "" {
		t.Errorf("events sent (-want +got):\n%s", diff)
	}
}

// deaf is an address where nothing listens.
func deaf(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func (x exchange) prepare(t *testing.T, s *storetest.Server) {
	t.Helper()
	c, k, ctx := s.Client(), s.Keys(), t.Context()
	if len(x.Before.Alive) > 0 {
		list, err := json.Marshal(x.Before.Alive)
		must(t, err)
		must(t, c.Set(ctx, k.Alive(), list, 0).Err())
	}
	for id, fields := range x.Before.Rows {
		must(t, c.HSet(ctx, k.Row(id), fields).Err())
	}
	for id, fields := range x.Before.Claims {
		must(t, c.HSet(ctx, k.Claim(id), fields).Err())
	}
	for id, list := range x.Before.Answers {
		for _, data := range list {
			must(t, c.XAdd(ctx, &redis.XAddArgs{
				Stream: k.Answer(id), Values: []string{"type", "approval.answered", "data", data},
			}).Err())
		}
	}
}

// act does what the row says and names what came of it.
func (x exchange) act(ctx context.Context, c *queue.Client) string {
	d := x.Do
	switch d.Verb {
	case "request":
		var data parts
		if err := json.Unmarshal(d.Data, &data); err != nil {
			return err.Error()
		}
		_, err := c.Request(ctx, queue.Request{Data: json.RawMessage(data), NoCheck: d.NoCheck})
		return outcomeOf(err)
	case "await":
		if d.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(d.Timeout*float64(time.Second)))
			defer cancel()
		}
		answer, err := c.Await(ctx, d.Pending)
		if err != nil {
			return outcomeOf(err)
		}
		return string(answer.Decision)
	case "claim":
		return outcomeOf(c.Claim(ctx, d.ID, d.Pin, d.By, d.Streams...))
	case "report":
		return outcomeOf(c.Report(ctx, approval.Report{
			ID: d.ID, Outcome: d.Outcome, Message: d.Message, Results: d.Results, UndoUntil: d.UndoTill,
		}))
	case "withdraw":
		return outcomeOf(c.Withdraw(ctx, d.ID, d.Reason))
	}
	return "no such verb: " + d.Verb
}

// outcomeOf is the table's word for an error.
func outcomeOf(err error) string {
	var (
		invalid *approval.Invalid
		refused *queue.ClaimRefused
		network net.Error
	)
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, queue.ErrBadSignature):
		return "bad_signature"
	case errors.As(err, &invalid):
		return invalid.Error()
	case errors.As(err, &refused):
		return string(refused.Status)
	case errors.Is(err, context.DeadlineExceeded):
		return "timed_out"
	case errors.Is(err, queue.ErrUnavailable), errors.As(err, &network):
		return "unavailable"
	case errors.Is(err, queue.ErrUnknown):
		return "unknown"
	case errors.Is(err, queue.ErrTaken):
		return "taken"
	case errors.Is(err, queue.ErrNotMine):
		return "not_mine"
	}
	return err.Error()
}

// sentTo lists what was added to the inbound streams of a namespace.
func sentTo(t *testing.T, s *storetest.Server) []sentEvent {
	t.Helper()
	var all []sentEvent
	for _, stream := range []string{s.Keys().Requests(), s.Keys().Prefix() + "mail"} {
		entries, err := s.Client().XRange(t.Context(), stream, "-", "+").Result()
		must(t, err)
		for _, e := range entries {
			all = append(all, sentEvent{
				stream, e.Values["type"].(string), e.Values["id"].(string), e.Values["data"].(string),
			})
		}
	}
	return all
}

// normal writes data in its canonical form: the order of fields is a client's own.
func normal(t *testing.T, events []sentEvent) []sentEvent {
	t.Helper()
	events = slices.Clone(events)
	for i, e := range events {
		canonical, err := approval.Canonical([]byte(e.Data))
		must(t, err)
		events[i].Data = string(canonical)
	}
	return events
}
