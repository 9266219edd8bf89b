package queue_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/queue"
	"countersign/store/storetest"
)

func TestRequestOpensRow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		data := storetest.Request("a1")
		entry := b.add("type", "approval.requested", "data", data)
		if n := b.step(); n != 1 {
			t.Fatalf("took %d entries, want 1", n)
		}
		row := b.row("a1")
		if row == nil || row.State != approval.Open {
			t.Fatalf("row is %+v, want open", row)
		}
		terms, err := approval.Terms(data)
		must(t, err)
		pin, err := approval.PinOf(storetest.Decode(t, data).Calls)
		must(t, err)
		type facts struct {
			Raw, Stream, Terms, Pin string
			Owners                  []int64
			Chats                   []approval.Chat
			Quorum                  int
		}
		got := facts{string(row.Raw), row.Stream, row.Terms, row.Pin, row.Owners, row.Chats, row.Quorum}
		want := facts{string(data), s.Keys().Requests(), terms, pin, b.router.route.Owners, b.router.route.Chats, 1}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("row (-want +got):\n%s", diff)
		}
		if want := entryTime(t, entry).Add(time.Hour); !row.ExpiresAt.Equal(want) {
			t.Errorf("expires at %v, want an hour after its entry, %v", row.ExpiresAt, want)
		}
		if n := b.pending(); n != 0 {
			t.Errorf("%d entries pending, want 0", n)
		}
		remind, err := s.Client().ZScore(t.Context(), s.Keys().Prefix()+"bot:reminders", "a1").Result()
		if want := row.ExpiresAt.Add(-10 * time.Minute).UnixMilli(); err != nil || int64(remind) != want {
			t.Errorf("reminder at %v (%v), want ten minutes before the deadline, %v", int64(remind), err, want)
		}
	})
}

// A reminder needs twice its time: with less it would come at once.
func TestShortRequestGetsNoReminder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("short", storetest.With("expires_in", 19*60))
		b.step()
		if n, err := s.Client().ZCard(t.Context(), s.Keys().Prefix()+"bot:reminders").Result(); n != 0 || err != nil {
			t.Errorf("%d reminders (%v), want none", n, err)
		}
	})
}

