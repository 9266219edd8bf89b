package storetest

import (
	"crypto/rand"
	"testing"
	"time"

	"countersign/approval"
	"countersign/store"
)

// Retention is that of the stores of [NewStore].
const Retention = 30 * 24 * time.Hour

// NewStore returns a store of the server's namespace. Changes, if any, are made
// to its options first.
func NewStore(t testing.TB, s *Server, changes ...func(*store.Options)) *store.Store {
	t.Helper()
	o := Options(s)
	for _, change := range changes {
		change(&o)
	}
	st, err := store.New(s.Bot(), o)
	if err != nil {
		t.Fatalf("store: %v", err)
	}
	return st
}

// Options are those of [NewStore].
func Options(s *Server) store.Options {
	return store.Options{Namespace: s.Namespace(), Retention: Retention, Random: rand.Reader}
}

// NewOpening makes of a good request what intake would: due in an hour unless
// it says otherwise, Ann's and Ben's to answer, with a card in Ann's chat, by
// the namespace's default stream.
func NewOpening(t testing.TB, st *store.Store, raw []byte) store.Opening {
	t.Helper()
	q := Decode(t, raw)
	now, err := st.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	terms, err := approval.Terms(raw)
	if err != nil {
		t.Fatalf("terms: %v", err)
	}
	pin, err := approval.PinOf(q.Calls)
	if err != nil {
		t.Fatalf("pin: %v", err)
	}
	deadline, err := approval.Deadline(&q, now, now, approval.Durations{
		ToolCall: time.Hour, Halt: 10 * time.Minute, Max: 7 * 24 * time.Hour,
	})
	if err != nil {
		t.Fatalf("deadline: %v", err)
	}
	return store.Opening{
		ID: q.ID, Stream: st.Keys().Requests(), Raw: raw, Ask: &q, Terms: terms, Pin: pin, Now: now,
		ExpiresAt: deadline, Owners: []int64{Ann, Ben}, Quorum: 1, Chats: []approval.Chat{{ID: Ann}},
		State: approval.Open,
	}
}

// Open opens a good request, after the changes, and reads it.
func Open(t testing.TB, st *store.Store, raw []byte, changes ...func(*store.Opening)) *store.Reading {
	t.Helper()
	o := NewOpening(t, st, raw)
	for _, change := range changes {
		change(&o)
	}
	status, _, err := st.Open(t.Context(), o)
	if err != nil || status != store.Opened {
		t.Fatalf("open %q: %v, %v", o.ID, status, err)
	}
	return Read(t, st, o.ID)
}

// Read reads an approval.
func Read(t testing.TB, st *store.Store, id string) *store.Reading {
	t.Helper()
	r, err := st.Read(t.Context(), id)
	if err != nil {
		t.Fatalf("read %q: %v", id, err)
	}
	return r
}

// Approve approves at the command line, and reads what came of it.
func Approve(t testing.TB, st *store.Store, id string) *store.Reading {
	t.Helper()
	status, _, err := st.Decide(t.Context(), Read(t, st, id), store.Attempt{
		Decision: approval.DecisionApproved, Guard: store.ByOperator,
		By: approval.By{Surface: approval.CLI, ID: "root", Name: "root"},
	})
	if err != nil || status != store.Done {
		t.Fatalf("approve %q: %v, %v", id, status, err)
	}
	return Read(t, st, id)
}
