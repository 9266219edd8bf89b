package handlers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
	"countersign/handlers"
	"countersign/store"
	"countersign/store/storetest"
)

// An exchanges counts what goes to Redis and back, each time by the commands in it.
type exchanges struct {
	mu  sync.Mutex // guards all
	all []string
}

func (x *exchanges) note(cmds ...redis.Cmder) {
	var names []string
	for _, c := range cmds {
		names = append(names, c.Name())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, strings.Join(names, "+"))
}

func (x *exchanges) DialHook(next redis.DialHook) redis.DialHook { return next }

func (x *exchanges) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { x.note(cmd); return next(ctx, cmd) }
}

func (x *exchanges) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { x.note(cmds...); return next(ctx, cmds) }
}

// of returns what goes to Redis while something is done.
func (x *exchanges) of(do func()) []string {
	x.all = nil
	do()
	return x.all
}

// steps taps the action on a card, and has the question shown for long enough.
func (s *scene) steps(id string, c store.Card, user int64) {
	s.Helper()
	s.is(s.taps(c, user, s.press(id, c, cards.LetterAction, 0)), "")
	s.drawn(id, c)
	s.advance(dwell)
}

// How often a tap goes to Redis: each time costs its person as long as everything else.
func TestExchangesOfATap(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1")
	s.steps("a1", c, ann) // Redis knows the scripts from now on
	s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0))
	c = s.open("a2")
	x := &exchanges{}
	s.server.Client().AddHook(x)
	tap := func(letter byte) func() {
		u := s.tapped(c, ann, s.press("a2", c, letter, 0))
		return func() { s.handle(u) }
	}
	for _, want := range []struct {
		letter byte
		goes   []string
	}{
		{cards.LetterAction, []string{"zscore+time+evalsha", "evalsha", "zadd"}}, // reads, opens the step, is handled
		{cards.LetterYes, []string{"evalsha", "zadd"}},                           // approves, is handled
	} {
		if diff := cmp.Diff(want.goes, x.of(tap(want.letter))); diff != "" {
			t.Errorf("%c (-want +got):\n%s", want.letter, diff)
		}
		s.drawn("a2", c)
		s.advance(dwell)
	}
	s.state("a2", approval.Approved)
}

// Taps of one chat that come together, as they do where Telegram or we were slow: what is
// asked of them is asked at once, and none waits for the record of the one before.
func TestExchangesOfTapsTogether(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.taps(s.open("a0"), ann, s.press("a0", s.read("a0").Cards[0], cards.LetterReject, 0)) // Redis knows the scripts from now on
	first := s.open("a1")
	s.steps("a1", first, ann)
	second, third := s.open("a2"), s.open("a3")
	s.voice.forget()
	taps := []rawUpdate{
		s.tapped(second, ann, s.press("a2", second, cards.LetterAction, 0)),
		s.tapped(first, ann, s.press("a1", first, cards.LetterYes, 0)),
		s.tapped(third, ann, s.press("a3", third, cards.LetterReject, 0)),
		s.tapped(third, ann, s.press("a3", third, cards.LetterAction, 0)),
	}
	x := &exchanges{}
	s.server.Client().AddHook(x)
	went := x.of(func() { s.handle(taps...) })
	times := map[string]int{}
	for _, one := range went {
		if one != "hello" && one != "client+client" { // of a new connection
			times[one]++
		}
	}
	want := map[string]int{
		"zscore+zscore+zscore+zscore+time+evalsha+evalsha+evalsha": 1,
		"evalsha": 5, // a step, a Yes, what the reject saw and it, and the last reads the card anew
		"zadd":    4,
	}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.state("a1", approval.Approved)
	s.state("a3", approval.Rejected)
	if s.state("a2", approval.Open).Step == nil {
		t.Error("no step was opened")
	}
	if got := s.voice.answered(); len(got) != len(taps) {
		t.Errorf("answered %q", got)
	}
}

// What could not be recorded of some that came together is done no second time, and none of
// them is confirmed.
func TestTogetherButNotRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	s.open("a2", in(group))
	batch := []rawUpdate{
		s.written(group, ann, "/show "+s.read("a2").Row.Ref),
		s.tapped(c, ann, s.press("a1", c, cards.LetterReject, 0)),
		s.written(group, ann, "/show "+s.read("a2").Row.Ref),
	}
	fault := &failing{name: "zadd", err: fmt.Errorf("READONLY")}
	s.server.Client().AddHook(fault)
	if err := s.h.Handle(t.Context(), batch[:2]); err == nil {
		t.Fatal("confirmed before it was recorded")
	}
	fault.err = nil
	s.handle(batch...)
	s.is(s.answered(), cards.ToastRejected)
	if n := len(s.read("a2").Cards); n != 3 {
		t.Errorf("%d cards, want the first and two shown again", n)
	}
}

