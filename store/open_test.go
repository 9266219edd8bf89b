package store_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// opens attempts an opening.
func (e *env) opens(o store.Opening, want store.OpenStatus) string {
	e.Helper()
	status, detail, err := e.store.Open(e.ctx, o)
	e.ok(err)
	same(e, "status", status, want)
	return detail
}

// opensNothing wants an opening to write nothing.
func (e *env) opensNothing(o store.Opening, want store.OpenStatus) (detail string) {
	e.Helper()
	e.unchanged(func() { detail = e.opens(o, want) })
	return detail
}

// unreadable is the opening of a request of which only the id could be read.
func (e *env) unreadable(id string) store.Opening {
	o := e.opening(id)
	o.Ask, o.Raw, o.Terms, o.Pin = nil, nil, "sha256:raw", ""
	o.ExpiresAt, o.Owners, o.Chats = time.Time{}, nil, nil
	return answeredAtOnce(o, approval.Refused, approval.Intake, "invalid: card.title is required")
}

func openChecks() []check {
	return []check{
		{"open", "a request gets its row, deadline, reference, audit line and mark", func(e *env) {
			o := e.opening("a1")
			o.Tier, o.Quorum, o.RemindAt, o.Quiet = "destroy", 2, o.ExpiresAt.Add(-10*time.Minute), []int64{7}
			o.Chats = append(o.Chats, approval.Chat{ID: -100, Thread: 7})
			var ref string
			e.marked("a1", func() { ref = e.opens(o, store.Opened) })

			row := e.rdb.HGetAll(e.ctx, e.keys.Row("a1")).Val()
			e.at("opened_at", e.read("a1").Row.OpenedAt, e.now())
			delete(row, "opened_at")
			same(e, "row", row, map[string]string{
				"state": "open", "ref": ref, "rev": "1", "request": string(o.Raw), "stream": e.keys.Requests(),
				"terms": o.Terms, "pin": o.Pin, "expires_at": strconv.FormatInt(o.ExpiresAt.UnixMilli(), 10),
				"kind": "tool_call", "owners": ",1001,1002,", "quorum": "2", "tier": "destroy", "quiet": "[7]",
				"chats": `[{"id":1001},{"id":-100,"thread":7}]`,
			})
			same(e, "deadline", e.score(e.keys.Deadlines(), "a1"), o.ExpiresAt)
			same(e, "reminder", e.score(e.keys.Reminders(), "a1"), o.RemindAt)
			same(e, "reference leads to", e.rdb.Get(e.ctx, e.keys.Ref(ref)).Val(), "a1")
			e.audited("a1 requested>open intake/" + e.keys.Requests())
			same(e, "audit lines", len(e.audits()), 1)
			same(e, "answers", len(e.events(e.keys.Answers()))+len(e.events(e.keys.Answer("a1"))), 0)
			for _, key := range []string{e.keys.Row("a1"), e.keys.Ref(ref)} {
				e.livesFor(key, -1)
			}
		}},
		{"open", "without a reminder none is kept, and a quorum is at least one", func(e *env) {
			o := e.opening("a1")
			o.Quorum = 0
			e.opens(o, store.Opened)
			same(e, "reminder", e.score(e.keys.Reminders(), "a1"), time.Time{})
			same(e, "quorum", e.read("a1").Row.Quorum, 1)
		}},
		{"open", "the same id with the same terms is the same approval", func(e *env) {
			e.open("a1")
			e.opensNothing(e.opening("a1"), store.Same)
		}},
		{"open", "the same id with other terms changes nothing", func(e *env) {
			e.open("a1")
			e.opensNothing(e.opening("a1", storetest.With("run_id", "other")), store.Differs)
		}},
		{"open", "an answered approval asked again is the same, or differs", func(e *env) {
			e.approved("a1")
			e.opensNothing(e.opening("a1"), store.Same)
			e.opensNothing(e.opening("a1", storetest.With("run_id", "other")), store.Differs)
		}},
		{"open", "a refused id stays refused, whatever comes under it", func(e *env) {
			e.opens(e.unreadable("a1"), store.Opened)
			e.opensNothing(e.opening("a1"), store.RefusedBefore)
			e.opensNothing(e.unreadable("a1"), store.RefusedBefore)
		}},
		{"open", "an approval refused after it was open is compared by its terms", func(e *env) {
			e.decides(e.open("a1"), unreachable(), store.Done)
			e.opensNothing(e.opening("a1"), store.Same)
			e.opensNothing(e.opening("a1", storetest.With("run_id", "other")), store.Differs)
		}},
		{"open", "a withdrawal that came before by the same stream counts", func(e *env) {
			e.withdrawn("a1", e.keys.Requests(), "not needed", true)
			same(e, "reason", e.opensNothing(e.opening("a1"), store.WithdrawnSoon), "not needed")
		}},
		{"open", "a withdrawal before its request stops a policy's approval too", func(e *env) {
			e.withdrawn("a1", e.keys.Requests(), "", true)
			e.opensNothing(answeredAtOnce(e.opening("a1"), approval.Approved, approval.Policy, ""), store.WithdrawnSoon)
		}},
		{"open", "a withdrawal that came before by another stream changes nothing, and is forgotten", func(e *env) {
			e.withdrawn("a1", "elsewhere", "", true)
			e.opens(e.opening("a1"), store.Opened)
			same(e, "remembered", e.there(e.keys.WithdrawnKey("a1")), false)
		}},
		{"open", "another stream's withdrawal does not take the place of the right one", func(e *env) {
			e.withdrawn("a1", e.keys.Requests(), "mine", true)
			e.withdrawn("a1", "elsewhere", "not mine", true)
			same(e, "reason", e.opensNothing(e.opening("a1"), store.WithdrawnSoon), "mine")
		}},
		{"open", "with less than a second left it is late", func(e *env) {
			for _, state := range []approval.State{approval.Open, approval.Approved} {
				o := e.opening("a1")
				if o.State = state; state == approval.Approved {
					o = answeredAtOnce(o, state, approval.Policy, "")
				}
				o.ExpiresAt = e.now().Add(time.Second - time.Millisecond)
				e.opensNothing(o, store.TooLate)
			}
		}},
		{"open", "with a second left it opens", func(e *env) {
			o := e.opening("a1")
			o.ExpiresAt = e.now().Add(time.Second - time.Millisecond + e.tick())
			e.opens(o, store.Opened)
		}},
		{"open", "a taken reference is passed over, and when all on offer are taken more are made", func(e *env) {
			first := strings.Repeat("\x00", 16) // 22222, and again
			bytes := first + first + strings.Repeat("\xff", 3) + "\x00\x00\x00\x00\x00" + "\x01\x01\x01\x01\x1d" + first
			o := storetest.Options(e.server)
			o.Random = strings.NewReader(bytes)
			st, err := e.other(o)
			e.ok(err)
			for id, want := range map[string]string{"a1": "22222"} {
				_, ref, err := st.Open(e.ctx, e.opening(id))
				e.ok(err)
				same(e, "reference", ref, want)
			}
			_, ref, err := st.Open(e.ctx, e.opening("a2"))
			e.ok(err)
			same(e, "second reference", ref, "3333Z")
			same(e, "first reference leads to", e.rdb.Get(e.ctx, e.keys.Ref("22222")).Val(), "a1")
		}},
		{"withdrawn", "a withdrawal before its request is remembered for a while", func(e *env) {
			e.withdrawn("a1", e.keys.Requests(), "", true)
			e.livesFor(e.keys.WithdrawnKey("a1"), 168*time.Hour)
		}},
		{"withdrawn", "once the row is there a withdrawal is not one before its request", func(e *env) {
			e.open("a1")
			e.unchanged(func() { e.withdrawn("a1", e.keys.Requests(), "", false) })
		}},
	}
}

