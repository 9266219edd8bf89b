package handlers_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"countersign/approval"
	"countersign/cards"
	"countersign/handlers"
	"countersign/store"
)

const (
	small = int64(-4000000001)    // a group
	large = int64(-1004000000001) // the supergroup it becomes
)

// became is the service message of a group that became a supergroup.
func (s *scene) became(changes ...func(fields)) rawUpdate {
	return s.service(small, "group", "migrate_to_chat_id", large, changes...)
}

func (s *scene) service(chat int64, kind, name string, other int64, changes ...func(fields)) rawUpdate {
	part := fields{
		"message_id": s.nextMessage(), "chat": fields{"id": chat, "type": kind}, "date": s.now().Unix(), name: other,
		"from": fields{"id": 1087968824, "is_bot": true, "first_name": "Group"}, "sender_chat": fields{"id": chat, "type": kind},
	}
	for _, change := range changes {
		change(part)
	}
	return s.raw("message", part)
}

// home is where the group is now, as the store has it.
func (s *scene) home() int64 {
	s.Helper()
	m, err := s.store.Moves(s.Context())
	s.ok(err)
	return m.Home(small)
}

func TestGroupBecomesASupergroup(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]func(s *scene) rawUpdate{
		"told by the group":      func(s *scene) rawUpdate { return s.became() },
		"told by the supergroup": func(s *scene) rawUpdate { return s.service(large, "supergroup", "migrate_from_chat_id", small) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c := s.open("a1", in(small))
			old := c.Message
			u := told(s)
			s.handle(u)
			s.handle(u, u)
			if s.home() != large {
				t.Fatalf("the group is at %d", s.home())
			}
			if n := len(s.voice.words()); n != 0 {
				t.Errorf("%d words", n)
			}
			ref := s.read("a1").Row.Ref

			// Before the card has gone there: a tap on the old one counts, and adopts nothing.
			c.Chat = large
			s.is(s.taps(c, sam, s.press("a1", c, cards.LetterAction, 0)), cards.ToastStranger)
			s.is(s.taps(c, dora, s.press("a1", c, cards.LetterAction, 0)), cards.ToastNotAllowed)
			c.Message = 9000
			s.is(s.taps(c, ann, s.press("a1", c, cards.LetterAction, 0)), "")
			if r := s.read("a1"); r.Step == nil || r.Step.By != ann || len(r.Cards[0].Copies) != 0 || r.Cards[0].Message != old {
				t.Errorf("after a tap from the new chat: %+v, %+v", r.Step, r.Cards[0])
			}
			s.contains(s.says(large, ann, "/pending"), ref)

			// After: those on the old one, still under its old name, count too.
			s.ok(s.store.Rehome(s.Context(), "a1", s.lease))
			s.sent("a1", c.ID, store.TheCard, 9100)
			c.Chat, c.Message = small, old
			s.is(s.taps(c, ann, s.press("a1", c, cards.LetterReject, 0)), cards.ToastRejected)
			if r := s.state("a1", approval.Rejected); len(r.Cards[0].Copies) != 0 || r.Cards[0].Message != 9100 {
				t.Errorf("after a tap from the old chat: %+v", r.Cards[0])
			}
		})
	}
}

// A step that is confirmed in the new chat is confirmed as anywhere.
func TestConfirmedWhereTheGroupIsNow(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(small))
	s.handle(s.became())
	s.ok(s.store.Rehome(s.Context(), "a1", s.lease))
	s.sent("a1", c.ID, store.TheCard, 9100)
	c = s.read("a1").Cards[0]
	s.confirming("a1", c, ann, "Ann")
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterYes, 0)), cards.ToastApproved)
	if by := s.state("a1", approval.Approved).Row.Answer.By; by.Chat != large || by.Message != 9100 {
		t.Errorf("answered at %d in %d", by.Message, by.Chat)
	}
}

