package handlers_test

import (
	"context"
	"fmt"
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

// quiet says nothing.
type quiet struct{}

func (quiet) Answer(context.Context, string, string, bool) {}

func (quiet) Say(context.Context, telegram.Outgoing) (telegram.Sent, error) {
	return telegram.Sent{}, nil
}

func (quiet) Ask(context.Context, telegram.Outgoing) (telegram.Sent, error) {
	return telegram.Sent{}, nil
}

func (quiet) File(context.Context, telegram.Document) (telegram.Sent, error) {
	return telegram.Sent{}, nil
}

// BenchmarkTaps measures an approval by two taps, from the updates to the answer in Redis.
func BenchmarkTaps(b *testing.B) {
	for _, s := range storetest.Servers(b) {
		b.Run(s.Name(), func(b *testing.B) { benchmarkTaps(b, s) })
	}
}

func benchmarkTaps(b *testing.B, server *storetest.Server) {
	st := storetest.NewStore(b, server)
	present := handlers.Present{
		People: map[int64]handlers.Person{ann: {ID: ann, Name: "Ann", Role: handlers.Owner}},
		Cards:  cards.Settings{Confirm: approval.Confirm{Window: window}},
	}
	h := handlers.New(handlers.Config{
		Store: st, Voice: quiet{}, Now: time.Now, Log: zerolog.Nop(), Count: func(string, ...string) {},
		Present: func() handlers.Present { return present }, Username: func() string { return "bot" },
	})
	lease, _, err := st.TakeLease(b.Context(), "bench", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	update := int64(0)
	tap := func(data string, message int) {
		update++
		raw := fmt.Appendf(nil, `{"update_id":%d,"callback_query":{"id":"t%d","from":{"id":%d,"is_bot":false,"first_name":"Ann"},`+
			`"message":{"message_id":%d,"date":1790000000,"chat":{"id":%d,"type":"private","first_name":"Ann"},"text":"a card"},`+
			`"chat_instance":"1","data":%q}}`, update, update, ann, message, ann, data)
		if err := h.Handle(b.Context(), []telegram.RawUpdate{{ID: update, Raw: raw}}); err != nil {
			b.Fatal(err)
		}
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		n++
		id, message := fmt.Sprintf("a%d", n), 100+n
		storetest.Open(b, st, storetest.Request(id))
		cid, err := st.NewCard(b.Context(), id, store.Place{Chat: ann}, &lease, false)
		if err != nil {
			b.Fatal(err)
		}
		sent := func(what string, rev int64) {
			record := store.Record{ID: id, Card: cid, What: what, Message: message, Drawn: "drawn", StepRev: rev}
			if ok, err := st.Record(b.Context(), record, lease); err != nil || !ok {
				b.Fatal(ok, err)
			}
		}
		sent(store.TheCard, 0)
		b.StartTimer()
		tap(cards.Press{Letter: cards.LetterAction, Card: cid, Rev: 1}.Data(), message)
		b.StopTimer()
		rev := storetest.Read(b, st, id).Step.Rev
		sent(store.AnEdit, rev)
		b.StartTimer()
		tap(cards.Press{Letter: cards.LetterYes, Card: cid, Rev: rev}.Data(), message)
		h.Wait()
	}
	if r := storetest.Read(b, st, fmt.Sprintf("a%d", n)); r.Row.State != approval.Approved {
		b.Fatalf("%s", r.Row.State)
	}
}