func (e *env) withdrawn(id, stream, reason string, want bool) {
	e.Helper()
	remembered, err := e.store.Withdrawn(e.ctx, id, stream, reason, 168*time.Hour)
	e.ok(err)
	same(e, "remembered", remembered, want)
}

// What is opened together comes to the same as one by one, whether Redis knows the
// script or not, and none that fails keeps another from being opened.
func TestOpenAll(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		for _, round := range []string{"a", "b"} { // the embedded server has not met the script before
			id := func(n int) string { return round + strconv.Itoa(n) }
			e.withdrawn(id(4), e.keys.Requests(), "not needed", true)
			e.ok(e.rdb.Set(e.ctx, e.keys.Row(id(6)), "no hash", 0).Err())
			late := e.opening(id(5))
			late.ExpiresAt = e.now()
			nobody := answeredAtOnce(e.opening(id(7)), approval.Lapsed, approval.Sweeper, "")
			nobody.By = approval.By{}
			openings := []store.Opening{
				e.opening(id(1)),
				e.opening(id(1)),
				e.opening(id(1), storetest.With("run_id", "other")),
				e.unreadable(id(2)),
				e.opening(id(2)),
				answeredAtOnce(e.opening(id(3)), approval.Approved, approval.Policy, ""),
				e.opening(id(4)), late, e.opening(id(6)), nobody, e.opening(id(8)),
			}
			want := []store.OpenStatus{
				store.Opened, store.Same, store.Differs, store.Opened, store.RefusedBefore, store.Opened,
				store.WithdrawnSoon, store.TooLate, "", "", store.Opened,
			}
			for i, res := range e.store.OpenAll(e.ctx, openings) {
				if res.Status != want[i] || (res.Err != nil) != (want[i] == "") {
					t.Errorf("opening %d of %s: %q, %v, want %q", i, round, res.Status, res.Err, want[i])
				}
				switch res.Status {
				case store.WithdrawnSoon:
					same(e, "reason", res.Detail, "not needed")
				case store.Opened:
					same(e, "reference", res.Detail, e.read(openings[i].ID).Row.Ref)
				}
			}
			for n, state := range map[int]approval.State{1: approval.Open, 2: approval.Refused, 3: approval.Approved, 8: approval.Open} {
				same(e, "state", e.read(id(n)).Row.State, state)
			}
			same(e, "late", e.read(id(5)).Row == nil, true)
		}
		same(e, "of none", len(e.store.OpenAll(e.ctx, nil)), 0)
	})
}