// An event that nobody can use ends as a dead letter or as a refusal that names
// the field, and the next event is served.
func TestBadInput(t *testing.T) {
	const kind = "approval.requested"
	good := func(options ...storetest.Option) string { return string(storetest.Request("bad", options...)) }
	tests := []struct {
		name    string
		fields  []any
		dead    string // the reason of the dead letter
		refused string // the reason of the refusal
	}{
		{name: "no type", fields: []any{"data", good()}, dead: "invalid: type: required"},
		{name: "type twice", fields: []any{"type", kind, "type", kind, "data", good()}, dead: "invalid: type: given 2 times"},
		{name: "unknown type", fields: []any{"type", "approval.renamed", "data", good()}, dead: "unknown_type"},
		{name: "no data", fields: []any{"type", kind}, dead: "invalid: data: required"},
		{name: "data twice", fields: []any{"type", kind, "data", good(), "data", good()}, dead: "invalid: data: given 2 times"},
		{name: "two values", fields: []any{"type", kind, "data", good() + good()}, dead: "invalid: data:"},
		{name: "empty", fields: []any{"type", kind, "data", ""}, dead: "invalid: data:"},
		{name: "brace", fields: []any{"type", kind, "data", "{"}, dead: "invalid: data:"},
		{name: "list", fields: []any{"type", kind, "data", "[]"}, dead: "invalid: data: must be a JSON object"},
		{name: "no id", fields: []any{"type", kind, "data", "{}"}, dead: "invalid: approval_id: required"},
		{name: "id is a number", fields: []any{"type", kind, "data", `{"approval_id":1}`}, dead: "invalid: approval_id:"},
		{name: "id with a space", fields: []any{"type", kind, "data", `{"approval_id":"a b"}`}, dead: "invalid: approval_id:"},
		{
			name: "id twice", fields: []any{"type", kind, "data", `{"approval_id":"bad","approval_id":"bad"}`},
			dead: "invalid: approval_id:",
		},
		{name: "not UTF-8", fields: []any{"type", kind, "data", "\xff\xfe"}, dead: "invalid: data:"},
		{name: "no title", fields: []any{"type", kind, "data", good(storetest.With("card", nil))}, refused: "invalid: card.title: required"},
		{name: "wrong type", fields: []any{"type", kind, "data", good(storetest.With("tool", 7))}, refused: "invalid: tool:"},
		{name: "key twice", fields: []any{"type", kind, "data", `{"approval_id":"bad","tool":"a","tool":"b"}`}, refused: "invalid: tool:"},
		{
			name:    "too deep",
			fields:  []any{"type", kind, "data", `{"approval_id":"bad","context":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`},
			refused: "invalid: ",
		},
		{
			name: "too many lines", fields: []any{"type", kind, "data", good(storetest.With("card", map[string]any{
				"title": "t", "lines": make([]string, 10_000),
			}))},
			refused: "invalid: card.lines:",
		},
		{
			name: "a megabyte", fields: []any{"type", kind, "data", good(storetest.With("session", strings.Repeat("x", 1<<20)))},
			refused: "too_large: data:",
		},
		{name: "expiry too short", fields: []any{"type", kind, "data", good(storetest.With("expires_in", 4))}, refused: "invalid: expires_in:"},
		{name: "expiry too long", fields: []any{"type", kind, "data", good(storetest.With("expires_in", 1e6))}, refused: "invalid: expires_in:"},
		{name: "expiry null", fields: []any{"type", kind, "data", good(storetest.With("expires_in", nil), storetest.With("expires_at", (*int)(nil)))}, refused: "invalid: expires_at:"},
		{name: "expiry soon", fields: []any{"type", kind, "data", good(storetest.With("expires_in", nil), storetest.With("expires_at", "soon"))}, refused: "invalid: expires_at:"},
		{name: "expiry without offset", fields: []any{"type", kind, "data", good(storetest.With("expires_in", nil), storetest.With("expires_at", "2027-01-01T00:00:00"))}, refused: "invalid: expires_at:"},
		{name: "expiry in 9999", fields: []any{"type", kind, "data", good(storetest.With("expires_in", nil), storetest.With("expires_at", "9999-01-01T00:00:00Z"))}, refused: "invalid: expires_at:"},
		{name: "withdrawal of nothing", fields: []any{"type", "approval.withdrawn", "data", "{}"}, dead: "invalid: approval_id: required"},
		{name: "claim without pin", fields: []any{"type", "approval.claimed", "data", `{"approval_id":"bad","by":"me"}`}, dead: "invalid: pin: required"},
		{name: "claim of nothing", fields: []any{"type", "approval.claimed", "data", `{"approval_id":"bad","by":"me","pin":"p"}`}, dead: "unknown_approval"},
		{name: "report of nothing", fields: []any{"type", "approval.reported", "data", `{"approval_id":"bad","outcome":"executed"}`}, dead: "unknown_approval"},
		{name: "report without outcome", fields: []any{"type", "approval.reported", "data", `{"approval_id":"bad"}`}, dead: "invalid: outcome: required"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, s *storetest.Server) {
				b := newBench(t, s)
				b.add(test.fields...)
				b.request("next")
				b.step()
				if got := b.state("next"); got != approval.Open {
					t.Errorf("the next request is %q, want open", got)
				}
				if n := b.pending(); n != 0 {
					t.Errorf("%d entries pending, want 0", n)
				}
				dead, row := b.dead(), b.row("bad")
				if test.dead != "" {
					if len(dead) != 1 || !strings.HasPrefix(dead[0], test.dead) || row != nil {
						t.Fatalf("dead letters %q and row %v, want one that begins %q and none", dead, row, test.dead)
					}
					return
				}
				if len(dead) > 0 || row == nil || row.State != approval.Refused || row.Answer == nil {
					t.Fatalf("dead letters %q and row %+v, want none and a refusal", dead, row)
				}
				if !strings.HasPrefix(row.Answer.Reason, test.refused) {
					t.Errorf("refused with %q, want %q", row.Answer.Reason, test.refused)
				}
				if row.Answer.By.Surface != approval.Intake || row.Request != nil || b.answers("bad") != 1 {
					t.Errorf("refused by %+v with request %v and %d answers, want by intake, none and 1",
						row.Answer.By, row.Request, b.answers("bad"))
				}
			})
		})
	}
}

