package delivery

import (
	"context"
	"time"

	"countersign/store"
	"countersign/telegram"
)

// moved takes Telegram's word that a chat goes on under another id. It reports
// false where that is no word: only a group can become a supergroup.
func (r *Reconciler) moved(ctx context.Context, chat int64, e *telegram.Error) bool {
	if chat >= 0 || e.MigrateTo >= 0 {
		return false
	}
	news, sense, err := r.cfg.Store.Moved(ctx, chat, e.MigrateTo)
	if err != nil {
		r.unrecorded(err, chatText(chat)) // it is said again with the next try
		return true
	}
	if news {
		r.cfg.Log.Warn().Str("chat", chatText(chat)).Str("new_chat", chatText(e.MigrateTo)).
			Msg("a group became a supergroup with a new id; its cards go there: put the new id into the configuration")
	}
	return sense
}

// ask asks Telegram whether the bot is out of a chat, as somebody's word has it,
// and ends the doubt for all cards there.
func (r *Reconciler) ask(ctx context.Context, reading *store.Reading, n need, lease store.Lease) time.Duration {
	c := reading.Card(n.card)
	if c == nil {
		return 0
	}
	call, cancel := context.WithTimeout(ctx, CallTimeout)
	err := r.cfg.Bot.Reach(call, n.chat)
	cancel()
	if err == nil {
		return r.wrote(reading.ID, r.cfg.Store.ChatFine(ctx, n.chat, reading.ID, lease))
	}
	switch kindOf(err) {
	case telegram.Blocked:
		r.cfg.Log.Warn().Err(err).Str("chat", chatText(n.chat)).Msg("the bot is out of a chat; its cards fail")
		return r.wrote(reading.ID, r.cfg.Store.ChatOut(ctx, n.chat, reading.ID, described(err), lease))
	case telegram.TooMany, telegram.Migrated, telegram.Server, telegram.Transport, telegram.Unauthorized, telegram.Conflict:
		return r.failed(ctx, reading, n, c, lease, err)
	}
	// Whatever else Telegram says, the bot is in the chat.
	return r.wrote(reading.ID, r.cfg.Store.ChatFine(ctx, n.chat, reading.ID, lease))
}
