package handlers

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// A panicked is a panic while something was done.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// caught makes an error of a panic in the function that defers it. In a goroutine
// of its own nobody else could catch it.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = &panicked{value: v, stack: debug.Stack()}
	}
}

// notePanic takes note of an error that is a panic, and of what follows from it.
func (h *Handlers) notePanic(err error, follows string) {
	var fault *panicked
	if errors.As(err, &fault) {
		h.cfg.Count("panics")
		h.cfg.Log.Error().Err(fault).Bytes("stack", fault.stack).Msg(follows)
	}
}

// beside does something that nobody waits for. A panic costs the word that was on
// its way, as a kill would.
func (h *Handlers) beside(do func()) {
	h.speaking.Go(func() {
		var err error
		defer func() { h.notePanic(err, "saying something panicked; it is left unsaid") }()
		defer caught(&err)
		do()
	})
}
