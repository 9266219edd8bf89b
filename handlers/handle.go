package handlers

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

const (
	// handleTimeout bounds the handling of one update; a Redis that hangs for
	// longer counts as away.
	handleTimeout = 10 * time.Second

	// patience is how long a tap may go without an answer; then its sender is
	// told that it is being tried.
	patience = 2 * time.Second

	// asideBytes is how much is kept of an update that is set aside.
	asideBytes = 16 << 10
)

// Handlers handle updates. They are safe for concurrent use.
type Handlers struct {
	cfg      Config
	memory   *memory
	kept     kept
	lanes    *lanes
	speaking sync.WaitGroup // words on their way
}

// New returns Handlers.
func New(cfg Config) *Handlers {
	return &Handlers{cfg: cfg, memory: newMemory(cfg.Now), lanes: newLanes()}
}

// Wait waits until what is being said was said.
func (h *Handlers) Wait() { h.speaking.Wait() }

// A received is an update as it came, and what it was read as.
type received struct {
	telegram.Update
	raw   telegram.RawUpdate
	came  time.Time
	id    int64 // tells it from all others: Telegram's, or a negative one where there is none to read
	fault error // why it cannot be read

	now     time.Time      // of Redis's clock, when it was found to be new, or what it is reckoned to be
	old     bool           // it was handled before
	reading *store.Reading // of the card that it taps, as it stood then; nil where that is to be read
}

// card is the id of the card that an update taps, "" where it taps none.
func (u received) card() string {
	if u.Callback == nil || !counts(u.Callback) {
		return ""
	}
	press, err := cards.ParsePress(u.Callback.Data)
	if err != nil || press.Letter == cards.LetterShow || press.Letter == cards.LetterMore {
		return ""
	}
	return press.Card
}

func receive(raw telegram.RawUpdate) received {
	u := received{raw: raw, id: raw.ID}
	if u.id == 0 {
		sum := sha256.Sum256(raw.Raw)
		u.id = -1 - int64(binary.BigEndian.Uint64(sum[:8])>>1)
	}
	u.Update, u.fault = decoded(raw.Raw)
	return u
}

// decoded is telegram.Decode; a panic of it is a fault of the update.
func decoded(raw []byte) (u telegram.Update, fault error) {
	defer caught(&fault)
	return telegram.Decode(raw)
}

// chat is the chat whose order an update belongs to, 0 where it has none.
func (u received) chat() int64 {
	switch {
	case u.Message != nil:
		return u.Message.Chat.ID
	case u.Callback != nil && u.Callback.Message != nil:
		return u.Callback.Message.ChatID
	case u.MyChatMember != nil:
		return u.MyChatMember.Chat.ID
	}
	return 0
}

// Handle handles a batch of updates and returns nil when every one of them is
// handled or set aside. With an error the batch is to be handed over again;
// what was handled of it is remembered and has no second effect. A panic is an
// error as well: what handling an update panics with sets that update aside, and
// what else panics is done again.
func (h *Handlers) Handle(ctx context.Context, updates []telegram.RawUpdate) (err error) {
	defer func() { h.notePanic(err, "taking updates panicked; they are taken again") }()
	defer caught(&err)
	batch := make([]received, len(updates))
	for i, raw := range updates {
		batch[i] = receive(raw)
		batch[i].came = h.cfg.Now()
	}
	defer h.watch(ctx, batch)()

	lanes, twice := map[int64][]received{}, map[int64]bool{}
	for _, u := range batch {
		if !twice[u.id] {
			twice[u.id] = true
			lanes[u.chat()] = append(lanes[u.chat()], u)
		}
	}
	if len(lanes) == 1 { // as it is for most taps
		for chat, lane := range lanes {
			return h.safeLane(ctx, chat, lane)
		}
	}
	errs := make(chan error, len(lanes))
	for chat, lane := range lanes {
		go func() { errs <- h.safeLane(ctx, chat, lane) }()
	}
	for range lanes {
		err = errors.Join(err, <-errs)
	}
	return err
}

// watch tells the senders of taps that are not answered within patience that
// they are being tried. The function it returns ends the watch.
func (h *Handlers) watch(ctx context.Context, batch []received) (end func()) {
	h.speaking.Add(1)
	timer := time.AfterFunc(patience, func() {
		defer h.speaking.Done()
		h.beside(func() { h.trying(ctx, batch) })
	})
	return func() {
		if timer.Stop() {
			h.speaking.Done()
		}
	}
}