// What is known of an approval from before never does more than what would be read now:
// the same taps, with people, pages, time and another replica in between, come to the same
// by a process that remembers and by one that forgets everything before each of them.
func TestWhatIsKeptChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		moves := rapid.SliceOfN(rapid.IntRange(0, len(keptMoves())-1), 1, 12).Draw(r, "moves")
		quorum := rapid.IntRange(1, 2).Draw(r, "quorum")
		remembers, forgets := keptLife(t, moves, quorum, false), keptLife(t, moves, quorum, true)
		if diff := cmp.Diff(forgets, remembers); diff != "" {
			var names []string
			for _, m := range moves {
				names = append(names, keptMoves()[m].name)
			}
			r.Errorf("%s (-forgetting +remembering):\n%s", strings.Join(names, ", "), diff)
		}
	})
}

// A keptMove is something that happens around a confirm step. It returns what was said.
type keptMove struct {
	name string
	do   func(s *scene, c store.Card, b *handlers.Handlers) string
}

func keptMoves() []keptMove {
	tap := func(who int64, letter byte, arg int) func(*scene, store.Card, *handlers.Handlers) string {
		return func(s *scene, c store.Card, _ *handlers.Handlers) string {
			return s.taps(c, who, s.press("a1", c, letter, arg))
		}
	}
	// By another replica, of which this one knows nothing.
	beside := func(who int64, letter byte, arg int) func(*scene, store.Card, *handlers.Handlers) string {
		return func(s *scene, c store.Card, b *handlers.Handlers) string {
			u := s.tapped(c, who, s.press("a1", c, letter, arg))
			s.ok(b.Handle(s.Context(), []rawUpdate{u}))
			b.Wait()
			return ""
		}
	}
	return []keptMove{
		{"Ann taps the action", tap(ann, cards.LetterAction, 0)},
		{"Ann taps Yes", tap(ann, cards.LetterYes, 0)},
		{"Ben taps the action", tap(ben, cards.LetterAction, 0)},
		{"Ben taps Yes", tap(ben, cards.LetterYes, 0)},
		{"Cleo taps Yes", tap(cleo, cards.LetterYes, 0)},
		{"Rita taps Yes", tap(rita, cards.LetterYes, 0)},
		{"Ann turns a page", tap(ann, cards.LetterPage, 1)},
		{"Ann cancels", tap(ann, cards.LetterCancel, 0)},
		{"Ben turns a page elsewhere", beside(ben, cards.LetterPage, 2)},
		{"Ben cancels elsewhere", beside(ben, cards.LetterCancel, 0)},
		{"Ben taps the action elsewhere", beside(ben, cards.LetterAction, 0)},
		{"Ann taps the action elsewhere", beside(ann, cards.LetterAction, 0)},
		{"Ann taps Yes elsewhere", beside(ann, cards.LetterYes, 0)},
		{"the card is drawn", func(s *scene, c store.Card, _ *handlers.Handlers) string { s.drawn("a1", c); return "" }},
		{"the dwell passes", func(s *scene, _ store.Card, _ *handlers.Handlers) string { s.advance(dwell); return "" }},
		{"the window passes", func(s *scene, _ store.Card, _ *handlers.Handlers) string {
			s.advance(window + time.Millisecond)
			return ""
		}},
		{"the deadline passes", func(s *scene, _ store.Card, _ *handlers.Handlers) string { s.advance(time.Hour); return "" }},
		{"the card is shown again below", func(s *scene, c store.Card, _ *handlers.Handlers) string {
			_, err := s.store.NewCard(s.Context(), "a1", store.Place{Chat: c.Chat}, nil, true)
			s.ok(err)
			return ""
		}},
		{"Ann is an owner no more", func(s *scene, _ store.Card, _ *handlers.Handlers) string {
			s.change(func(p *handlers.Present) {
				p.People = map[int64]handlers.Person{ben: p.People[ben], rita: p.People[rita]}
			})
			return ""
		}},
	}
}

// keptLife is what comes of moves, step by step.
func keptLife(t *testing.T, moves []int, quorum int, forgets bool) (came []string) {
	t.Helper()
	s := newScene(t)
	lines := slices.Repeat([]string{"a line"}, 300)
	c := s.openAs(storetest.Request("a1", storetest.WithCard(map[string]any{"lines": lines})), in(group),
		func(o *store.Opening) { o.Quorum = quorum })
	mine := s.h
	s.restart()
	other := s.h
	s.h = mine
	for _, m := range moves {
		if forgets {
			s.restart()
		}
		said := keptMoves()[m].do(s, c, other)
		r := s.read("a1")
		now := fmt.Sprintf("%s: %q; %s, %d votes, %d answers", keptMoves()[m].name, said, r.Row.State, len(r.Votes), s.answers("a1"))
		if a := r.Row.Answer; a != nil {
			now += fmt.Sprintf(", by %s at %s, shown %+v", a.By.Name, a.At.Format(time.RFC3339Nano), *a.Shown)
		}
		came = append(came, now)
	}
	return came
}

