package handlers

import "time"

// Understood is what a message says, in words.
type Understood struct {
	Says                      string // approve, reject, yes or nothing
	Reason, Command, Bot, Ref string
}

// Understand reads a message.
func Understand(text string, approving, rejecting []string) Understood {
	u := understand(text, approving, rejecting)
	return Understood{
		Says:   [...]string{"nothing", "approve", "reject", "yes"}[u.says],
		Reason: u.reason, Command: u.command, Bot: u.bot, Ref: u.ref,
	}
}

// Remembered counts what a process remembers of taps, updates and strangers.
func (h *Handlers) Remembered() (taps, updates, strangers int) {
	h.memory.mu.Lock()
	defer h.memory.mu.Unlock()
	m := h.memory
	return len(m.answered.young) + len(m.answered.old), len(m.done.young) + len(m.done.old), len(m.strange)
}

// TapMemory is how long answered taps are remembered at least.
const TapMemory time.Duration = tapMemory

// Patience is how long a tap may go without an answer.
const Patience time.Duration = patience

// Waiting is how many handle updates of a chat, or wait to.
func (h *Handlers) Waiting(chat int64) int {
	h.lanes.mu.Lock()
	defer h.lanes.mu.Unlock()
	if g := h.lanes.in[chat]; g != nil {
		return g.users
	}
	return 0
}

// KeptMost bounds how many readings are kept.
const KeptMost = keptMost

// Kept is how many are.
func (h *Handlers) Kept() int {
	h.kept.mu.Lock()
	defer h.kept.mu.Unlock()
	return len(h.kept.all)
}
