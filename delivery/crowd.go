package delivery

import "time"

// A crowd keeps one chat from taking all the room: beyond so many things under
// way there, approvals that want a new card stand in line, first come first
// served, and are not in hand meanwhile. Their marks on the feed are put off, so
// that a restart finds them too. What a policy let pass has half of the room and
// a line of its own, which moves only while nobody stands in the other one. The
// reconciler's mutex guards it.
type crowd struct {
	busy  int             // things under way
	line  []string        // approvals that want a new card
	later []string        // those that a policy let pass
	in    map[string]bool // who stands in either line
}

const (
	crowded   = 100
	lineCheck = 30 * time.Second // how long a mark is put off while in line
)

// crowd is that of a chat.
func (r *Reconciler) crowd(chat int64) *crowd {
	c, ok := r.crowds[chat]
	if !ok {
		c = &crowd{in: map[string]bool{}}
		r.crowds[chat] = c
	}
	return c
}

// full reports whether a need has to stand in line, and has it do so.
func (c *crowd) full(id string, n need) bool {
	line := &c.line
	switch {
	case n.class == NewCard && c.busy >= crowded:
	case n.class == Finished && (c.busy >= crowded/2 || c.busy > 0 && len(c.line) > 0):
		line = &c.later
	default:
		return false
	}
	if !c.in[id] {
		c.in[id] = true
		*line = append(*line, id)
	}
	return true
}

// leave ends something under way in a chat, and returns who is next in line, ""
// for nobody.
func (r *Reconciler) leave(chat int64) (next string) {
	c := r.crowd(chat)
	c.busy--
	switch {
	case len(c.line) > 0 && c.busy < crowded:
		next, c.line = c.line[0], c.line[1:]
	case len(c.line) == 0 && len(c.later) > 0 && c.busy < crowded/2:
		next, c.later = c.later[0], c.later[1:]
	}
	delete(c.in, next)
	if c.busy == 0 && len(c.line)+len(c.later) == 0 {
		delete(r.crowds, chat)
	}
	return next
}
