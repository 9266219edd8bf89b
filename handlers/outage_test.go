package handlers_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/cards"
	"countersign/handlers"
	"countersign/store"
	"countersign/store/storetest"
)

// away makes every call of Redis fail until it is back.
func (s *scene) away() (back func()) {
	s.server.Fail("LOADING Redis is loading the dataset in memory")
	return func() { s.server.Fail("") }
}

func TestRedisAway(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	tap := s.tapped(c, ann, s.press("a1", c, cards.LetterReject, 0))
	stranger := s.tapped(c, sam, s.press("a1", c, cards.LetterReject, 0))
	business := s.tapped(c, ann, s.press("a1", c, cards.LetterReject, 0), func(f fields) {
		f["message"].(fields)["business_connection_id"] = "b"
	})
	word := s.written(ann, ann, "/help")
	back := s.away()
	for range 3 {
		if err := s.h.Handle(t.Context(), []rawUpdate{tap, stranger, business, word}); err == nil {
			t.Fatal("taken while Redis is away")
		}
	}
	s.h.Wait()
	if got := s.voice.answered(); len(got) != 2 || !slices.Contains(got, cards.ToastTrying) || !slices.Contains(got, cards.ToastStranger) {
		t.Fatalf("answered %q", got)
	}
	back()
	s.handle(tap, stranger, business, word)
	s.state("a1", approval.Rejected)
	if got := s.voice.answered(); len(got) != 2 {
		t.Errorf("answered again: %q", got)
	}
	if said := s.voice.words(); len(said) != 1 {
		t.Errorf("said %+v", said)
	}
}

func TestRedisAwayUntilTheDeadline(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann))
	s.confirming("a1", c, ann, "Ann")
	tap := s.tapped(c, ann, s.press("a1", c, cards.LetterYes, 0))
	back := s.away()
	if err := s.h.Handle(t.Context(), []rawUpdate{tap}); err == nil {
		t.Fatal("taken while Redis is away")
	}
	back()
	s.advance(time.Hour)
	s.handle(tap)
	s.state("a1", approval.Open) // late, to be swept
}

// failing makes one command fail, some calls from now on.
type failing struct {
	name  string
	after int
	err   error
}

func (f *failing) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *failing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if f.err != nil && cmd.Name() == f.name {
			if f.after--; f.after < 0 {
				cmd.SetErr(f.err)
				return f.err
			}
		}
		return next(ctx, cmd)
	}
}

func (f *failing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// An effect that is in Redis is not repeated because its update could not be
// recorded as handled.
func TestHandledButNotRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	fault := &failing{name: "zadd", err: errors.New("READONLY")}
	s.server.Client().AddHook(fault)
	tap := s.tapped(c, ann, s.press("a1", c, cards.LetterReject, 0))
	if err := s.h.Handle(t.Context(), []rawUpdate{tap}); err == nil {
		t.Fatal("confirmed before it was recorded")
	}
	word := s.written(ann, ann, "/show "+s.read("a1").Row.Ref)
	if err := s.h.Handle(t.Context(), []rawUpdate{word}); err == nil {
		t.Fatal("confirmed before it was recorded")
	}
	fault.err = nil
	if _, updates, _ := s.h.Remembered(); updates != 2 {
		t.Errorf("%d updates are remembered", updates)
	}
	s.handle(tap, word)
	s.is(s.answered(), cards.ToastRejected)
	if n := len(s.read("a1").Cards); n != 2 {
		t.Errorf("%d cards, want the first and one shown again", n)
	}
}

// A between does something before the second script that runs from now on.
type between struct {
	failing
	scripts int
	do      func()
}

func (b *between) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if do := b.do; do != nil && cmd.Name() == "evalsha" {
			if b.scripts++; b.scripts == 2 {
				b.do = nil
				do()
			}
		}
		return next(ctx, cmd)
	}
}

