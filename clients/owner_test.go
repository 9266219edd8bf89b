package clients_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"countersign/simulator"
)

// owner has Ann do something with the card that shows a title: approve (by a button with
// another text, if the card has one), halt, reject or undo. With card it waits until the
// card says something, and answers with what it says.
func (w *world) owner(rw http.ResponseWriter, r *http.Request) {
	text, err := w.act(strings.Trim(r.URL.Path, "/"), r.FormValue("title"), r.FormValue("says"))
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = rw.Write([]byte(text))
}

func (w *world) act(act, title, says string) (string, error) {
	card, err := w.sim.WaitMessage(w.ctx, annID, func(m simulator.Message) bool {
		return strings.Contains(m.Text, title) && m.Keyboard() != nil
	})
	if err != nil {
		return "", fmt.Errorf("no card %q: %w", title, err)
	}
	if err := w.awaitRecord(card); err != nil {
		return "", err
	}
	switch act {
	case "approve":
		if err := w.tap(card, cmp.Or(says, title), ""); err != nil {
			return "", err
		}
		return "", w.tap(card, "Yes", "Approved")
	case "halt": // approved by one tap
		return "", w.tap(card, "Approve", "Approved")
	case "reject":
		return "", w.tap(card, "Reject", "Rejected")
	case "undo":
		return "", w.tap(card, "Undo", "")
	case "card":
		card, err = w.sim.WaitEdit(w.ctx, card, func(m simulator.Message) bool { return strings.Contains(m.Text, says) })
		return card.Text, err
	}
	return "", fmt.Errorf("no such act: %s", act)
}

// awaitRecord waits until the bot knows a message of its own again.
func (w *world) awaitRecord(m simulator.Message) error {
	key := fmt.Sprintf("{%s}:bot:message:%d:%d", w.ns, m.Chat.ID, m.MessageID)
	for {
		n, err := w.server.Client().Exists(w.ctx, key).Result()
		if err != nil || n == 1 {
			return err
		}
		if !pause(w.ctx) {
			return fmt.Errorf("message %d was not recorded", m.MessageID)
		}
	}
}

// tap taps a button as soon as the card has it, and again while the bot has yet to
// record what the card shows: a test is faster than a person.
func (w *world) tap(card simulator.Message, button, words string) error {
	card, err := w.sim.WaitEdit(w.ctx, card, func(m simulator.Message) bool { _, ok := m.Button(button); return ok })
	if err != nil {
		return fmt.Errorf("no button %q: %w", button, err)
	}
	for {
		answer, err := w.ann.TapWait(w.ctx, card, button)
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(answer.Text, "Wait until the card shows the question"):
		case words == "" && answer.Text == "", words != "" && strings.HasPrefix(answer.Text, words):
			return nil
		default:
			return fmt.Errorf("%s: %q", button, answer.Text)
		}
	}
}

// pause lets a moment go by, unless ctx ends.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(5 * time.Millisecond):
		return true
	}
}
