package sweeper

import (
	"context"
	"errors"
	"time"

	"countersign/approval"
	"countersign/store"
)

// sharedFrom is how many lapses in one chat in one sweep have a notice each;
// more share one.
const sharedFrom = 5

// noticeDelay holds a shared notice back until its lapses are written, should
// the sweep stop half way.
const noticeDelay = 30 * time.Second

// tellings are how the chats are told of what lapses in one sweep. Until share has
// returned, one goroutine has them.
type tellings struct {
	store *store.Store
	by    map[int64]*telling // chat
}

// A telling is that of one chat.
type telling struct {
	lapses, thread int
	notice         string // the id of the shared one, "" while each has its own
}

// count counts what is about to lapse.
func (t *tellings) count(readings []*store.Reading) {
	for _, r := range readings {
		for _, chat := range cardChats(r) {
			if t.by[chat.ID] == nil {
				t.by[chat.ID] = &telling{thread: chat.Thread}
			}
			t.by[chat.ID].lapses++
		}
	}
}

// share keeps a notice for every chat in which more than five lapse. It names nothing
// yet: what lapses with it is added as it lapses, so that two sweeps at once, or one
// after half of another, tell of each approval once.
func (t *tellings) share(ctx context.Context) (err error) {
	for chat, of := range t.by {
		if of.lapses <= sharedFrom || of.notice != "" {
			continue
		}
		of.notice, err = t.store.NewNotice(ctx, store.Notice{Kind: store.SharedLapse, Chat: chat, Thread: of.thread}, noticeDelay)
		if err != nil {
			return err
		}
	}
	return nil
}

// decided reports whether all that is told of an approval is told by shared notices:
// whatever else lapses, that stays so.
func (t *tellings) decided(r *store.Reading) bool {
	for _, chat := range cardChats(r) {
		if t.by[chat.ID].notice == "" {
			return false
		}
	}
	return true
}

// of are the shared notices that speak for an approval, and the chats they speak to.
func (t *tellings) of(r *store.Reading) (quiet []int64, notices []string) {
	for _, chat := range cardChats(r) {
		if of := t.by[chat.ID]; of != nil && of.notice != "" {
			quiet, notices = append(quiet, chat.ID), append(notices, of.notice)
		}
	}
	return quiet, notices
}

// release makes the shared notices due: what they tell of is written.
func (t *tellings) release(ctx context.Context) error {
	var wrong []error
	for _, of := range t.by {
		if of.notice != "" {
			wrong = append(wrong, t.store.SettleNotice(ctx, of.notice, 0, nil))
		}
	}
	return errors.Join(wrong...)
}

// cardChats are the chats that a lapse concerns: those in which the approval has
// a card, and those where it was to get one that was not sent yet. Where its
// card has failed nothing can be told.
func cardChats(r *store.Reading) []approval.Chat {
	if r.Row == nil {
		return nil
	}
	var chats []approval.Chat
	seen := map[int64]bool{}
	add := func(c approval.Chat) {
		if !seen[c.ID] {
			seen[c.ID] = true
			chats = append(chats, c)
		}
	}
	failed := map[int64]bool{}
	for _, c := range r.Cards {
		chat := r.Home(c.Chat) // as the row's chats are named
		switch {
		case c.Failed != "":
			failed[chat] = true
		case c.Sent && !c.Retired && c.Topicless:
			add(approval.Chat{ID: chat})
		case c.Sent && !c.Retired:
			add(approval.Chat{ID: chat, Thread: c.Thread})
		}
	}
	for _, c := range r.Row.Chats {
		if !failed[c.ID] {
			add(c)
		}
	}
	return chats
}
