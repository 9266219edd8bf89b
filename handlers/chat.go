package handlers

import (
	"context"

	"countersign/telegram"
)

// ofTelegram reports whether a message can be a service message: nobody's words,
// in this chat, now. People cannot write one, nor pass one on.
func ofTelegram(m *telegram.Message) bool {
	return m.Text == "" && !m.HasCaption && !m.Forwarded && !m.ExternalReply && !m.ViaBot && !m.FromOffline &&
		m.EditDate == 0 && m.Business == "" && m.Guest == ""
}

// moved takes Telegram's word that this very chat goes on under another id, or
// went on from one.
func (h *Handlers) moved(ctx context.Context, m *telegram.Message) error {
	old, now, kind := m.Chat.ID, m.MigrateTo, "group"
	if m.MigrateFrom != 0 {
		old, now, kind = m.MigrateFrom, m.Chat.ID, "supergroup"
	}
	present := h.cfg.Present()
	if !ofTelegram(m) || m.Chat.Type != kind || old >= 0 || now >= 0 || !present.routed(old) && !present.routed(now) {
		h.cfg.Count("updates_dropped")
		return nil
	}
	news, _, err := h.cfg.Store.Moved(ctx, old, now)
	if news {
		h.cfg.Log.Warn().Int64("chat", old).Int64("new_chat", now).
			Msg("a group became a supergroup with a new id; its cards go there: put the new id into the configuration")
	}
	return err
}

// membership takes note of what became of the bot in a chat. That it is out is no
// proof, since it may be in again by now: it is asked after. That it is in brings
// failed cards back, which find out by themselves whether it is true.
func (h *Handlers) membership(ctx context.Context, m *telegram.Membership) error {
	if m.Member {
		return h.cfg.Store.ChatBack(ctx, m.Chat.ID)
	}
	return h.cfg.Store.DoubtChat(ctx, m.Chat.ID, "the bot is "+m.New)
}