// More than may go at once goes in several exchanges, and a large one by itself.
func TestOpenAllInParts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		var openings []store.Opening
		for i := range 12 {
			o := e.opening("a" + strconv.Itoa(i))
			o.Raw = append(o.Raw, bytes.Repeat([]byte(" "), 240<<10)...)
			openings = append(openings, o)
		}
		openings[5].Raw = append(openings[5].Raw, bytes.Repeat([]byte(" "), 2<<20)...)
		for i, res := range e.store.OpenAll(e.ctx, openings) {
			e.ok(res.Err)
			same(e, "status", res.Status, store.Opened)
			same(e, "length", int(e.rdb.HStrLen(e.ctx, e.keys.Row(openings[i].ID), "request").Val()), len(openings[i].Raw))
		}
	})
}

// Where nothing can be sent every opening says so.
func TestOpenAllWhileAway(t *testing.T) {
	t.Parallel()
	s := storetest.Embedded(t)
	st := storetest.NewStore(t, s)
	openings := []store.Opening{
		storetest.NewOpening(t, st, storetest.Request("a1")), storetest.NewOpening(t, st, storetest.Request("a2")),
	}
	s.Fail("LOADING it is not there yet")
	for i, res := range st.OpenAll(t.Context(), openings) {
		if res.Err == nil || res.Status != "" {
			t.Errorf("opening %d: %q, %v, want an error", i, res.Status, res.Err)
		}
	}
}

func TestOpenWithoutRandomness(t *testing.T) {
	t.Parallel()
	s := storetest.Embedded(t)
	fault := errors.New("no entropy")
	for name, r := range map[string]io.Reader{"fails": iotest.ErrReader(fault), "ends": bytes.NewReader([]byte{1})} {
		st := storetest.NewStore(t, s, func(o *store.Options) { o.Random = r })
		_, _, err := st.Open(t.Context(), storetest.NewOpening(t, st, storetest.Request("a1")))
		if !errors.Is(err, fault) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
		if r := storetest.Read(t, st, "a1"); r.Row != nil {
			t.Errorf("%s: a row was written", name)
		}
	}
}