// A Yes that was handled by another replica counts no second time, however much later it
// comes again: it was too soon then, and nobody has tapped since.
func TestYesHandledElsewhere(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1")
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterAction, 0)), "")
	s.drawn("a1", c)
	here := s.h
	yes := s.tapped(c, ann, s.press("a1", c, cards.LetterYes, 0))
	s.voice.forget()
	s.restart() // the other
	s.handle(yes)
	s.is(s.answered(), "That was too quick. Read it, then tap Yes again.")
	s.advance(dwell)
	s.h = here
	s.voice.forget()
	s.handle(yes)
	if got := s.voice.answered(); len(got) != 0 {
		t.Errorf("answered %q", got)
	}
	s.state("a1", approval.Open)
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), cards.ToastApproved)
}

// A process whose clock does not go as Redis's does answers by Redis's all the same.
func TestYesByAClockThatIsOff(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-time.Hour, time.Minute} {
		s := newScene(t)
		c := s.open("a1")
		s.steps("a1", c, ann)
		s.mu.Lock()
		s.clock = s.clock.Add(off)
		s.mu.Unlock()
		s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), cards.ToastApproved)
		if at, want := s.state("a1", approval.Approved).Row.Answer.At, storetest.Noon().Add(dwell); !at.Equal(want) {
			t.Errorf("%v off: answered at %v, want %v", off, at, want)
		}
	}
}

// Somebody changes a row between the question and the Yes, which raises no revision.
func TestYesToARowThatWasChanged(t *testing.T) {
	t.Parallel()
	s := signed(t)
	c := s.open("a1", in(ann))
	s.steps("a1", c, ann)
	s.tamper("a1", "request", string(storetest.Request("a1", storetest.With("tool", "delete_account"))))
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), cards.ToastMeddled)
	s.tampered("a1")
}

// What is kept outlives neither the row nor Redis.
func TestYesToARowThatIsGone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1")
	s.steps("a1", c, ann)
	yes := s.press("a1", c, cards.LetterYes, 0)
	s.ok(s.server.Client().FlushAll(t.Context()).Err())
	s.is(s.taps(c, ann, yes), cards.ToastUnknown)
}

func TestYesWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1")
	s.steps("a1", c, ann)
	yes := s.tapped(c, ann, s.press("a1", c, cards.LetterYes, 0))
	s.voice.forget()
	back := s.away()
	if err := s.h.Handle(t.Context(), []rawUpdate{yes}); err == nil {
		t.Fatal("taken while Redis is away")
	}
	back()
	s.handle(yes)
	s.is(s.answered(), cards.ToastTrying)
	s.state("a1", approval.Approved)
}

// The effect is in Redis, and that the update was handled is not.
func TestYesHandledButNotRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1")
	s.steps("a1", c, ann)
	yes := s.tapped(c, ann, s.press("a1", c, cards.LetterYes, 0))
	s.voice.forget()
	fault := &failing{name: "zadd", err: fmt.Errorf("READONLY")}
	s.server.Client().AddHook(fault)
	if err := s.h.Handle(t.Context(), []rawUpdate{yes}); err == nil {
		t.Fatal("confirmed before it was recorded")
	}
	fault.err = nil
	s.handle(yes)
	s.is(s.answered(), cards.ToastApproved)
	if n := s.answers("a1"); n != 1 {
		t.Errorf("%d answers", n)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for i := range handlers.KeptMost + 3 {
		id := fmt.Sprintf("a%d", i)
		c := s.open(id)
		s.taps(c, ann, s.press(id, c, cards.LetterAction, 0))
		s.taps(c, ann, s.press(id, c, cards.LetterPage, 0)) // is no second one
	}
	large := storetest.Request("large", storetest.With("context", strings.Repeat("x", 9<<10)))
	c := s.openAs(large)
	s.taps(c, ann, s.press("large", c, cards.LetterAction, 0))
	if n := s.h.Kept(); n != handlers.KeptMost {
		t.Errorf("%d are kept, want %d", n, handlers.KeptMost)
	}
	last := fmt.Sprintf("a%d", handlers.KeptMost+2)
	card := s.read(last).Cards[0]
	s.drawn(last, card)
	s.advance(dwell)
	s.is(s.taps(card, ann, s.press(last, card, cards.LetterYes, 0)), cards.ToastApproved)
	if n := s.h.Kept(); n != handlers.KeptMost-1 {
		t.Errorf("%d are kept after one was answered, want %d", n, handlers.KeptMost-1)
	}
}
