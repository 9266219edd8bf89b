package delivery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/store/storetest"
)

// sign has the world's processes sign from now on.
func (w *world) sign() {
	w.Helper()
	w.signing = storetest.SigningKeys(w.TB, 1)
	w.store = w.newStore(w.client())
}

// tamper changes a row as somebody would who may write rows, and has it looked at.
func (w *world) tamper(id string, fields ...any) {
	w.Helper()
	w.ok(w.client().HSet(w.Context(), w.store.Keys().Row(id), fields...).Err())
	w.ok(w.store.Touch(w.Context(), id))
}

// another is a request of the same id that the owner was never asked about.
func another(id string) string {
	return string(storetest.Request(id, storetest.With("tool", "delete_account"), storetest.WithCard(map[string]any{"title": "Look at one email"})))
}

// told wants the last of so many messages in a chat to say something of an approval.
func (w *world) told(chat int64, messages int, words string) {
	w.Helper()
	posts := w.posts(chat, messages)
	if last := posts[messages-1].Text; !strings.Contains(last, words) || strings.Contains(last, "Look at one email") {
		w.Errorf("the last message in %d is %q, want %q", chat, last, words)
	}
}

func TestRowChangedBeforeItsCardWasDrawn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sign()
		w.open("a1", in(chat(team)))
		w.tamper("a1", "request", another("a1"))
		w.start("a", start{})
		settle()
		w.state("a1", approval.Refused)
		card := w.post(team)
		for _, words := range []string{"Refused", "a1", "changed by someone else"} {
			if !strings.Contains(card.Text, words) {
				w.Errorf("the card does not say %q: %s", words, card.Text)
			}
		}
		if strings.Contains(card.Text, "Look at one email") || len(card.Keyboard()) != 0 {
			w.Errorf("the card shows what was written into the row: %s", card.Text)
		}
		for _, owner := range []int64{ann, ben} {
			w.told(owner, 1, "does not bear our seal. It was refused")
		}
		// Whatever is written after, it is told of once.
		w.tamper("a1", "request", "{")
		settle()
		w.posts(ann, 1)
		w.inLine("a1")
	})
}

func TestRowChangedAfterItsCardWasDrawn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sign()
		w.start("a", start{})
		w.open("a1", in(chat(ann)))
		settle()
		if card := w.post(ann); !strings.Contains(card.Text, "Trash 3 emails") {
			w.Fatalf("the card is %s", card.Text)
		}
		w.tamper("a1", "request", another("a1"))
		settle()
		w.state("a1", approval.Refused)
		card := w.posts(ann, 2)[0]
		if !strings.Contains(card.Text, "changed by someone else") || strings.Contains(card.Text, "Trash") || strings.Contains(card.Text, "Look at") || len(card.Keyboard()) != 0 {
			w.Errorf("the card is %s", card.Text)
		}
		w.told(ann, 2, "It was refused")
		w.inLine("a1")
	})
}

func TestRowsFromBeforeTheFirstKey(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		before := w.start("a", start{})
		for i := range 3 {
			w.open(fmt.Sprint("a", i), in(chat(team)))
		}
		storetest.Approve(w.TB, w.store, "a2")
		settle()
		before.stop()
		w.sign()
		w.start("b", start{})
		w.ok(w.store.TouchOpen(w.Context()))
		settle()
		for _, id := range []string{"a0", "a1"} {
			w.state(id, approval.Refused)
			if reason := w.read(id).Row.Answer.Reason; !strings.HasPrefix(reason, "unsealed: ") {
				w.Errorf("%s: %s", id, reason)
			}
		}
		w.state("a2", approval.Approved)
		refused := 0
		for _, card := range w.posts(team, 3) {
			if strings.Contains(card.Text, "carries no seal") && !strings.Contains(card.Text, "Trash") {
				refused++
			}
		}
		if refused != 2 {
			w.Errorf("%d cards say so, want 2", refused)
		}
		w.posts(ann, 2)
	})
}

func TestRowChangedAfterItsAnswer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sign()
		w.start("a", start{})
		w.open("a1", in(chat(team)))
		settle()
		storetest.Approve(w.TB, w.store, "a1")
		settle()
		w.tamper("a1", "request", another("a1"))
		settle()
		w.state("a1", approval.Approved)
		card := w.post(team)
		if !strings.Contains(card.Text, "Approved by root") || !strings.Contains(card.Text, "changed by someone else") || strings.Contains(card.Text, "Look at") {
			w.Errorf("the card is %s", card.Text)
		}
		w.told(ann, 1, "changed by someone else after it was answered")
		w.tamper("a1", "pin", "sha256:x")
		settle()
		w.told(ben, 1, "after it was answered")
	})
}

// An approved state that nobody gave is none: the row is refused, and its card says so.
func TestStateThatNobodyGave(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sign()
		w.start("a", start{})
		w.open("a1", in(chat(team)))
		settle()
		w.tamper("a1", "state", "approved", "answer", `{"approval_id":"a1","decision":"approved","approved":true,`+
			`"observation":"","by":{"surface":"telegram","id":"1001","name":"Ann"},"at":"2026-01-01T00:00:00Z"}`)
		settle()
		w.state("a1", approval.Refused)
		if card := w.post(team); strings.Contains(card.Text, "Ann") || !strings.Contains(card.Text, "Refused") {
			w.Errorf("the card is %s", card.Text)
		}
		w.told(ann, 1, "It was refused")
	})
}

// A row that is changed while its card waits for its turn is not drawn.
func TestRowChangedWhileItsCardWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *world) {
		w.sign()
		w.start("a", start{})
		for i := range 30 { // a group takes 20 a minute
			w.open(fmt.Sprintf("a%02d", i), in(chat(team)))
		}
		settle()
		for i := range 30 {
			w.ok(w.client().HSet(w.Context(), w.store.Keys().Row(fmt.Sprintf("a%02d", i)), "request", another(fmt.Sprintf("a%02d", i))).Err())
		}
		pass(3 * time.Minute)
		for _, m := range w.sim.BotMessages(team) {
			if strings.Contains(m.Text, "Look at one email") {
				w.Errorf("drawn: %s", m.Text)
			}
		}
	})
}
