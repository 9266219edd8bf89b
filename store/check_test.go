package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

const (
	ann    = storetest.Ann
	ben    = storetest.Ben
	cleo   = storetest.Cleo
	window = 5 * time.Minute
	dwell  = time.Minute
	hour   = time.Hour
	days   = 30 // of the undo that a request here declares
)

// A check is one sentence of the rules with its proof. The script it is about
// is the one whose faults it is there to find.
type check struct {
	script string
	rule   string
	prove  func(e *env)
}

// checks are all of them.
func checks() []check {
	var all []check
	for _, some := range [][]check{
		chatChecks(), openChecks(), openedAnsweredChecks(), decideChecks(), quorumChecks(), guardChecks(), stepChecks(),
		claimChecks(), reportChecks(), interruptedChecks(), undoChecks(), alarmChecks(), cardChecks(), resentChecks(), viewChecks(), sendChecks(), fenceChecks(),
		readChecks(), feedChecks(), leaseChecks(), deadChecks(), expiryChecks(), redrawChecks(), movedChecks(), rehomeChecks(), failChecks(), chatStateChecks(), sealChecks(), chainChecks(), forgetChecks(),
	} {
		all = append(all, some...)
	}
	return all
}

// TestContract proves every rule on every server.
func TestContract(t *testing.T) {
	t.Parallel()
	for _, c := range checks() {
		t.Run(c.script+"/"+c.rule, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, s *storetest.Server) {
				c.prove(newEnv(t, s, storetest.NewStore(t, s)))
			})
		})
	}
}

// An env is what a check works with: a store on one server.
type env struct {
	testing.TB
	server *storetest.Server
	ctx    context.Context
	store  *store.Store
	rdb    *redis.Client
	keys   store.Keys
	held   *store.Lease // the lease that was taken, see lease
	// other makes a store of the same namespace with other options.
	other func(store.Options) (*store.Store, error)
}

func newEnv(t testing.TB, s *storetest.Server, st *store.Store) *env {
	return &env{
		TB: t, server: s, ctx: t.Context(), store: st, rdb: s.Client(), keys: s.Keys(),
		other: func(o store.Options) (*store.Store, error) { return store.New(s.Bot(), o) },
	}
}

// now is the server's clock.
func (e *env) now() time.Time {
	e.Helper()
	return e.server.Now(e.TB)
}

// advance makes everything older.
func (e *env) advance(d time.Duration) { e.server.Advance(e.TB, d) }

// tick is the least time that can be told apart: a real clock runs on while
// the test works.
func (e *env) tick() time.Duration {
	if e.server.IsEmbedded() {
		return time.Millisecond
	}
	return 10 * time.Second
}

// slack is what a last instant must be early by: nothing where the clock is held.
func (e *env) slack() time.Duration {
	if e.server.IsEmbedded() {
		return 0
	}
	return e.tick()
}

// ok ends the check on an error.
func (e *env) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatalf("unexpected error: %v", err)
	}
}

