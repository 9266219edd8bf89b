package delivery_test

import (
	"testing"
	"time"
)

// spoil makes an approval unreadable. The function it returns mends it.
func (w *world) spoil(id string) (mend func()) {
	w.Helper()
	rdb, row := w.client(), w.store.Keys().Row(id)
	good, err := rdb.HGet(w.Context(), row, "request").Result()
	w.ok(err)
	w.ok(rdb.HSet(w.Context(), row, "request", "{").Err())
	return func() { w.ok(rdb.HSet(w.Context(), row, "request", good).Err()) }
}

// TestUnreadableApproval wants an approval that cannot be read to be looked at
// less and less, with a line each time, and its card once it is mended.
func TestUnreadableApproval(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.open("bad")
		mend := w.spoil("bad")
		w.start("a", start{})
		w.open("well", in(chat(ben)))
		settle()
		w.post(ben)
		lines := func(want int) {
			w.Helper()
			if n := w.log.count("an approval cannot be read"); n != want {
				w.Errorf("%d lines, want %d", n, want)
			}
		}
		lines(1)
		for range 5 { // marked again and again, and no better
			w.ok(w.store.Touch(w.Context(), "bad"))
			pass(time.Second)
		}
		lines(1)
		pass(69 * time.Minute)
		lines(7) // after 0, 1, 3, 7, 15, 31 and 63 minutes
		due, err := w.store.Dirty(w.Context(), 10)
		w.ok(err)
		if len(due.Approvals) != 0 || due.Next < 50*time.Minute || due.Next > time.Hour {
			w.Errorf("due now: %v; next in %v", due.Approvals, due.Next)
		}
		mend()
		w.ok(w.store.Touch(w.Context(), "bad"))
		settle()
		w.post(ann)
		quiet(w, "bad")

		w.spoil("bad")
		w.ok(w.store.Touch(w.Context(), "bad"))
		settle()
		lines(8) // told at once, as the first time
	})
}

// TestNoticeGoesWithoutTheUnreadable wants one bad row to keep no notice from
// those that it names as well.
func TestNoticeGoesWithoutTheUnreadable(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		ids := []string{"a1", "a2", "a3"}
		for _, id := range ids {
			w.open(id, in())
		}
		pass(lifetime)
		nid := w.lapseTogether(ids...)
		w.spoil("a2")
		w.ok(w.store.SettleNotice(w.Context(), nid, 0, nil))
		w.start("a", start{})
		pass(time.Second)
		if m := w.post(ann); !has("2")(m) {
			w.Errorf("the notice says\n%s", m.Text)
		}
	})
}

// TestUnreadableWhileItWaits spoils an approval whose card waits for its turn.
func TestUnreadableWhileItWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		p := w.start("a", start{})
		p.pace.Hold(ann, 10*time.Second)
		w.open("bad", in(chat(ann)))
		settle()
		w.spoil("bad")
		pass(time.Minute - time.Second)
		if n := w.log.count("an approval cannot be read"); n != 1 {
			w.Errorf("%d lines, want 1", n)
		}
		w.posts(ann, 0)
	})
}
