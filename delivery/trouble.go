package delivery

import (
	"context"
	"errors"
	"time"

	"countersign/store"
	"countersign/telegram"
)

// A trouble is what went wrong with one notice so far. It is forgotten with the
// process, or when the lease is lost: then the next one tries afresh.
type trouble struct {
	threadless bool          // its topic is gone: it goes to the main chat
	fails      int           // in a row
	rested     time.Duration // in all
}

// tooOld is how long a notice may rest in all; after that it is no news.
const tooOld = 24 * time.Hour

// noticeFailed returns when to try a notice again; negative: never.
func (r *Reconciler) noticeFailed(ctx context.Context, n *store.Notice, err error) time.Duration {
	log := r.cfg.Log.With().Err(err).Str("notice", n.ID).Str("chat", chatText(n.Chat)).Logger()
	switch kindOf(err) {
	case telegram.TooMany:
		r.cfg.Pace.Hold(n.Chat, retryAfter(err))
		return time.Millisecond
	case telegram.Migrated:
		if e := (*telegram.Error)(nil); errors.As(err, &e) && r.moved(ctx, n.Chat, e) {
			return afterMove
		}
		log.Warn().Msg("a notice cannot be sent")
		return -1
	case telegram.Blocked, telegram.BadRequest:
		log.Warn().Msg("a notice cannot be sent")
		return -1
	case telegram.ThreadGone:
		if r.threadOf(n) != 0 {
			log.Warn().Msg("the topic is gone; the notice goes to the main chat")
			r.leaveThread(n.ID)
			return time.Millisecond
		}
		log.Error().Msg("the main chat is closed to the bot; open it, or name another topic")
		return afterRights
	case telegram.NoRights:
		log.Error().Msg("the bot may not write in this chat; give it the right to")
		return afterRights
	}
	log.Warn().Msg("Telegram did not take a notice; tried again")
	return afterServer
}

// threadOf is the topic a notice goes to, 0 for the main chat.
func (r *Reconciler) threadOf(n *store.Notice) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.troubles[n.ID].threadless {
		return 0
	}
	return n.Thread
}

func (r *Reconciler) leaveThread(nid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.troubles[nid]
	t.threadless = true
	r.troubles[nid] = t
}

// restNotice is when to look at a notice again, given what its last try wants:
// rests grow as those of cards do, and come to an end.
func (r *Reconciler) restNotice(nid string, d time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d <= 0 {
		delete(r.troubles, nid)
		return d
	}
	if d < failing {
		return d
	}
	t := r.troubles[nid]
	if t.rested >= tooOld {
		r.cfg.Log.Error().Str("notice", nid).Msg("a notice was tried for a day; it is given up")
		r.cfg.Count("notices_given_up")
		delete(r.troubles, nid)
		return -1
	}
	d = grown(d, t.fails, longest)
	t.fails++
	t.rested += d
	r.troubles[nid] = t
	return d
}