// same compares, an empty list like none, with what is compared for the message.
func same[T any](e *env, what string, got, want T) {
	e.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		e.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// field reads one field of a hash, "" if it is not there.
func (e *env) field(key, field string) string {
	e.Helper()
	v, err := e.rdb.HGet(e.ctx, key, field).Result()
	if !errors.Is(err, redis.Nil) {
		e.ok(err)
	}
	return v
}

// there reports whether a key is.
func (e *env) there(key string) bool {
	e.Helper()
	n, err := e.rdb.Exists(e.ctx, key).Result()
	e.ok(err)
	return n == 1
}

// score is a member's in a sorted set, as a time; zero if it is none.
func (e *env) score(key, member string) time.Time {
	e.Helper()
	v, err := e.rdb.ZScore(e.ctx, key, member).Result()
	if errors.Is(err, redis.Nil) {
		return time.Time{}
	}
	e.ok(err)
	return time.UnixMilli(int64(v)).UTC()
}

// at checks a stored time: to the millisecond where the clock is held.
func (e *env) at(what string, got, want time.Time) {
	e.Helper()
	if got.Sub(want).Abs() >= e.tick() {
		e.Errorf("%s is at %v, want %v", what, got, want)
	}
}

// livesFor checks a key's time to live; negative means for ever.
func (e *env) livesFor(key string, want time.Duration) {
	e.Helper()
	ttl, err := e.rdb.PTTL(e.ctx, key).Result()
	e.ok(err)
	switch {
	case want < 0 && ttl != -1, want >= 0 && (ttl-want).Abs() >= e.tick():
		e.Errorf("%s lives for %v, want %v", key, ttl, want)
	}
}

// events are the entries of a stream.
func (e *env) events(stream string) []map[string]any {
	e.Helper()
	entries, err := e.rdb.XRange(e.ctx, stream, "-", "+").Result()
	e.ok(err)
	events := make([]map[string]any, len(entries))
	for i, x := range entries {
		events[i] = x.Values
	}
	return events
}

// An auditLine is what a check looks at of one.
type auditLine struct {
	ID   string `json:"approval_id"`
	From string
	To   string
	By   struct{ Surface, ID string }
	Pin  string
	Code string `json:"reason_code"`
	Undo bool
}

func (e *env) audits() []auditLine {
	e.Helper()
	texts, err := e.rdb.LRange(e.ctx, e.keys.AuditKey(), 0, -1).Result()
	e.ok(err)
	lines := make([]auditLine, len(texts))
	for i, text := range texts {
		e.ok(json.Unmarshal([]byte(text), &lines[i]))
	}
	return lines
}

// audited checks that the last lines go from state to state, by whom.
func (e *env) audited(want ...string) {
	e.Helper()
	lines := e.audits()
	var got []string
	for _, l := range lines[max(0, len(lines)-len(want)):] {
		got = append(got, fmt.Sprintf("%s %s>%s %s/%s", l.ID, l.From, l.To, l.By.Surface, l.By.ID))
	}
	same(e, "audit", got, want)
}

// urgent is where what a person waits for stands on the feed.
var urgent = time.UnixMilli(1).UTC()

// marked checks that a change is on the feed, and that whoever waits was woken,
// by what it does.
func (e *env) marked(id string, change func()) {
	e.Helper()
	e.ok(e.rdb.ZRem(e.ctx, e.keys.DirtyKey(), "a:"+id).Err())
	woken, err := e.rdb.XLen(e.ctx, e.keys.Wake()).Result()
	e.ok(err)
	change()
	if mark := e.score(e.keys.DirtyKey(), "a:"+id); !mark.Equal(urgent) {
		e.at("mark", mark, e.now())
	}
	if n := e.rdb.XLen(e.ctx, e.keys.Wake()).Val(); n != woken+1 {
		e.Errorf("woken %d times, want once", n-woken)
	}
}

// unchanged checks that an attempt leaves the whole namespace as it is.
func (e *env) unchanged(attempt func()) {
	e.Helper()
	before := e.dump()
	attempt()
	if d := cmp.Diff(before, e.dump()); d != "" {
		e.Errorf("changed (-before +after):\n%s", d)
	}
}

// dump is everything in the namespace.
func (e *env) dump() map[string]any {
	e.Helper()
	all := map[string]any{}
	keys, err := e.rdb.Keys(e.ctx, e.keys.Prefix()+"*").Result()
	e.ok(err)
	for _, key := range keys {
		var v any
		switch kind := e.rdb.Type(e.ctx, key).Val(); kind {
		case "hash":
			v, err = e.rdb.HGetAll(e.ctx, key).Result()
		case "string":
			v, err = e.rdb.Get(e.ctx, key).Result()
		case "set":
			v, err = e.rdb.SMembersMap(e.ctx, key).Result()
		case "zset":
			v, err = e.rdb.ZRangeWithScores(e.ctx, key, 0, -1).Result()
		case "list":
			v, err = e.rdb.LRange(e.ctx, key, 0, -1).Result()
		case "stream":
			v, err = e.rdb.XRange(e.ctx, key, "-", "+").Result()
		default:
			e.Fatalf("%s is a %s", key, kind)
		}
		e.ok(err)
		all[key] = v
	}
	return all
}

// telegram is a person who answers in their own chat.
func telegram(user int64) approval.By {
	return approval.By{
		Surface: approval.Telegram, ID: fmt.Sprint(user), Name: fmt.Sprintf("Owner %d", user),
		Chat: user, Message: 10, Method: approval.Button,
	}
}