// A tap may come while the message it hangs under is being recorded.
func TestTapWhileItsCardIsRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.open("a1", in(ann))
	cid, err := s.store.NewCard(t.Context(), "a1", store.Place{Chat: ann}, nil, true)
	s.ok(err)
	card := store.Card{ID: cid, Chat: ann, Message: s.nextMessage()}
	data := s.press("a1", card, cards.LetterAction, 0)
	s.server.Client().AddHook(&between{do: func() { s.sent("a1", cid, store.TheCard, card.Message) }})
	s.is(s.taps(card, ann, data), "")
	// A notice of the card is not the card.
	notice := s.sent("a1", cid, store.TheReminder, 0)
	s.is(s.taps(store.Card{ID: cid, Chat: ann, Message: notice}, ann, data), cards.ToastUnknown)
	if got := s.read("a1").Card(cid); len(got.Copies) != 0 || got.Message == first.Message {
		t.Errorf("card %+v", got)
	}
}

// Where a tap fails, those behind it in its chat keep their order, and other
// chats go on.
func TestChatsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.username = ""
	c := s.open("a1", in(group))
	mine := s.open("a2", in(ann))
	stuck := s.written(group, ann, "/help@countersign_bot") // the bot's name is not known yet
	behind := s.tapped(c, ann, s.press("a1", c, cards.LetterReject, 0))
	beside := s.tapped(mine, ann, s.press("a2", mine, cards.LetterReject, 0))
	if err := s.h.Handle(t.Context(), []rawUpdate{stuck, behind, beside}); err == nil {
		t.Fatal("taken")
	}
	s.h.Wait()
	s.state("a1", approval.Open)
	s.state("a2", approval.Rejected)
	got := s.voice.answered()
	slices.Sort(got)
	if want := []string{cards.ToastTrying, cards.ToastRejected}; !slices.Equal(got, want) {
		t.Errorf("answered %q, want %q", got, want)
	}
	s.username = "countersign_bot"
	s.handle(stuck, behind, beside)
	s.state("a1", approval.Rejected)
}

// A tap that Redis does not answer is told so in time, and once.
func TestRedisHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		rdb := redis.NewClient(&redis.Options{Addr: "nowhere", MaxRetries: -1})
		defer rdb.Close()
		rdb.AddHook(hanging{hang})
		st, err := store.New(rdb, store.Options{Namespace: "n", Retention: storetest.Retention})
		if err != nil {
			t.Fatal(err)
		}
		v := &voice{}
		h := handlers.New(handlers.Config{
			Store: st, Voice: v, Now: time.Now, Log: zerolog.Nop(), Count: (&counter{}).count,
			Username: func() string { return "b" },
			Present: func() handlers.Present {
				return handlers.Present{People: map[int64]handlers.Person{ann: {ID: ann, Role: handlers.Owner}}}
			},
		})
		tap := rawUpdate{ID: 1, Raw: json.RawMessage(
			`{"update_id":1,"callback_query":{"id":"t1","from":{"id":1001},"message":{"message_id":1,"chat":{"id":1001}},"data":"r.1"}}`)}
		handled := make(chan error, 1)
		began := time.Now()
		go func() { handled <- h.Handle(t.Context(), []rawUpdate{tap}) }()
		// The bubble's clock, which only these two move: no real time passes.
		time.Sleep(handlers.Patience - 1)
		synctest.Wait()
		if got := v.answered(); len(got) != 0 {
			t.Errorf("answered %q at once", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := v.answered(); !slices.Equal(got, []string{cards.ToastTrying}) {
			t.Errorf("answered %q", got)
		}
		if err := <-handled; err == nil {
			t.Error("taken")
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("held up for %v", took)
		}
		h.Wait()
		if got := v.answered(); len(got) != 1 {
			t.Errorf("answered %q", got)
		}
	})
}

// hanging answers nothing until the caller gives up.
type hanging struct{ never chan struct{} }

func (hanging) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h hanging) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, _ redis.Cmder) error { return h.wait(ctx) }
}

func (h hanging) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, _ []redis.Cmder) error { return h.wait(ctx) }
}

func (h hanging) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-h.never:
		return nil
	}
}
