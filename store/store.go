// Package store is the durable memory: rows, deadlines, the cards' whereabouts,
// confirm steps, leases and the audit list, in Redis. It is the only writer of
// rows and answers.
//
// # One script per transition
//
// Every transition is one script that checks the state, the revision, the
// deadline by Redis's own clock and the person's right, and then writes row,
// answer (on both streams), changes feed and audit line together. No path
// answers without changing the row, or the reverse. An answer's bytes are made
// beforehand from one [Reading]; where the row's revision has moved since, the
// script applies nothing and hands back a new reading, and the caller's loop
// begins again. A refused transition returns the row as it stands, so that a
// person can be told what happened instead.
//
// # Level, not edge
//
// The changes feed says only that something is to be looked at ("dirty"), and
// when. Whoever draws reads the row, compares with what was drawn, and settles
// the mark for the revision it read and the marks counted by then: a change in between
// keeps the mark. The record of what was drawn last may settle it in the same step.
//
// # Crash windows
//
// Sending is intent, send, record. A kill between send and record may post a
// second card; a tap on either names the same card id, adopts the message, and
// both are kept in line from then on.
//
// All methods are safe for concurrent use, by any number of processes.
package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

//go:embed scripts/*.lua
var scriptFiles embed.FS

// Options are what a Store needs to know beside its connection.
type Options struct {
	Namespace string
	Retention time.Duration // how long rows are kept after their last transition
	// Random makes references and card ids. It is read under no lock, so it must
	// be safe for concurrent use, as crypto/rand.Reader is.
	Random io.Reader
	// Signing holds the keys that sign answers, seal rows and check both; nil: none. The first
	// has to be one that signs.
	Signing *approval.Keys
	// Owners are who is told of a row whose seal does not hold; nil: nobody. It is
	// called at any time, and must be safe for concurrent use.
	Owners func() []int64
}

// Store is the memory of one namespace. The connection is lent: whoever opened
// it closes it.
type Store struct {
	exchange  *exchange
	rdb       redis.UniversalClient
	keys      Keys
	retention time.Duration
	random    io.Reader
	signs     *approval.Keys // nil: nothing is signed
	tell      func() []int64
	sound     sound
	scripts   map[string]*redis.Script
}

// New returns the store of a namespace. It does not touch Redis.
func New(rdb redis.UniversalClient, o Options) (*Store, error) {
	return newStore(rdb, o, scriptFiles)
}

func newStore(rdb redis.UniversalClient, o Options, scripts fs.FS) (*Store, error) {
	s := &Store{rdb: rdb, exchange: &exchange{rdb: rdb}, keys: NewKeys(o.Namespace), retention: o.Retention, random: o.Random, signs: o.Signing, tell: o.Owners}
	if s.signs != nil && s.signs.Signer() == "" {
		return nil, errors.New("store: the first key cannot sign: it is a public one")
	}
	var err error
	if s.scripts, err = loadScripts(scripts); err != nil {
		return nil, fmt.Errorf("store: scripts: %w", err)
	}
	return s, nil
}

// loadScripts reads the scripts, each behind what it uses of the shared lines: Redis runs
// all of a script each time.
func loadScripts(files fs.FS) (map[string]*redis.Script, error) {
	text, err := fs.ReadFile(files, "scripts/lib.lua")
	if err != nil {
		return nil, err
	}
	lib := readLibrary(string(text))
	names, err := fs.Glob(files, "scripts/*.lua")
	if err != nil {
		return nil, err
	}
	scripts := make(map[string]*redis.Script, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		scripts[strings.TrimSuffix(path.Base(name), ".lua")] = redis.NewScript(lib.behind(string(text)))
	}
	return scripts, nil
}

// Keys names the namespace's keys.
func (s *Store) Keys() Keys { return s.keys }

// run runs a script, with others that are wanted at the same time.
func (s *Store) run(ctx context.Context, name string, keys []string, args ...any) (any, error) {
	v, err := s.exchange.run(ctx, s.scripts[name], keys, args)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", name, err)
	}
	return v, nil
}

// Now is Redis's clock, the only one that decides anything: in a cluster that of the
// node which has the namespace.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	node, err := s.node(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("store: time: %w", err)
	}
	t, err := node.Time(ctx).Result()
	if err != nil {
		return time.Time{}, fmt.Errorf("store: time: %w", err)
	}
	return t.Truncate(time.Millisecond).UTC(), nil
}

// Status is what a transition came to. Anything but Done changed nothing,
// except Voted.
type Status string

// What a transition can come to.
const (
	Done        Status = "ok"
	Voted       Status = "voted_now"    // a vote was recorded, more are needed
	AlreadyOpen Status = "already"      // this person's step is open
	NotOpen     Status = "not_open"     // answered before
	Late        Status = "late"         // past the deadline, whether swept or not
	Unknown     Status = "unknown"      // no such approval
	NotOwner    Status = "not_owner"    // not one of the row's owners
	NoStep      Status = "no_step"      // no confirm step is open
	OldStep     Status = "old_step"     // the button belongs to an earlier step
	NotShown    Status = "not_shown"    // the step is not on the card yet
	TooSoon     Status = "too_soon"     // within the dwell
	WindowOver  Status = "window_over"  // the step's window has passed
	OtherPerson Status = "other_person" // somebody else is confirming
	HasVoted    Status = "voted"        // this person approved already
	Handled     Status = "handled"      // the update that it comes by was handled before
	WrongStream Status = "wrong_stream"
	Early       Status = "early"     // the deadline has not passed
	Forbidden   Status = "forbidden" // this guard cannot decide this
	NoClaim     Status = "no_claim"
	Past        Status = "past"         // claimed before
	Old         Status = "old"          // not newer than the report taken last
	Final       Status = "final"        // undone already
	NotApproved Status = "not_approved" // reported, but never approved
	UndoAsked   Status = "undo_asked"   // the undo was asked for before
	UndoOver    Status = "undo_over"
	NoUndo      Status = "no_undo"
	Meddled     Status = "meddled" // its seal does not hold: it was refused, whatever was attempted
	Changed     Status = "again"   // it changed since it was read; only of attempts that do not begin again
)
