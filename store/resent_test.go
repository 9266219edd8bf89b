package store_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// resent has the client send every script twice, as it does where the connection
// broke after the effect and before the reply. What counts is the second reply.
type resent struct{}

func (resent) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (resent) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := next(ctx, cmds); err != nil {
			return err
		}
		return next(ctx, cmds)
	}
}

func (resent) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := next(ctx, cmd); err != nil || !strings.HasPrefix(cmd.Name(), "eval") {
			return err
		}
		return next(ctx, cmd)
	}
}

func resentChecks() []check {
	return []check{
		{"card", "shown again by a command that is sent twice, one card stands", func(e *env) {
			e.open("a1")
			l := e.lease()
			old := e.place("a1", store.Place{Chat: ann}, &l, false)
			e.server.Bot().AddHook(resent{})
			newer := e.place("a1", store.Place{Chat: ann}, nil, true)
			after := e.read("a1")
			same(e, "cards", len(after.Cards), 2)
			same(e, "the old one is retired", after.Card(old).Retired, true)
			same(e, "the new one is", after.Card(newer).Retired, false)
			same(e, "revision", after.Row.Rev, int64(2))
		}},
	}
}

// TestSentTwice goes through the life of approvals once, and once with every
// command of the store sent twice: what is left must be the same.
func TestSentTwice(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		once := newEnv(t, s, storetest.NewStore(t, s))
		want := once.livesOn()
		for _, other := range storetest.Servers(t) {
			if other.Name() != s.Name() {
				continue
			}
			twice := newEnv(t, other, storetest.NewStore(t, other))
			other.Client().AddHook(resent{})
			if diff := cmp.Diff(want, twice.livesOn()); diff != "" {
				t.Errorf("sent once (-), sent twice (+):\n%s", diff)
			}
		}
	})
}

// asks opens a good request, whatever the reply says of it.
func (e *env) asks(id string, changes ...func(*store.Opening)) {
	e.Helper()
	o := storetest.NewOpening(e.TB, e.store, storetest.Request(id, storetest.WithUndo(days)))
	for _, change := range changes {
		change(&o)
	}
	_, _, err := e.store.Open(e.ctx, o)
	e.ok(err)
}

// livesOn has approvals asked, shown, voted on, answered, claimed, reported,
// undone, withdrawn, moved and told of, and says what is left. Statuses are not
// looked at: the second reply to one command says that it has happened.
func (e *env) livesOn() (left []string) {
	e.Helper()
	l := e.lease()
	e.asks("a1", quorum(2))
	cid := e.place("a1", store.Place{Chat: ann}, &l, false)
	e.sent("a1", cid, store.TheCard, 11, 0)
	for _, who := range []int64{ann, ben} {
		_, r, err := e.store.OpenStep(e.ctx, "a1", store.StepBy{User: who, Name: "Name", Window: window, Chat: ann, Card: cid})
		e.ok(err)
		e.sent("a1", cid, "edit", 11, r.Step.Rev)
		e.advance(dwell)
		e.decide(e.read("a1"), yes(e.read("a1"), who))
	}
	e.look("a1", cid, store.View{User: ann, Pages: []string{"0"}, Message: 12, Chat: ann})
	_, err := e.store.Claimed(e.ctx, approval.ClaimEvent{ID: "a1", By: "worker-1"}, e.keys.Requests(), e.server.Now(e.TB))
	e.ok(err) // nobody claimed it
	_, _, err = e.store.Reported(e.ctx, e.reporting("a1", approval.Executed, 100))
	e.ok(err)
	_, _, err = e.store.Undo(e.ctx, e.read("a1"), ann, approval.By{Surface: approval.Telegram, ID: "1001"})
	e.ok(err)

	e.asks("a2")
	again := e.place("a2", store.Place{Chat: -100}, nil, true)
	e.sent("a2", again, store.TheCard, 21, 0)
	_, _, err = e.store.OpenStep(e.ctx, "a2", store.StepBy{User: ann, Name: "Ann", Window: window, Chat: ann, Card: again})
	e.ok(err)
	_, _, err = e.store.CancelStep(e.ctx, "a2", ann, window, 0)
	e.ok(err)
	e.ok(e.store.Remind(e.ctx, "a2"))
	_, _, err = e.store.Moved(e.ctx, -100, -200)
	e.ok(err)
	e.ok(e.store.Rehome(e.ctx, "a2", e.lease()))
	e.ok(e.store.FailCard(e.ctx, again, "blocked", e.lease()))
	e.ok(e.store.ChatBack(e.ctx, -200))
	e.decide(e.read("a2"), reject(ann))

	told, err := e.store.Alarm(e.ctx, "a2", storetest.Runtime, "7-0")
	e.ok(err)
	nid, err := e.store.NewNotice(e.ctx, store.Notice{Kind: store.SharedLapse, Chat: ann}, time.Minute)
	e.ok(err)
	e.asks("a3")
	e.advance(hour)
	a := lapse()
	a.Quiet, a.Notices = []int64{ann}, []string{nid}
	e.decide(e.read("a3"), a)
	n, _, err := e.store.ReadNotice(e.ctx, nid)
	e.ok(err)
	left = append(left, fmt.Sprintf("alarm %v, notice %v of %d", told, n.IDs, n.Total))

	for _, id := range []string{"a1", "a2", "a3"} {
		r := e.read(id)
		left = append(left, fmt.Sprintf("%s: %s, revision %d, %d votes, undo %v", id, r.Row.State, r.Row.Rev, len(r.Votes), r.Row.Undo != nil))
		for _, c := range r.Cards {
			left = append(left, fmt.Sprintf("  card in %d: %d and %d copies, failed %q, retired %v", c.Chat, c.Message, len(c.Copies), c.Failed, c.Retired))
		}
	}
	for _, key := range []string{e.keys.Answers(), e.keys.Answer("a1"), e.keys.Answer("a2"), e.keys.Answer("a3")} {
		entries, err := e.rdb.XRange(e.ctx, key, "-", "+").Result()
		e.ok(err)
		for _, m := range entries {
			left = append(left, fmt.Sprintf("answer: %v %v", m.Values["type"], m.Values["subject"]))
		}
	}
	lines, err := e.rdb.LRange(e.ctx, e.keys.Prefix()+"bot:audit", 0, -1).Result()
	e.ok(err)
	left = append(left, fmt.Sprintf("%d lines for the audit", len(lines)))
	return slices.Clip(left)
}