// TestWhoseWordMovesNothing holds that only Telegram's own word about that very
// chat moves a group.
func TestWhoseWordMovesNothing(t *testing.T) {
	t.Parallel()
	direct := func(f fields) { f["chat"] = fields{"id": ann, "type": "private"} }
	for name, u := range map[string]func(s *scene) rawUpdate{
		"with words":           func(s *scene) rawUpdate { return s.became(with("text", "moved")) },
		"with a caption":       func(s *scene) rawUpdate { return s.became(with("caption", "moved")) },
		"forwarded":            func(s *scene) rawUpdate { return s.became(with("forward_origin", fields{"type": "user"})) },
		"forwarded, older":     func(s *scene) rawUpdate { return s.became(with("forward_date", 1)) },
		"edited":               func(s *scene) rawUpdate { return s.became(with("edit_date", 1)) },
		"by way of a bot":      func(s *scene) rawUpdate { return s.became(with("via_bot", fields{"id": 1, "is_bot": true})) },
		"scheduled":            func(s *scene) rawUpdate { return s.became(with("is_from_offline", true)) },
		"a business chat":      func(s *scene) rawUpdate { return s.became(with("business_connection_id", "b")) },
		"a guest chat":         func(s *scene) rawUpdate { return s.became(with("guest_query_id", "g")) },
		"quoting another chat": func(s *scene) rawUpdate { return s.became(with("external_reply", fields{})) },
		"a direct chat":        func(s *scene) rawUpdate { return s.became(direct) },
		"to a person":          func(s *scene) rawUpdate { return s.service(small, "group", "migrate_to_chat_id", ann) },
		"from a person":        func(s *scene) rawUpdate { return s.service(large, "supergroup", "migrate_from_chat_id", ann) },
		"a supergroup":         func(s *scene) rawUpdate { return s.service(small, "supergroup", "migrate_to_chat_id", large) },
		"from a group":         func(s *scene) rawUpdate { return s.service(large, "group", "migrate_from_chat_id", small) },
		"to itself":            func(s *scene) rawUpdate { return s.service(small, "group", "migrate_to_chat_id", small) },
		"edited message": func(s *scene) rawUpdate {
			return s.raw("edited_message", fields{"message_id": 1, "chat": fields{"id": small, "type": "group"}, "migrate_to_chat_id": large})
		},
		"in a message replied to": func(s *scene) rawUpdate {
			return s.written(small, ann, "/help", with("reply_to_message", fields{"message_id": 1, "chat": fields{"id": small}, "migrate_to_chat_id": large}))
		},
		"a chat that nothing goes to": func(s *scene) rawUpdate { return s.service(-77, "group", "migrate_to_chat_id", -78) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.change(func(p *handlers.Present) {
				p.Routed = func(chat int64) bool { return chat == small || chat == large || chat == ann }
			})
			s.open("a1", in(small))
			s.handle(u(s))
			m, err := s.store.Moves(t.Context())
			if err != nil || len(m) != 0 {
				t.Errorf("moved: %v, %v", m, err)
			}
		})
	}
}

// becomes is the update of what becomes of the bot in a chat.
func (s *scene) becomes(chat int64, status string) rawUpdate {
	return s.raw("my_chat_member", fields{
		"chat": chatFields(chat), "from": userFields(ann), "date": s.now().Unix(),
		"old_chat_member": fields{"status": "member"}, "new_chat_member": fields{"status": status},
	})
}

func TestMembership(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(ann, group))
	s.handle(s.becomes(ann, "kicked"))
	if got := s.read("a1").Card(c.ID); got.Doubt == "" || got.Failed != "" {
		t.Errorf("after a block: %+v", got)
	}
	s.ok(s.store.ChatOut(t.Context(), ann, "", "blocked", s.lease))
	s.handle(s.becomes(group, "member"))
	if s.read("a1").Card(c.ID).Failed == "" {
		t.Error("another chat brought it back")
	}
	s.handle(s.becomes(ann, "member"))
	if s.read("a1").Card(c.ID).Failed != "" {
		t.Error("it did not come back")
	}
	s.ok(s.store.FailCard(t.Context(), c.ID, "bot can't initiate conversation with a user", s.lease))
	s.contains(s.says(group, ann, "/start"), "Ann")
	if s.read("a1").Card(c.ID).Failed == "" {
		t.Error("a word in a group brought it back")
	}
	s.contains(s.says(ann, ann, "/start"), "Ann")
	if s.read("a1").Card(c.ID).Failed != "" {
		t.Error("who starts the bot can be reached")
	}
	if n := len(s.voice.words()); n != 1 {
		t.Errorf("%d words", n)
	}
}

