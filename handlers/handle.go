package handlers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"countersign/cards"
	"countersign/telegram"
)

// handleTimeout bounds the handling of one update; a Redis that hangs for
// longer counts as away.
const handleTimeout = 10 * time.Second

// Handlers handle updates. They are safe for concurrent use.
type Handlers struct {
	cfg      Config
	speaking sync.WaitGroup // words on their way

	mu       sync.Mutex          // guards told and strange
	told     map[string]struct{} // taps whose sender was told that they are being tried
	strange  map[int64]time.Time // when each stranger got an answer last
}

// New returns Handlers.
func New(cfg Config) *Handlers {
	return &Handlers{cfg: cfg, told: map[string]struct{}{}, strange: map[int64]time.Time{}}
}

// Handle handles a batch of updates and returns nil when every one of them is
// handled or set aside. With an error the batch is to be handed over again;
// what was handled of it is remembered and has no second effect.
func (h *Handlers) Handle(ctx context.Context, updates []telegram.RawUpdate) error {
	ids := make([]int64, len(updates))
	for i, u := range updates {
		ids[i] = u.ID
	}
	fresh, err := h.cfg.Store.NewUpdates(ctx, ids)
	if err != nil {
		for _, raw := range updates {
			if u, derr := telegram.Decode(raw.Raw); derr == nil {
				h.trying(ctx, u)
			}
		}
		return fmt.Errorf("updates are not recorded yet: %w", err)
	}
	lanes := map[int64][]telegram.RawUpdate{}
	var order []int64
	for _, raw := range updates {
		if !fresh[raw.ID] {
			continue
		}
		chat := chatOf(raw)
		if _, ok := lanes[chat]; !ok {
			order = append(order, chat)
		}
		lanes[chat] = append(lanes[chat], raw)
	}
	errs := make([]error, len(order))
	var wg sync.WaitGroup
	for i, chat := range order {
		wg.Go(func() {
			for _, raw := range lanes[chat] {
				if errs[i] = h.one(ctx, raw); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Wait waits until what is being said was said.
func (h *Handlers) Wait() { h.speaking.Wait() }

// chatOf is the chat whose order an update belongs to, 0 where it has none.
func chatOf(raw telegram.RawUpdate) int64 {
	u, err := telegram.Decode(raw.Raw)
	switch {
	case err != nil:
	case u.Message != nil:
		return u.Message.Chat.ID
	case u.Callback != nil && u.Callback.Message != nil:
		return u.Callback.Message.ChatID
	}
	return 0
}

// one handles one update and remembers it. What cannot be read, or panics, is
// set aside and never holds up the next.
func (h *Handlers) one(ctx context.Context, raw telegram.RawUpdate) error {
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	u, err := telegram.Decode(raw.Raw)
	if err == nil {
		var fault any
		if fault, err = h.safely(ctx, u); fault != nil {
			h.cfg.Log.Error().Interface("panic", fault).Int64("update", raw.ID).Msg("handling an update panicked; it is set aside")
			return h.aside(ctx, raw, fmt.Sprintf("panic: %v", fault))
		}
		if err != nil {
			h.trying(ctx, u)
			return fmt.Errorf("update %d: %w", raw.ID, err)
		}
		return h.done(ctx, raw.ID)
	}
	h.cfg.Log.Warn().Err(err).Int64("update", raw.ID).Msg("an update cannot be read; it is set aside")
	return h.aside(ctx, raw, err.Error())
}

// safely returns the panic of a handler, if it panicked.
func (h *Handlers) safely(ctx context.Context, u telegram.Update) (fault any, err error) {
	defer func() { fault = recover() }()
	switch {
	case u.Callback != nil:
		return nil, h.tap(ctx, u.Callback)
	case u.Message != nil:
		return nil, h.message(ctx, u.Message)
	}
	return nil, nil
}

func (h *Handlers) aside(ctx context.Context, raw telegram.RawUpdate, why string) error {
	h.cfg.Count("updates_aside")
	if err := h.cfg.Store.SetAside(ctx, raw.ID, raw.Raw, why); err != nil {
		return err
	}
	return h.done(ctx, raw.ID)
}

func (h *Handlers) done(ctx context.Context, id int64) error {
	now, err := h.cfg.Store.Now(ctx)
	if err != nil {
		return err
	}
	return h.cfg.Store.UpdateHandled(ctx, id, now)
}

// trying tells the sender of a tap, once, that it is not recorded yet.
func (h *Handlers) trying(ctx context.Context, u telegram.Update) {
	if u.Callback == nil || !h.counts(u.Callback) {
		return
	}
	h.mu.Lock()
	_, again := h.told[u.Callback.ID]
	h.told[u.Callback.ID] = struct{}{}
	h.mu.Unlock()
	if !again {
		h.speaking.Go(func() { h.cfg.Voice.Answer(context.WithoutCancel(ctx), u.Callback.ID, cards.ToastTrying, false) })
	}
}

// answer answers a tap, once, and without waiting for it.
func (h *Handlers) answer(ctx context.Context, callback, text string) {
	h.mu.Lock()
	_, told := h.told[callback]
	delete(h.told, callback)
	h.mu.Unlock()
	if told {
		return // Telegram takes one answer; the card shows what came of it
	}
	h.speaking.Go(func() { h.cfg.Voice.Answer(context.WithoutCancel(ctx), callback, text, false) })
}

// say says something in reply to a message, without waiting for it.
func (h *Handlers) say(ctx context.Context, to *telegram.Message, m cards.Message) {
	out := telegram.Outgoing{
		Chat: to.Chat.ID, Thread: to.Thread, ReplyTo: to.ID, HTML: m.HTML, Plain: m.Plain, Silent: true,
	}
	h.speaking.Go(func() {
		if _, err := h.cfg.Voice.Say(context.WithoutCancel(ctx), out); err != nil {
			h.cfg.Log.Warn().Err(err).Msg("a reply was not sent")
		}
	})
}