// A refused id stays refused: a better request under it changes nothing.
func TestRefusedStaysRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("a1", storetest.With("card", nil))
		b.request("a1")
		b.step()
		if said := b.row("a1").Answer.Observation; !strings.Contains(said, ": a1 (") {
			t.Errorf("the observation is %q, want the id where there is no title", said)
		}
		if got := b.state("a1"); got != approval.Refused || b.answers("a1") != 1 || len(b.dead()) != 0 {
			t.Errorf("state %s, %d answers, dead %q; want refused, 1, none", got, b.answers("a1"), b.dead())
		}
	})
}

func TestTermsDiffer(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.request("a1")
		b.request("a1", storetest.With("expires_in", 600)) // not part of the terms
		b.add("type", "noise")                             // its warning must not swallow the other
		b.request("a1", storetest.With("tool", "delete_everything"))
		b.step()
		if diff := cmp.Diff([]string{"unknown_type", "terms_differ"}, b.dead()); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
		if got := b.row("a1"); got.State != approval.Open || got.Request.Calls[0].Tool != "trash_emails" {
			t.Errorf("row is %+v, want the first one, open", got)
		}
		if b.count.of("dead terms_differ") != 1 || b.log.count("terms_differ") != 1 || b.count.of("repeated") != 1 {
			t.Errorf("counted %v, logged %d; want one each", b.count.seen, b.log.count("terms_differ"))
		}
		if b.answers("") != 0 {
			t.Errorf("%d answers, want none", b.answers(""))
		}
	})
}

func TestUnroutable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		b := newBench(t, s)
		b.router.route.Chats = nil
		b.request("a1")
		b.step()
		row := b.row("a1")
		if row.State != approval.Refused || approval.ReasonCode(row.Answer.Reason) != approval.CodeUnroutable {
			t.Fatalf("row is %s with %+v, want refused as unroutable", row.State, row.Answer)
		}
		if row.Answer.Terms != row.Terms || row.Answer.Pin != row.Pin || row.Pin == "" {
			t.Errorf("answer has terms %q and pin %q, want the row's %q and %q",
				row.Answer.Terms, row.Answer.Pin, row.Terms, row.Pin)
		}
	})
}

// Each stream lets through only its runtimes and ids, and only the stream of a
// request may speak of it afterwards.
func TestStreams(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		mail, far := s.Keys().Prefix()+"mail", "elsewhere-"+s.Namespace()
		t.Cleanup(func() { s.Client().Del(t.Context(), far) })
		if !s.IsEmbedded() { // which knows no rights
			s.User(t, "bot", "~"+far)
		}
		b := newBench(t, s, func(c *queue.IntakeConfig) {
			c.Streams = []queue.Stream{
				{Key: mail, Runtimes: []string{"post", "iris*"}, IDs: "iris.*"},
				{Key: far},
			}
		})
		ask := func(stream, id, runtime string) {
			b.addTo(stream, "*", "type", "approval.requested", "data", storetest.Request(id, storetest.With("runtime", runtime)))
		}
		ask(mail, "iris.1", "iris-2")
		ask(mail, "iris.2", "other")
		ask(mail, "b3", "iris")
		ask(far, "far", "anybody")
		b.addTo(far, "*", "type", "approval.withdrawn", "data", object(map[string]any{"approval_id": "iris.1"}))
		b.step()
		states := map[string]approval.State{}
		for _, id := range []string{"iris.1", "iris.2", "b3", "far"} {
			states[id] = b.state(id)
		}
		want := map[string]approval.State{
			"iris.1": approval.Open, "iris.2": approval.Refused, "b3": approval.Refused, "far": approval.Open,
		}
		if diff := cmp.Diff(want, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		for id, prefix := range map[string]string{"iris.2": "invalid: runtime: ", "b3": "invalid: approval_id: "} {
			if r := b.row(id).Answer.Reason; !strings.HasPrefix(r, prefix) {
				t.Errorf("%s refused with %q, want %q", id, r, prefix)
			}
		}
		if diff := cmp.Diff([]string{"wrong_stream"}, b.dead()); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
		for stream, group := range map[string]string{mail: "countersign", far: "countersign:" + s.Namespace()} {
			groups, err := s.Client().XInfoGroups(t.Context(), stream).Result()
			if err != nil || len(groups) != 1 || groups[0].Name != group {
				t.Errorf("groups of %s are %+v (%v), want %s", stream, groups, err, group)
			}
		}
	})
}
