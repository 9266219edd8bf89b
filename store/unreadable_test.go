package store_test

import (
	"errors"
	"testing"
	"time"

	"countersign/store"
	"countersign/store/storetest"
)

// TestUnreadable wants an approval that somebody spoilt to be told apart from a
// Redis that fails, and its mark to be put off unless it has changed meanwhile.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		e := newEnv(t, s, storetest.NewStore(t, s))
		for id, spoil := range map[string]func(){
			"request": func() { e.ok(e.rdb.HSet(e.ctx, e.keys.Row("request"), "request", "{").Err()) },
			"chats":   func() { e.ok(e.rdb.HSet(e.ctx, e.keys.Row("chats"), "chats", "{").Err()) },
			"votes":   func() { e.ok(e.rdb.HSet(e.ctx, e.keys.Memory("votes"), "vote:1", "{").Err()) },
		} {
			e.open(id)
			spoil()
			_, err := e.store.Read(e.ctx, id)
			var bad *store.UnreadableError
			if !errors.As(err, &bad) || !errors.Is(err, store.ErrUnreadable) {
				t.Fatalf("%s: error %v", id, err)
			}
			same(e, "id", bad.ID, id)
			e.at("read", bad.Now, e.now())

			put := func(want bool) {
				t.Helper()
				got, err := e.store.PutOff(e.ctx, bad, time.Minute, e.lease())
				e.ok(err)
				same(e, "put off", got, want)
			}
			put(true)
			e.at("looked at again", e.score(e.keys.DirtyKey(), "a:"+id), e.now().Add(time.Minute))
			e.ok(e.store.Remind(e.ctx, id)) // a change
			e.unchanged(func() { put(false) })
		}
		e.ok(e.rdb.Set(e.ctx, e.keys.Row("other"), "no hash", 0).Err())
		if _, err := e.store.Read(e.ctx, "other"); err == nil || errors.Is(err, store.ErrUnreadable) {
			t.Errorf("a failure of Redis: %v", err)
		}
	})
}
