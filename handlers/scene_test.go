package handlers_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/cards"
	"countersign/handlers"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/telegram"
)

// The people of the tests. Ann, Ben and Cleo are the row's owners; Cleo has left
// the configuration since. Dora is an owner, but not of this row.
const (
	ann   = storetest.Ann
	ben   = storetest.Ben
	cleo  = storetest.Cleo
	dora  = int64(1004)
	rita  = int64(1005) // a reader
	sam   = int64(1006) // a stranger
	group = int64(-1001234567890)
)

const (
	window = time.Minute
	dwell  = 400 * time.Millisecond
)

// A scene is handlers around a store, with a voice that is heard and a clock
// that is held.
type scene struct {
	testing.TB
	server  *storetest.Server
	store   *store.Store
	h       *handlers.Handlers
	voice   *voice
	counted *counter
	lease   store.Lease

	mu       sync.Mutex // guards what follows
	present  handlers.Present
	username string
	clock    time.Time
	message  int // the last message id given

	update int // the last update id given
}

func newScene(t testing.TB) *scene {
	t.Helper()
	s := &scene{
		TB: t, server: storetest.Embedded(t), voice: &voice{}, counted: &counter{},
		clock: storetest.Noon(), username: "countersign_bot", update: 500, message: 100,
		present: handlers.Present{
			People: map[int64]handlers.Person{
				ann: {ID: ann, Name: "Ann", Role: handlers.Owner}, ben: {ID: ben, Name: "Ben", Role: handlers.Owner},
				dora: {ID: dora, Name: "Dora", Role: handlers.Owner}, rita: {ID: rita, Name: "Rita", Role: handlers.Reader},
			},
			Cards:   cards.Settings{Confirm: approval.Confirm{Window: window, Dwell: dwell, OneTap: true}},
			Approve: []string{"approve"}, Reject: []string{"reject", "deny"},
		},
	}
	s.voice.next = s.nextMessage
	s.store = storetest.NewStore(t, s.server)
	s.restart()
	var held bool
	var err error
	if s.lease, held, err = s.store.TakeLease(t.Context(), "bot", 1000*time.Hour); err != nil || !held {
		t.Fatalf("lease: %v, %v", held, err)
	}
	return s
}

// restart makes new handlers, which remember nothing.
func (s *scene) restart() {
	s.restartWith(func() handlers.Present { s.mu.Lock(); defer s.mu.Unlock(); return s.present })
}

// restartWith makes new handlers that have the configuration from a function.
func (s *scene) restartWith(present func() handlers.Present) {
	s.h = handlers.New(handlers.Config{
		Store: s.store, Voice: s.voice, Now: s.now, Log: zerolog.Nop(), Count: s.counted.count,
		Present:  present,
		Username: func() string { s.mu.Lock(); defer s.mu.Unlock(); return s.username },
	})
}

func (s *scene) nextMessage() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.message++
	return s.message
}

func (s *scene) now() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.clock }

func (s *scene) advance(d time.Duration) {
	s.Helper()
	s.server.Advance(s.TB, d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = s.clock.Add(d)
}

// change changes the configuration.
func (s *scene) change(f func(*handlers.Present)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.present)
}

// An asking changes an opening.
type asking = func(*store.Opening)

func in(chats ...int64) asking {
	return func(o *store.Opening) {
		o.Chats = nil
		for _, c := range chats {
			o.Chats = append(o.Chats, approval.Chat{ID: c})
		}
	}
}

// open opens an approval of Ann, Ben and Cleo, and shows its cards where it is
// routed to. It returns the first card.
func (s *scene) open(id string, changes ...asking) store.Card {
	s.Helper()
	return s.openAs(storetest.Request(id, storetest.WithUndo(30)), changes...)
}

func (s *scene) openAs(raw []byte, changes ...asking) store.Card {
	s.Helper()
	owners := func(o *store.Opening) { o.Owners = []int64{ann, ben, cleo} }
	r := storetest.Open(s.TB, s.store, raw, append([]asking{owners}, changes...)...)
	for _, c := range r.Row.Chats {
		s.card(r.ID, store.Place{Chat: c.ID, Thread: c.Thread})
	}
	return s.read(r.ID).Cards[0]
}

// card makes a card and records that Telegram took it.
func (s *scene) card(id string, place store.Place) store.Card {
	s.Helper()
	cid, err := s.store.NewCard(s.Context(), id, place, &s.lease, false)
	s.ok(err)
	s.sent(id, cid, store.TheCard, 0)
	return *s.read(id).Card(cid)
}

// sent records a send, or where message is not 0 an edit, that shows the open step.
func (s *scene) sent(id, card, what string, message int) int {
	s.Helper()
	if message == 0 {
		message = s.nextMessage()
	}
	rev := int64(0)
	if step := s.read(id).Step; step != nil && step.CardID == card {
		rev = step.Rev
	}
	recorded, err := s.store.Record(s.Context(), store.Record{ID: id, Card: card, What: what, Message: message, Drawn: "drawn", StepRev: rev}, s.lease)
	s.ok(err)
	if !recorded {
		s.Fatalf("%s of %q was not recorded", what, id)
	}
	return message
}

// drawn does for the step on a card what the reconciler does: it shows it.
func (s *scene) drawn(id string, c store.Card) {
	s.Helper()
	s.sent(id, c.ID, "edit", c.Message)
}

