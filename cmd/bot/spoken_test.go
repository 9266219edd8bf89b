package main

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/simulator"
	"countersign/telegram"
)

// word has somebody say something: plainly, in reply to a card, or as a command.
func (w *scene) word(t *rapid.T) {
	w.steps++
	who := rapid.SampledFrom([]int64{annID, annID, olgaID, benID, samID}).Draw(t, "who")
	said := rapid.SampledFrom([]string{
		"approve", "Approve!", "yes", "Yes.", "yes", "reject", "reject wrong ones", "no, don't approve", "approve?", "ok", "👍",
		"approve it please", "/pending", "/help",
	}).Draw(t, "words")
	if len(w.said) > 0 && rapid.IntRange(0, 2).Draw(t, "reply") > 0 {
		m := rapid.SampledFrom(w.said).Draw(t, "to")
		if m.Chat.ID == who || m.Chat.ID == teamID {
			w.people[who].Reply(m, said)
			return
		}
	}
	if len(w.refs) > 0 && rapid.IntRange(0, 2).Draw(t, "command") == 0 {
		var refs []string
		for ref := range w.refs {
			refs = append(refs, ref)
		}
		slices.Sort(refs)
		said = rapid.SampledFrom([]string{"/approve ", "/reject ", "/approve@countersign_bot ", "/reject@other_bot "}).Draw(t, "verb") +
			rapid.SampledFrom(refs).Draw(t, "ref") + rapid.SampledFrom([]string{"", "", " but not the second"}).Draw(t, "rest")
	}
	chat := rapid.SampledFrom([]int64{who, who, teamID}).Draw(t, "chat")
	w.people[who].Send(chat, said)
}

// worded is what the model makes of a message that was handled.
func (w *scene) worded(t *rapid.T, m *telegram.Message) {
	by := m.From.ID
	if by != annID && by != olgaID {
		return
	}
	text := m.Text
	if strings.HasPrefix(text, "/") {
		w.commanded(by, m.Chat.ID, text)
		return
	}
	if m.ReplyTo != nil {
		if f := w.about(m.Chat.ID, int64(m.ReplyTo.MessageID)); f != nil {
			w.says(f, by, m.Chat.ID, text)
		}
		return
	}
	if m.Chat.Private() {
		w.plain(t, by, m)
	}
}

// about is the approval whose card a message is.
func (w *scene) about(chat, message int64) *fate {
	for _, b := range w.buttons {
		if b.chat == chat && b.message == message {
			return w.fates[b.id]
		}
	}
	return nil
}

// says is what words to one approval do, by the rules.
func (w *scene) says(f *fate, by, chat int64, text string) {
	now := w.clock.Now()
	switch text {
	case "approve", "Approve!":
		had := f.stepOpen(now)
		f.openStep(by, w.cardIn(f, chat), now)
		if s := f.stepOpen(now); s != nil && s.by == by && !f.votes[by] && f.live(now) {
			s.asked = true
			if had == nil {
				w.typedStep(f)
			}
		}
	case "yes", "Yes.":
		f.typedYes(by, now)
	case "reject", "reject wrong ones":
		f.reject(now)
	}
}

// typedStep has the model know where a typed step stands; its Yes counts on
// that card too.
func (w *scene) typedStep(f *fate) { f.step.rev = -1 }

// cardIn is the newest card of an approval in a chat, by the buttons shown.
func (w *scene) cardIn(f *fate, chat int64) string {
	for i := len(w.buttons) - 1; i >= 0; i-- {
		if b := w.buttons[i]; b.chat == chat && b.id == f.id {
			card, _, _ := strings.Cut(b.data[1:], ".")
			return card
		}
	}
	return ""
}

// commanded is what a command does. Words after a reference to approve make it
// decide nothing; after one to reject they are the reason.
func (w *scene) commanded(by, chat int64, text string) {
	verb, rest, _ := strings.Cut(text, " ")
	ref, more, _ := strings.Cut(rest, " ")
	f := w.fates[w.refs[ref]]
	if f == nil || chat == teamID && !slices.Contains(f.chats, teamID) {
		return
	}
	switch {
	case (verb == "/approve" || verb == "/approve@countersign_bot") && more == "":
		w.says(f, by, chat, "approve")
	case verb == "/reject":
		w.says(f, by, chat, "reject")
	}
}

// plain is a plain word in a direct chat. The model does not follow which
// approval stood alone above it: it takes over what happened, if that was
// allowed.
func (w *scene) plain(t *rapid.T, by int64, m *telegram.Message) {
	now := w.clock.Now()
	var open []*fate
	for _, id := range w.ids {
		f := w.fates[id]
		// What was past its deadline when the word was written was not open,
		// whether a sweep had come or not.
		written := time.Unix(m.Date, 0)
		if f.state == approval.Open && f.expires.After(written) && w.stands(f, m.Chat.ID, int64(m.ID)) {
			open = append(open, f)
		}
	}
	for _, id := range w.ids {
		f := w.fates[id]
		r, err := w.app.store.Read(w.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if r.Row == nil || f.state != approval.Open {
			continue
		}
		before := *f
		voted := len(r.Votes) > len(f.votes)
		stepped := r.Step.OpenAt(now, modelWindow) && (f.stepOpen(now) == nil || r.Step.By != f.stepOpen(now).by)
		asked := r.Step != nil && r.Step.Question != 0 && f.stepOpen(now) != nil && !f.step.asked
		if r.Row.State == approval.Open && !voted && !stepped && !asked {
			continue
		}
		if len(open) > 1 || len(open) == 1 && open[0] != f || now.Sub(time.Unix(m.Date, 0)) > modelWindow {
			t.Fatalf("%q in chat %d changed %s, which was not the only one open above it", m.Text, m.Chat.ID, id)
		}
		w.says(f, by, m.Chat.ID, m.Text)
		if f.state == before.state && len(f.votes) == len(before.votes) && f.step == before.step && !asked {
			t.Fatalf("%q by %d changed %s, which no rule allows", m.Text, by, id)
		}
	}
}

// stands reports whether a message of an approval stands above another.
func (w *scene) stands(f *fate, chat, above int64) bool {
	return slices.ContainsFunc(w.buttons, func(b button) bool { return b.id == f.id && b.chat == chat && b.message < above })
}

func (w *scene) message(chat, id int64) simulator.Message {
	m, ok := w.sim.Message(chat, id)
	if !ok {
		m.MessageID, m.Chat.ID = id, chat
	}
	return m
}