// one handles one update. What this process did but could not record is not done again.
func (h *Handlers) one(ctx context.Context, u received) error {
	if h.memory.wasDone(u.id) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	return h.effect(ctx, u)
}

// record records an update as handled, whose effect is in Redis.
func (h *Handlers) record(ctx context.Context, u received) (err error) {
	defer caught(&err)
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	if err := h.cfg.Store.UpdateHandled(ctx, u.id, u.now); err != nil {
		h.memory.setDone(u.id)
		return fmt.Errorf("update %d: %w", u.raw.ID, err)
	}
	return nil
}

// effect does what an update asks for. What cannot be read, or panics, or meets
// an approval that cannot be read, is set aside and never holds up the next.
func (h *Handlers) effect(ctx context.Context, u received) error {
	var why string
	if u.fault != nil {
		why = u.fault.Error()
		h.cfg.Log.Warn().Err(u.fault).Int64("update", u.raw.ID).Msg("an update cannot be read; it is set aside")
	} else {
		err := h.safely(ctx, u)
		var fault *panicked
		switch {
		case errors.As(err, &fault):
			why = fault.Error()
			h.cfg.Count("panics")
			h.cfg.Log.Error().Err(fault).Bytes("stack", fault.stack).Int64("update", u.raw.ID).
				Msg("handling an update panicked; it is set aside")
		case store.Broken(err):
			why = err.Error()
			h.cfg.Log.Error().Err(err).Int64("update", u.raw.ID).Msg("an approval cannot be read; what was said to it is set aside")
		default:
			return err
		}
		h.sorry(ctx, u)
	}
	h.cfg.Count("updates_aside")
	return h.cfg.Store.SetAside(ctx, u.raw.ID, u.raw.Raw[:min(len(u.raw.Raw), asideBytes)], why)
}

// sorry tells whoever tapped or wrote that it came to nothing.
func (h *Handlers) sorry(ctx context.Context, u received) {
	switch {
	case u.Callback != nil:
		h.answer(ctx, u.Callback.ID, cards.ToastBroken)
	case u.Message != nil && u.Message.Chat.Private():
		h.say(ctx, u.Message, cards.Note(cards.ToastBroken))
	}
}

// safely handles an update. A panic is its error.
func (h *Handlers) safely(ctx context.Context, u received) (err error) {
	defer caught(&err)
	switch {
	case u.Callback != nil:
		return h.tap(ctx, u.Callback, u.reading)
	case u.Message != nil:
		return h.message(ctx, u.Message)
	case u.MyChatMember != nil:
		return h.membership(ctx, u.MyChatMember)
	}
	return nil
}

// trying tells the senders of taps that got no answer that they are being tried.
func (h *Handlers) trying(ctx context.Context, batch []received) {
	for _, u := range batch {
		if u.Callback == nil || !counts(u.Callback) || u.old {
			continue
		}
		if h.cfg.Present().People[u.Callback.From.ID].Role == "" {
			h.answer(ctx, u.Callback.ID, cards.ToastStranger)
			continue
		}
		h.answer(ctx, u.Callback.ID, cards.ToastTrying)
	}
}

// answer answers a tap without waiting for it. Only the first answer to a tap is
// sent: Telegram takes no second one, and the card shows what came of it.
func (h *Handlers) answer(ctx context.Context, callback, text string) {
	if h.memory.answer(callback) {
		h.beside(func() { h.cfg.Voice.Answer(context.WithoutCancel(ctx), callback, text, false) })
	}
}

// say says something in reply to a message, without waiting for it.
func (h *Handlers) say(ctx context.Context, to *telegram.Message, m cards.Message) {
	h.speak(ctx, telegram.Outgoing{Chat: to.Chat.ID, Thread: to.Thread, ReplyTo: to.ID, HTML: m.HTML, Plain: m.Plain, Silent: true})
}

// speak sends a message without waiting for it.
func (h *Handlers) speak(ctx context.Context, out telegram.Outgoing) {
	h.beside(func() {
		if _, err := h.cfg.Voice.Say(context.WithoutCancel(ctx), out); err != nil {
			h.cfg.Count("words_unsaid")
			h.cfg.Log.Warn().Err(err).Msg("a reply was not sent")
		}
	})
}