// confirming opens a step by a person on a card, shows it, and lets the dwell pass.
func (s *scene) confirming(id string, c store.Card, user int64, name string) *store.Reading {
	s.Helper()
	status, _, err := s.store.OpenStep(s.Context(), id, store.StepBy{User: user, Name: name, Window: window, Chat: c.Chat, Card: c.ID})
	s.ok(err)
	if status != store.Done {
		s.Fatalf("step of %d on %q: %s", user, id, status)
	}
	s.drawn(id, c)
	s.advance(dwell)
	return s.read(id)
}

func (s *scene) read(id string) *store.Reading { s.Helper(); return storetest.Read(s.TB, s.store, id) }

func (s *scene) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// state wants a state of an approval.
func (s *scene) state(id string, want approval.State) *store.Reading {
	s.Helper()
	r := s.read(id)
	if r.Row.State != want {
		s.Errorf("%s is %s, want %s", id, r.Row.State, want)
	}
	return r
}

// answers counts what was answered to an approval's runtime.
func (s *scene) answers(id string) int {
	s.Helper()
	n, err := s.server.Client().XLen(s.Context(), s.store.Keys().Answer(id)).Result()
	s.ok(err)
	return int(n)
}

// Fields of an update, to be changed before it is written.
type fields = map[string]any

// raw is an update of a kind.
func (s *scene) raw(kind string, part fields) telegram.RawUpdate {
	s.update++
	data, err := json.Marshal(fields{"update_id": s.update, kind: part})
	s.ok(err)
	return telegram.RawUpdate{ID: int64(s.update), Raw: data}
}

// handle hands updates over and waits until everything is said.
func (s *scene) handle(updates ...telegram.RawUpdate) {
	s.Helper()
	if err := s.h.Handle(s.Context(), updates); err != nil {
		s.Fatalf("handle: %v", err)
	}
	s.h.Wait()
}

func chatFields(chat int64) fields {
	if chat > 0 {
		return fields{"id": chat, "type": "private"}
	}
	return fields{"id": chat, "type": "supergroup"}
}

func userFields(id int64) fields { return fields{"id": id, "first_name": "Their own name"} }

// written is the update of a message.
func (s *scene) written(chat, from int64, text string, changes ...func(fields)) telegram.RawUpdate {
	part := fields{
		"message_id": s.nextMessage(), "chat": chatFields(chat), "from": userFields(from), "date": s.now().Unix(), "text": text,
	}
	for _, change := range changes {
		change(part)
	}
	return s.raw("message", part)
}

func replying(to int) func(fields) {
	return func(f fields) { f["reply_to_message"] = fields{"message_id": to, "chat": f["chat"]} }
}

func with(name string, value any) func(fields) { return func(f fields) { f[name] = value } }

// says hands over a message and returns what was said to it: the text of the
// one reply or question, "" for silence.
func (s *scene) says(chat, from int64, text string, changes ...func(fields)) string {
	s.Helper()
	s.voice.forget()
	s.handle(s.written(chat, from, text, changes...))
	heard := append(s.voice.words(), s.voice.questions()...)
	switch len(heard) {
	case 0:
		return ""
	case 1:
		if heard[0].Chat != chat || heard[0].ReplyTo == 0 {
			s.Errorf("said in chat %d in reply to %d", heard[0].Chat, heard[0].ReplyTo)
		}
		return heard[0].Plain
	}
	s.Fatalf("%q got %d words: %+v", text, len(heard), heard)
	return ""
}

// tapped is the update of a tap on a card's message.
func (s *scene) tapped(c store.Card, from int64, data string, changes ...func(fields)) telegram.RawUpdate {
	message := fields{"message_id": c.Message, "chat": chatFields(c.Chat), "date": s.now().Unix(), "text": "a card"}
	part := fields{"id": "tap-" + time.Duration(s.update).String(), "from": userFields(from), "message": message, "data": data}
	for _, change := range changes {
		change(part)
	}
	return s.raw("callback_query", part)
}

// taps hands over a tap and returns its one answer.
func (s *scene) taps(c store.Card, from int64, data string, changes ...func(fields)) string {
	s.Helper()
	s.voice.forget()
	s.handle(s.tapped(c, from, data, changes...))
	return s.answered()
}

// answered is the one answer that a tap got.
func (s *scene) answered() string {
	s.Helper()
	got := s.voice.answered()
	if len(got) != 1 {
		s.Fatalf("a tap got %d answers: %q", len(got), got)
	}
	return got[0]
}

// press is the data of a button as it is drawn on a card now.
func (s *scene) press(id string, c store.Card, letter byte, arg int) string {
	s.Helper()
	r := s.read(id)
	rev := r.Row.Rev
	if (letter == cards.LetterYes || letter == cards.LetterCancel) && r.Step != nil {
		rev = r.Step.Rev
	}
	return cards.Press{Letter: letter, Card: c.ID, Rev: rev, Arg: arg}.Data()
}

// contains wants a part in what was said.
func (s *scene) contains(said, part string) {
	s.Helper()
	if !strings.Contains(said, part) {
		s.Errorf("said %q, want %q in it", said, part)
	}
}

// is wants exactly these words.
func (s *scene) is(said, want string) {
	s.Helper()
	if said != want {
		s.Errorf("said %q, want %q", said, want)
	}
}
