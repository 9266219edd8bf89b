package handlers_test

import (
	"testing"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/handlers"
)

// TestWhoseWordsCountForNothing holds that a message that is not a person's own
// words, now, in this chat, has no effect and gets no word.
func TestWhoseWordsCountForNothing(t *testing.T) {
	t.Parallel()
	from := func(name string, value any) func(fields) {
		return func(f fields) { f["from"].(fields)[name] = value }
	}
	caption := func(f fields) { f["caption"] = f["text"]; delete(f, "text"); f["document"] = fields{"file_id": "f"} }
	for name, change := range map[string]func(fields){
		"a bot":                     from("is_bot", true),
		"on behalf of a chat":       with("sender_chat", fields{"id": group, "type": "supergroup"}),
		"edited":                    with("edit_date", 1),
		"forwarded":                 with("forward_origin", fields{"type": "user"}),
		"forwarded, older servers":  with("forward_date", 1),
		"forwarded by a channel":    with("is_automatic_forward", true),
		"scheduled":                 with("is_from_offline", true),
		"written by another bot":    with("via_bot", fields{"id": 1, "is_bot": true, "first_name": "B"}),
		"a caption":                 caption,
		"a caption beside a text":   with("caption", "c"),
		"a reply into another chat": with("external_reply", fields{"origin": fields{"type": "user"}}),
		"a business chat":           with("business_connection_id", "b"),
		"a guest chat":              with("guest_query_id", "g"),
		"without a sender":          func(f fields) { delete(f, "from") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			direct, shared := s.open("a1", in(ann)), s.open("a2", in(group))
			ref := s.read("a1").Row.Ref
			for _, text := range []string{"reject", "approve", "reject wrong ones", "/reject " + ref, "/pending", "/start"} {
				s.is(s.says(ann, ann, text, change), "")
				s.is(s.says(ann, ann, text, replying(direct.Message), change), "")
				s.is(s.says(group, ann, text, replying(shared.Message), change), "")
			}
			for _, id := range []string{"a1", "a2"} {
				if s.state(id, approval.Open).Step != nil {
					t.Errorf("a step is open on %s", id)
				}
			}
		})
	}
}

func TestEditedMessagesAreNoMessages(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.open("a1", in(ann))
	for _, kind := range []string{"edited_message", "channel_post", "business_message", "guest_message", "message_reaction"} {
		s.handle(s.raw(kind, fields{
			"message_id": s.nextMessage(), "chat": chatFields(ann), "from": userFields(ann), "date": s.now().Unix(), "text": "reject",
		}))
	}
	s.state("a1", approval.Open)
	if words := s.voice.words(); len(words) != 0 {
		t.Errorf("said %+v", words)
	}
}

// An anonymous administrator writes as the group, but taps as the person.
func TestAnonymousAdministrator(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	anonymous := func(f fields) {
		f["from"] = fields{"id": 1087968824, "is_bot": true, "first_name": "Group"}
		f["sender_chat"] = fields{"id": group, "type": "supergroup"}
	}
	s.is(s.says(group, ann, "reject", replying(c.Message), anonymous), "")
	s.state("a1", approval.Open)
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterReject, 0)), cards.ToastRejected)
	s.state("a1", approval.Rejected)
}

func TestNamesProveNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	asAnn := func(f fields) {
		f["from"] = fields{"id": sam, "first_name": "Ann", "username": "ann"}
	}
	s.is(s.taps(c, sam, s.press("a1", c, cards.LetterReject, 0), asAnn), cards.ToastStranger)
	s.is(s.says(group, sam, "reject", replying(c.Message), asAnn), "")
	s.state("a1", approval.Open)
	// Whoever changes their name stays who they are, by the operator's name.
	renamed := func(f fields) { f["from"] = fields{"id": ann, "first_name": "Admin ✅", "username": "other"} }
	s.is(s.taps(c, ann, s.press("a1", c, cards.LetterReject, 0), renamed), cards.ToastRejected)
	if by := s.state("a1", approval.Rejected).Row.Answer.By; by.Name != "Ann" || by.ID != "1001" {
		t.Errorf("by %+v", by)
	}
}

// The same person gets the same verdict by tap, reply and command.
func TestSameVerdictEveryWay(t *testing.T) {
	t.Parallel()
	for _, who := range tappers {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			ways := map[string]func(id string){
				"tap": func(id string) {
					c := *s.read(id).At(group)
					s.taps(c, who.id, s.press(id, c, cards.LetterReject, 0))
				},
				"reply":   func(id string) { s.says(group, who.id, "reject", replying(s.read(id).At(group).Message)) },
				"command": func(id string) { s.says(group, who.id, "/reject "+s.read(id).Row.Ref) },
				"command-direct": func(id string) {
					s.says(who.id, who.id, "/reject "+s.read(id).Row.Ref)
				},
			}
			for way, do := range ways {
				s.open(way, in(group))
				do(way)
				want := approval.Open
				if who.owns {
					want = approval.Rejected
				}
				if got := s.read(way).Row.State; got != want {
					t.Errorf("%s: %s, want %s", way, got, want)
				}
			}
		})
	}
}

func TestStrangersAreAnsweredOnceAMinute(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.open("a1", in(group))
	s.contains(s.says(sam, sam, "hello"), "You are not on the list here. Your numeric id is 1006")
	s.is(s.says(sam, sam, "/start"), "")
	s.is(s.says(group, sam, "/pending"), "")
	s.advance(59 * time.Second)
	s.is(s.says(sam, sam, "approve"), "")
	s.advance(time.Second)
	s.contains(s.says(group, sam, "/pending"), "You are not on the list here.")
	s.advance(time.Minute)
	s.is(s.says(group, sam, "hello"), "")
	s.is(s.says(group, sam, "/weather"), "") // another bot's
	for id := int64(5000); id < 5100; id++ {
		s.says(id, id, "hello")
	}
	s.advance(time.Minute)
	s.says(sam, sam, "hello")
	if _, _, strangers := s.h.Remembered(); strangers != 1 {
		t.Errorf("%d strangers are remembered", strangers)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.contains(s.says(ann, ann, "/start"), "You are Ann (owner) here. Your numeric id is 1001.")
	s.contains(s.says(rita, rita, "/start deep-link"), "You are Rita (reader) here. Your numeric id is 1005.")
	s.contains(s.says(ann, ann, "/help"), "/approve K7QF2")
	s.contains(s.says(ann, ann, "/weather"), "/approve K7QF2")
	s.is(s.says(group, ann, "/weather"), "")
	s.contains(s.says(group, ann, "/help@Countersign_Bot"), "/approve K7QF2")
	s.is(s.says(group, ann, "/help@other_bot"), "")
}

func TestRoleChangesTakeEffectAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.open("a1", in(group))
	s.confirming("a1", c, ann, "Ann")
	yes := s.press("a1", c, cards.LetterYes, 0)
	s.change(func(p *handlers.Present) {
		p.People[ann] = handlers.Person{ID: ann, Name: "Ann", Role: handlers.Reader}
	})
	s.is(s.taps(c, ann, yes), cards.ToastReader)
	s.state("a1", approval.Open)
}