// TestEveryKindOfUpdate hands over every kind of update at once, each before the
// same tap: none of them holds it up, has an effect or goes unaccounted for.
func TestEveryKindOfUpdate(t *testing.T) {
	t.Parallel()
	large := `"` + strings.Repeat("x", 1<<20) + `"`
	post := `{"message_id":5,"date":1,"chat":{"id":1001,"type":"private"},"from":{"id":1001,"first_name":"A"},"text":"reject"}`
	for name, c := range map[string]struct {
		raw   string
		aside int
	}{
		"nothing in it":             {`{"update_id":9}`, 0},
		"unknown kind":              {`{"update_id":9,"telepathy":` + post + `}`, 0},
		"unknown and large":         {`{"update_id":9,"telepathy":` + large + `}`, 0},
		"edited":                    {`{"update_id":9,"edited_message":` + post + `}`, 0},
		"channel post":              {`{"update_id":9,"channel_post":` + post + `}`, 0},
		"edited channel post":       {`{"update_id":9,"edited_channel_post":` + post + `}`, 0},
		"business message":          {`{"update_id":9,"business_message":` + post + `}`, 0},
		"deleted business messages": {`{"update_id":9,"deleted_business_messages":{}}`, 0},
		"guest message":             {`{"update_id":9,"guest_message":` + post + `}`, 0},
		"reaction":                  {`{"update_id":9,"message_reaction":{"chat":{"id":1001}}}`, 0},
		"inline query":              {`{"update_id":9,"inline_query":{"id":"1"}}`, 0},
		"another's membership":      {`{"update_id":9,"chat_member":{}}`, 0},
		"a message of 1 MB":         {`{"update_id":9,"message":{"message_id":5,"date":1,"chat":{"id":1001,"type":"private"},"from":{"id":1001,"is_bot":true},"text":` + large + `}}`, 0},
		"two kinds":                 {`{"update_id":9,"message":` + post + `,"callback_query":{"id":"1","from":{"id":1001}}}`, 1},
		"cut":                       {`{"update_id":9,"message":{"text":` + large, 1},
		"not JSON":                  {`<html>`, 1},
		"nothing at all":            {``, 1},
		"a list":                    {`[9]`, 1},
		"an odd id":                 {`{"update_id":1e99}`, 1},
		"a message of another form": {`{"update_id":9,"message":[1]}`, 1},
		"a tap of another form":     {`{"update_id":9,"callback_query":"x"}`, 1},
		"a tap without a message":   {`{"update_id":9,"callback_query":{"id":"1","from":{"id":1001},"data":"x"}}`, 0},
		"a tap in inline mode":      {`{"update_id":9,"callback_query":{"id":"1","from":{"id":1001},"inline_message_id":"i","data":"x"}}`, 0},
		"a tap on what is gone":     {`{"update_id":9,"callback_query":{"id":"1","from":{"id":1001},"data":"x","message":{"date":0,"message_id":4,"chat":{"id":1001}}}}`, 0},
		"a membership nowhere":      {`{"update_id":9,"my_chat_member":{}}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			card := s.open("a1", in(ann))
			u := rawUpdate{Raw: json.RawMessage(c.raw)}
			if strings.HasPrefix(c.raw, `{"update_id":9`) && json.Valid(u.Raw) {
				u.ID = 9
			}
			tap := s.tapped(card, ann, s.press("a1", card, cards.LetterAction, 0))
			s.handle(u, u, tap)
			s.handle(u)
			s.restart()
			s.handle(u)
			if r := s.state("a1", approval.Open); r.Step == nil {
				t.Error("the tap after it had no effect")
			}
			if n := s.counted.of("updates_aside"); n != c.aside {
				t.Errorf("set aside %d times, want %d", n, c.aside)
			}
			kept, err := s.server.Client().XRange(t.Context(), s.store.Keys().Prefix()+"bot:aside", "-", "+").Result()
			if err != nil || len(kept) != c.aside {
				t.Fatalf("%d are kept, %v", len(kept), err)
			}
			for _, k := range kept {
				if len(k.Values["raw"].(string)) > 16<<10 {
					t.Errorf("%d bytes are kept", len(k.Values["raw"].(string)))
				}
			}
		})
	}
}

// TestOneChatInOrder has two deliveries of one chat come at once, as by webhook:
// the second waits for the first, another chat does not, and the same one twice
// has one effect.
func TestOneChatInOrder(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	other, next := s.open("a2", in(ann)), s.open("a3", in(group))
	s.open("a1", in(group))
	began, let := make(chan struct{}), make(chan struct{})
	var later atomic.Bool
	s.restartWith(func() handlers.Present {
		if !later.Swap(true) {
			close(began)
			<-let
		}
		return s.present
	})
	ref := s.read("a1").Row.Ref
	word := s.written(group, ann, "/show "+ref)
	errs := make(chan error)
	go func() { errs <- s.h.Handle(t.Context(), []rawUpdate{word}) }()
	<-began
	tap := s.tapped(next, ann, s.press("a3", next, cards.LetterReject, 0))
	go func() { errs <- s.h.Handle(t.Context(), []rawUpdate{word, tap}) }()
	for s.h.Waiting(group) < 2 {
		runtime.Gosched()
	}
	s.ok(s.h.Handle(t.Context(), []rawUpdate{s.tapped(other, ann, s.press("a2", other, cards.LetterReject, 0))}))
	s.state("a2", approval.Rejected)
	s.state("a3", approval.Open)
	close(let)
	s.ok(<-errs)
	s.ok(<-errs)
	s.h.Wait()
	s.state("a3", approval.Rejected)
	if n := len(s.read("a1").Cards); n != 2 {
		t.Errorf("%d cards: it was shown %d times", n, n-1)
	}
	if n := s.h.Waiting(group); n != 0 {
		t.Errorf("%d still wait", n)
	}
}
